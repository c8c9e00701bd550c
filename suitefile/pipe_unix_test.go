//go:build unix

package suitefile_test

import "syscall"

func init() { makePipe = func(path string) error { return syscall.Mkfifo(path, 0o644) } }
