package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/store"
)

func TestSetHeader(t *testing.T) {
	started := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	e, err := store.Create(t.TempDir(), tooleval.Eval{ID: "one", Suite: "s", Runs: 3, Started: started}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.SetHeader(tooleval.Eval{ID: "other", Suite: "s", Runs: 10}); err != nil {
		t.Fatal(err)
	}
	r, err := store.Open(e.Path())
	if err != nil {
		t.Fatal(err)
	}
	if h := r.Header(); h.ID != "one" || h.Runs != 10 || !h.Started.Equal(started) {
		t.Errorf("got %+v", h)
	}
	left, err := filepath.Glob(filepath.Join(e.Path(), ".*.new"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := os.RemoveAll(e.Path()); err != nil {
		t.Fatal(err)
	}
	if err := e.SetHeader(tooleval.Eval{}); err == nil {
		t.Error("a header in a folder that is gone was written")
	}
}
