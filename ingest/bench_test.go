package ingest_test

import (
	"path/filepath"
	"testing"

	"github.com/tooleval/tooleval/ingest"
)

// BenchmarkTauBench reads 200 runs, 4.1 MB.
func BenchmarkTauBench(b *testing.B) {
	path := filepath.Join(tauBench(b), "airline", "gpt-4o-airline.json")
	b.SetBytes(4114038)
	for b.Loop() {
		n := 0
		for _, err := range ingest.Read(path, ingest.Options{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 200 {
			b.Fatal(n)
		}
	}
}
