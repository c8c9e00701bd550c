package agents

import (
	"os"
	"strings"
	"testing"

	"github.com/tooleval/tooleval/internal/wire"
)

// TestProtocolPageExample: the example of docs/protocol.md is made of messages that this package reads without a
// warning.
func TestProtocolPageExample(t *testing.T) {
	page, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, ok := strings.Cut(string(page), "\n## Example\n")
	if !ok {
		t.Fatal("the page has no example")
	}
	seen := map[string]int{}
	asked := map[string]string{}
	for _, line := range strings.Split(strings.ReplaceAll(example, "\n   ", ""), "\n") {
		from, text, ok := strings.Cut(line, " ")
		if !ok || from != "→" && from != "←" {
			continue
		}
		m, err := wire.Parse([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		method := m.Method
		if m.IsRequest() {
			asked[from+string(m.ID)] = m.Method
		} else if m.IsResponse() {
			method = "answer to " + asked[map[string]string{"→": "←", "←": "→"}[from]+string(m.ID)]
		}
		seen[method]++
		var problem error
		var warnings []string
		switch {
		case method == methodCall:
			_, problem = parseCall(m.Params)
		case method == "answer to initialize":
			var init initializeResult
			if init, problem = parseInitialize(m.Result); problem == nil {
				problem = init.serves("shop.total")
			}
		case method == "answer to run" && m.Error == nil:
			_, warnings, problem = ParseResult(m.Result)
		case method == "answer to run" && ownerIn(m.Error) != "infra":
			t.Errorf("%s: owner %q", text, ownerIn(m.Error))
		}
		if problem != nil || len(warnings) > 0 {
			t.Errorf("%s: %v %v", text, problem, warnings)
		}
	}
	for method, times := range map[string]int{"initialize": 1, "run": 1, "tools/call": 2, "answer to tools/call": 2,
		"answer to run": 2, "shutdown": 1} {
		if seen[method] != times {
			t.Errorf("%s: %d times, want %d", method, seen[method], times)
		}
	}
}

// FuzzResults: no answer of an agent breaks the harness, and what is read is read back from the record.
func FuzzResults(f *testing.F) {
	f.Add([]byte(`{"response":"a","state":{"$text":"x"},"usage":{"turns":1}}`))
	f.Add([]byte("{\"response\":{\"$bytes\":\"/w==\"},\"state\":\"\xff\"}"))
	f.Add([]byte(`{"id":"\ud800","tool":"t","args":{"$text":"{"}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, err := wire.Parse(append(append([]byte(`{"jsonrpc":"2.0","id":1,"result":`), in...), '}'))
		if err != nil || !m.IsResponse() || m.Error != nil {
			return
		}
		if r, _, err := ParseResult(m.Result); err == nil {
			again, _, err := ParseResult(wire.Marshal(r))
			if err != nil || again.Response != r.Response {
				t.Errorf("%q became %q: %v", r.Response, again.Response, err)
			}
		}
		if call, err := parseCall(m.Result); err == nil {
			again, err := parseCall(appendCall(call))
			if err != nil || again.ID != call.ID || again.Tool != call.Tool || string(again.Args) != string(call.Args) {
				t.Errorf("%q became %q: %v", call, again, err)
			}
		}
		_, _ = parseInitialize(m.Result)
	})
}
