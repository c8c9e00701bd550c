//go:build !unix

package process

// alive reports whether there is a process of this number; in doubt there is.
func alive(int) bool { return true }
