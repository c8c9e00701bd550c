package cli_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tooleval/tooleval/cli"
	"github.com/tooleval/tooleval/suites"
)

// BenchmarkStart is the whole process from its start to the first printed line of the result of calc --runs 1. Target:
// under 30 ms.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "tooleval")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/tooleval/tooleval/cmd/tooleval").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	results := b.TempDir()
	for b.Loop() {
		cmd := exec.Command(binary, "run", "--suite", "calc", "--runs", "1", "--results", results)
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkDurableRuns is one eval of 10,000 runs, each a synced file, beside bare synced writes of the same bytes with
// the same number of writers. x-bare is how many times as long the eval takes.
func BenchmarkDurableRuns(b *testing.B) {
	const runs = 10_000
	var eval, bare time.Duration
	for b.Loop() {
		results := b.TempDir()
		var out, errs bytes.Buffer
		app := cli.App{Suites: suites.All, Stdout: &out, Stderr: &errs, Args: []string{
			"run", "--suite", "calc", "--task", "calc.arithmetic", "--runs", strconv.Itoa(runs), "--results", results}}
		start := time.Now()
		if code := app.Run(b.Context()); code != 0 {
			b.Fatal(errs.String())
		}
		eval += time.Since(start)

		files, err := filepath.Glob(filepath.Join(results, "*", "runs", "*.json"))
		if err != nil || len(files) != runs {
			b.Fatalf("%d files, %v", len(files), err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			b.Fatal(err)
		}
		dir := b.TempDir()
		start = time.Now()
		writeAll(b, dir, data, runs)
		bare += time.Since(start)
	}
	b.ReportMetric(eval.Seconds()/float64(b.N), "s/eval")
	b.ReportMetric(bare.Seconds()/float64(b.N), "s/bare")
	b.ReportMetric(float64(eval)/float64(bare), "x-bare")
}

// writeAll writes and syncs n files of the same bytes with 16 writers.
func writeAll(b *testing.B, dir string, data []byte, n int) {
	jobs := make(chan int)
	done := make(chan error)
	for range 16 {
		go func() {
			var first error
			for i := range jobs {
				f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
				if err == nil {
					_, err = f.Write(data)
				}
				if err == nil {
					err = f.Sync()
				}
				if f != nil {
					f.Close()
				}
				if first == nil {
					first = err
				}
			}
			done <- first
		}()
	}
	for i := range n {
		jobs <- i
	}
	close(jobs)
	for range 16 {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}
