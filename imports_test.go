package tooleval_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/tooleval/tooleval"

// mayImport says which of our own packages each package may import, all paths relative to the module. "." is the root; a
// path that ends in /... stands for everything below it. It is the proof that the core holds no domain logic: nothing
// but cmd/tooleval knows a suite, and the engine knows no concrete agent.
var mayImport = map[string][]string{
	".":             {},
	"stats":         {},
	"taxonomy":      {"."},
	"agents":        {"."},
	"agents/...":    {".", "agents", "agents/..."},
	"worlds":        {"."},
	"worlds/...":    {".", "worlds"},
	"store":         {"."},
	"baselines":     {"."},
	"ingest":        {"."},
	"scorers":       {".", "taxonomy"},
	"scorers/judge": {".", "scorers"},
	"suites":        {".", "suites/..."},
	"suites/...":    {".", "worlds", "worlds/...", "scorers", "scorers/...", "agents"},
	"suitefile":     {".", "worlds", "worlds/...", "scorers", "scorers/...", "agents"},
	"suitetest":     {".", "engine"},
	"check":         {".", "engine", "baselines", "scorers", "worlds", "taxonomy"},
	"engine":        {".", "worlds", "scorers", "taxonomy", "baselines"},
	"compare":       {".", "stats"},
	"report":        {".", "stats", "taxonomy", "compare"},
	"agenttest":     {".", "agents"},
	"cli":           {".", "stats", "taxonomy", "agents", "agents/...", "agenttest", "worlds", "worlds/...", "store", "baselines", "ingest", "scorers", "scorers/...", "engine", "report", "compare", "suitefile", "check"},
	"cmd/tooleval":  {"cli", "suites", "examples/airline"},
	"examples/...":  {".", "agents", "cli", "suites", "worlds", "worlds/...", "scorers"},
	"internal/...":  {"."},
}

// TestImports holds the table of imports. Packages under internal may be used by everybody.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		seen++
		from := relative(p.ImportPath)
		allowed, known := rule(from)
		if !known {
			t.Errorf("%s has no row in the table of imports: add one", from)
			continue
		}
		for _, path := range p.Imports {
			if path != module && !strings.HasPrefix(path, module+"/") {
				continue
			}
			to := relative(path)
			if strings.HasPrefix(to, "internal/") {
				continue
			}
			if !slices.ContainsFunc(allowed, func(pattern string) bool { return matches(pattern, to) }) {
				t.Errorf("%s imports %s, which the table of imports does not allow", from, to)
			}
		}
	}
	if seen < 5 {
		t.Fatalf("go list named %d packages; the table was not tested", seen)
	}
}

// TestRootStaysSmall keeps the vocabulary free of I/O and of everything but the standard library and golang.org/x/text,
// which folds names (see docs/adr/0005-root-uses-x-text.md).
func TestRootStaysSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=Imports", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var p struct{ Imports []string }
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	for _, path := range p.Imports {
		first, _, _ := strings.Cut(path, "/")
		if strings.Contains(first, ".") && !strings.HasPrefix(path, "golang.org/x/text/") {
			t.Errorf("the root package imports %s", path)
		}
		if slices.Contains([]string{"os", "net", "net/http", "os/exec", "syscall", "log"}, path) {
			t.Errorf("the root package imports %s, which does I/O", path)
		}
	}
}

// rule is the row for a package: the exact one, or the longest pattern that fits.
func rule(path string) (allowed []string, known bool) {
	best := ""
	for pattern, list := range mayImport {
		if pattern == path {
			return list, true
		}
		if matches(pattern, path) && len(pattern) > len(best) {
			best, allowed, known = pattern, list, true
		}
	}
	return allowed, known
}

func matches(pattern, path string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(path, below+"/")
	}
	return pattern == path
}

func relative(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}
