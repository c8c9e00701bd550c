package suitefile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tooleval/tooleval/suitefile"
)

// thousand is a suite of n tasks, each with calls, patterns, a fixture and a script of its own.
func thousand(n int) string {
	var b strings.Builder
	b.WriteString(`name: big
tools:
  - name: look_up
    description: Returns the call of a bird.
    input_schema:
      type: object
      properties: {bird: {type: string}, loud: {type: boolean, default: false}}
      required: [bird]
      additionalProperties: false
  - name: save
world:
  mock:
    fixtures:
      - {tool: save, text: saved, keep: saved}
`)
	for i := range n {
		fmt.Fprintf(&b, "      - tool: look_up\n        args: {bird: {$contains: bird %d, ignore_case: true}}\n        result: {call: fraank %d}\n", i, i)
	}
	b.WriteString("tasks:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - id: big.bird-%d
    description: 'What is the call of bird %d? Look it up, and save {"call": "<the call>"}.'
    input: {bird: bird %d, options: {depth: 3, list: [1, 2, 3]}}
    toolset: [look_up, save]
    required:
      - {tool: look_up, args: {bird: {$contains: bird %d}}}
      - {tool: save, args: {$subset: {call: fraank %d}}}
    order: as_written
    minimal_necessary_calls: 2
    expected_state: {saved: [{$subset: {call: {$regex: 'fraank [0-9]+'}}}]}
    tags: [easy, birds]
    scripted:
      calls:
        - {tool: look_up, args: {bird: bird %d}}
        - {tool: save, args: {call: fraank %d}}
      response: fraank %d
`, i, i, i, i, i, i, i, i)
	}
	return b.String()
}

func TestThousandTasks(t *testing.T) {
	if s := load(t, thousand(1000)); len(s.Tasks) != 1000 {
		t.Errorf("got %d tasks", len(s.Tasks))
	}
}

// BenchmarkLoad1000 reads and validates a suite of 1,000 tasks and as many fixtures.
func BenchmarkLoad1000(b *testing.B) {
	dir := folder(b, thousand(1000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := suitefile.Load(dir, suitefile.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
