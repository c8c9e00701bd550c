package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agenttest"
)

// A client is one of the clients for agents in other languages, seen from the module's folder.
type client struct {
	program, example, probe string
	built                   string // a file that a script makes; empty when none is needed
	tests                   []string
}

var clients = map[string]client{
	"python": {
		program: "python3", example: "examples/pythonagent/agent.py", probe: "clients/python/tests/probe.py",
		tests: []string{"-m", "unittest", "discover", "-s", "clients/python/tests"},
	},
	"typescript": {
		program: "node", example: "examples/typescriptagent/agent.js", probe: "clients/typescript/test/probe.mjs",
		built: "examples/typescriptagent/agent.js",
		tests: []string{"--test", "clients/typescript/test/client.test.mjs"},
	},
}

// command is how a file of the client's language is started.
func (c client) command(file string) []string { return []string{c.program, file} }

// eachClient calls f in the module's folder for every client that can be run here.
func eachClient(t *testing.T, f func(t *testing.T, c client)) {
	for name, c := range clients {
		t.Run(name, func(t *testing.T) {
			t.Chdir("..")
			if _, err := exec.LookPath(c.program); err != nil {
				t.Skipf("needs %s: %v", c.program, err)
			}
			if c.built != "" {
				if _, err := os.Stat(c.built); err != nil {
					t.Skipf("needs the built client, which scripts/build-ts-client.sh makes: %v", err)
				}
			}
			f(t, c)
		})
	}
}

// TestClientsOnCalc: the examples, from paths relative to the harness, score as the suite's own scripted mind does.
func TestClientsOnCalc(t *testing.T) {
	eachClient(t, func(t *testing.T, c client) { solvesCalc(t, "cmd:"+strings.Join(c.command(c.example), " ")) })
	t.Run("go", func(t *testing.T) {
		agent := filepath.Join(t.TempDir(), "goagent")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", agent, "../examples/goagent").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		solvesCalc(t, "cmd:"+agent)
	})
}

func solvesCalc(t *testing.T, agent string) {
	t.Helper()
	results := t.TempDir()
	exit, _, stderr := call(t, nil, "run", "--suite", "calc", "--agent", agent, "--runs", "3", "--results", results)
	if exit != 0 {
		t.Fatalf("exit %d: %s", exit, stderr)
	}
	calls := map[string]int{}
	for _, run := range stored(t, results) {
		outcome, process := run.Score.Outcome.Score, run.Score.Process.Score
		if !reflect.DeepEqual(outcome, tooleval.Scored(1)) || !reflect.DeepEqual(process, tooleval.Scored(1)) || run.Error != "" {
			t.Errorf("%s: outcome %v, process %v, error %q", run.TaskID, outcome, process, run.Error)
		}
		calls[run.TaskID] += len(run.Trajectory.Calls)
	}
	if len(calls) != 2 || calls["calc.arithmetic"] != 3 || calls["calc.convert"] != 3 {
		t.Errorf("recorded calls: %v", calls)
	}
}

// TestClientsConform holds both clients to every promise of the protocol that an agent for any entry point can keep.
func TestClientsConform(t *testing.T) {
	eachClient(t, func(t *testing.T, c client) {
		for _, file := range []string{c.probe, c.example} {
			path, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			report := agenttest.Check(t.Context(), c.command(path), agenttest.Options{})
			if err := report.Err(); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			for _, f := range report.Findings {
				if file == c.probe && f.Status != agenttest.Passed && f.Name != "unknown_entry_point" {
					t.Errorf("%s: %s: %s %s", file, f.Name, f.Status, f.Note)
				}
			}
		}
	})
}

// TestClientsOwnTests runs what the clients' folders have.
func TestClientsOwnTests(t *testing.T) {
	if testing.Short() {
		t.Skip("they test no Go")
	}
	eachClient(t, func(t *testing.T, c client) {
		if out, err := exec.CommandContext(t.Context(), c.program, c.tests...).CombinedOutput(); err != nil {
			t.Errorf("%s %s: %v\n%s", c.program, strings.Join(c.tests, " "), err, out)
		}
	})
}

// TestBringYourOwnAgent: the page shows the examples as they are run above.
func TestBringYourOwnAgent(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/bring-your-own-agent.md")
	if err != nil {
		t.Fatal(err)
	}
	for file, from := range map[string]string{
		"../examples/pythonagent/agent.py":     "def run(",
		"../examples/typescriptagent/agent.ts": "async function arithmetic(",
		"../examples/goagent/main.go":          "func main() {",
	} {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(code), from)
		if !found || !strings.Contains(string(page), from+rest) {
			t.Errorf("%s: its code from %q on is not on the page", file, from)
		}
	}
}
