package store

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var hostileIDs = []string{"calc.add", "a/b", "a:b", `a\b`, "..", ".", "", "CON", "con", "Con.txt", "con.txt", "com1",
	"LPT9.x",
	"nul", "trailing.", ".leading", "trailing ", " leading", "-flag", "emoji 🙈", "new\nline", "tab\t", "nul\x00byte",
	"\xff", "\xfe",
	"Case", "case", "CASE", "cAse", "%", "%2f", "/", "+a", "A", "a~b", "~", "é", "e\u0301", "K", "k", "\u212a",
	strings.Repeat("x", 10_000), strings.Repeat("x", 10_001), strings.Repeat("X", 10_000), strings.Repeat("/", 100),
	strings.Repeat("a", 99) + "/", strings.Repeat("a", 100), strings.Repeat("a", 101), strings.Repeat("🙈", 60),
	"$(rm -rf)", "a b", "*?<>|\""}

func TestL04FileNames(t *testing.T) {
	seen := map[string]string{}
	dir := t.TempDir()
	for _, id := range hostileIDs {
		name := FileName(id)
		checkName(t, id, name)
		if other, taken := seen[strings.ToLower(name)]; taken {
			t.Errorf("FileName(%.40q) and FileName(%.40q) are both %q", id, other, name)
		}
		seen[strings.ToLower(name)] = id
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Error(err)
		}
	}
	for id, want := range map[string]string{"calc.add": "calc.add", "Job.Extract": "+job.+extract", "a/b": "a%2fb",
		"..":  "%2e%2e",
		"con": "%63on", "CON": "+c+o+n", "": "%", "x.": "x%2e"} {
		if got := FileName(id); got != want {
			t.Errorf("FileName(%q) = %q, want %q", id, got, want)
		}
	}
}

func FuzzFileName(f *testing.F) {
	for i, id := range hostileIDs {
		f.Add(id, hostileIDs[(i+1)%len(hostileIDs)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := FileName(a), FileName(b)
		checkName(t, a, x)
		if a != b && strings.EqualFold(x, y) {
			t.Errorf("FileName(%q) and FileName(%q) are both %q", a, b, x)
		}
		// Reading the name back proves that names that were not cut are all different.
		if !strings.Contains(x, "%~") {
			if back := idOf(t, x); back != a {
				t.Errorf("%q comes from %q, not from %q", x, a, back)
			}
		}
		if z := fileName(a, 40); len(z) > 40 {
			t.Errorf("fileName(%q, 40) has %d bytes", a, len(z))
		}
	})
}

func checkName(t *testing.T, id, name string) {
	t.Helper()
	switch {
	case name == "" || len(name) > 100:
		t.Errorf("FileName(%.40q) has %d bytes", id, len(name))
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.+%~") != "":
		t.Errorf("FileName(%.40q) = %q has other characters", id, name)
	case strings.HasPrefix(name, "."), strings.HasPrefix(name, "-"), strings.HasSuffix(name, "."), isDevice(name):
		t.Errorf("FileName(%.40q) = %q is not safe", id, name)
	}
}

func idOf(t *testing.T, name string) string {
	t.Helper()
	if name == "%" {
		return ""
	}
	var id []byte
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '+':
			i++
			id = append(id, name[i]&^0x20)
		case '%':
			b, err := hex.DecodeString(name[i+1 : i+3])
			if err != nil {
				t.Fatal(err)
			}
			id = append(id, b[0])
			i += 2
		default:
			id = append(id, name[i])
		}
	}
	return string(id)
}

func TestL04RunsOfAnyTask(t *testing.T) {
	h := header(hostileIDs...)
	h.Minds = []string{strings.Repeat("real/", 100), "scripted"}
	e := create(t, h, Options{})
	var want int
	for _, id := range hostileIDs {
		run := sampleRun(id, 0)
		run.Mind = h.Minds[want%2]
		run.Baseline = strings.Repeat("do-nothing ", want%2*50)
		if name := filepath.Base(put(t, e, run)); len(name) > 255 {
			t.Errorf("%q has %d bytes", name, len(name))
		}
		want++
	}
	r := mustOpen(t, e.Path())
	runs, bad := collect(r.Runs())
	baselines, worse := collect(r.Baselines())
	if len(runs)+len(baselines) != want || bad != nil || worse != nil {
		t.Errorf("%d + %d runs of %d, %v %v", len(runs), len(baselines), want, bad, worse)
	}
}
