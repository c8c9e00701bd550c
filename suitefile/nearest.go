package suitefile

import (
	"path"
	"path/filepath"

	"github.com/tooleval/tooleval"
)

// nearest names the file that a misspelt path most likely means; nothing when none is near.
func (f *folder) nearest(name string) string {
	dir := path.Dir(name)
	d, err := f.root.Open(filepath.FromSlash(dir))
	if err != nil {
		return ""
	}
	defer d.Close()
	const most = 1000
	names, err := d.Readdirnames(most)
	if err != nil {
		return ""
	}
	for i := range names {
		names[i] = path.Join(dir, names[i])
	}
	return tooleval.DidYouMean(name, names)
}
