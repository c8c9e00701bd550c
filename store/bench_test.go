package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// writers runs f n times on 16 goroutines and returns how long that took.
func writers(n int, f func(i int)) time.Duration {
	var next atomic.Int64
	var wg sync.WaitGroup
	begin := time.Now()
	for range 16 {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				f(int(i))
			}
		})
	}
	wg.Wait()
	return time.Since(begin)
}

// BenchmarkPut stores runs durably from 16 goroutines, beside bare synced writes of the same bytes to new files, in
// turns so that both meet the same disk. x-bare is how many times as long a Put takes.
func BenchmarkPut(b *testing.B) {
	e := create(b, header("calc.add"), Options{})
	run := sampleRun("calc.add", 0)
	data := encodeRun(nil, run, nil)
	bare := b.TempDir()
	var put, plain time.Duration
	const turn = 500
	for done := 0; done < b.N; done += turn {
		n := min(turn, b.N-done)
		put += writers(n, func(i int) {
			run := *run
			run.Index = done + i
			if _, err := e.Put(&run); err != nil {
				b.Error(err)
			}
		})
		plain += writers(n, func(i int) {
			f, err := os.OpenFile(filepath.Join(bare, fmt.Sprint(done+i)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err == nil {
				f.Write(data)
				err = f.Sync()
				f.Close()
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	b.ReportMetric(float64(put.Nanoseconds())/float64(b.N), "put-ns/op")
	b.ReportMetric(float64(plain.Nanoseconds())/float64(b.N), "bare-ns/op")
	b.ReportMetric(float64(put)/float64(plain), "x-bare")
	b.SetBytes(int64(len(data)))
}

func BenchmarkEncode(b *testing.B) {
	run := sampleRun("calc.add", 0)
	var secrets []Secret
	for i := range 10 {
		secrets = append(secrets, Secret{fmt.Sprint("KEY", i), fmt.Sprintf("sk-%d-a1b2/c3d4+e5f6", i)})
	}
	for name, red := range map[string]*Redactor{"plain": nil, "10secrets": NewRedactor(secrets)} {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			for b.Loop() {
				buf = encodeRun(buf[:0], run, red)
			}
			b.SetBytes(int64(len(buf)))
		})
	}
	b.Run("encoding-json", func(b *testing.B) { // what it is instead of
		for b.Loop() {
			var compact, out bytes.Buffer
			enc := json.NewEncoder(&compact)
			enc.SetEscapeHTML(false)
			enc.Encode(run)
			json.Indent(&out, compact.Bytes(), "", "  ")
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	data := encodeRun(nil, sampleRun("calc.add", 0), nil)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := decodeRun(data); err != nil {
			b.Fatal(err)
		}
	}
}
