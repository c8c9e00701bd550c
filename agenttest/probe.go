package agenttest

import (
	"encoding/json"
	"fmt"

	"github.com/tooleval/tooleval"
)

// ProbeTask is the id of the tasks that the checks give. An agent that wants every check exercised can treat it apart:
// make the calls in the input's list as they are, all at once when parallel is true, and answer with the last text.
const ProbeTask = "agenttest.probe"

// ProbeTool is the name of their only tool.
const ProbeTool = "probe"

// bigNumber loses digits in everything that passes through a float64.
const bigNumber = "12345678901234567891"

// Probe is such a task, as an agent gets it. The description asks a model for the same in words.
func Probe(entryPoint string, calls int, parallel bool) tooleval.Assignment {
	type call struct {
		Tool string       `json:"tool"`
		Args tooleval.Raw `json:"args"`
	}
	input := struct {
		Calls    []call `json:"calls"`
		Parallel bool   `json:"parallel"`
	}{Calls: []call{}, Parallel: parallel}
	for i := range calls {
		input.Calls = append(input.Calls, call{ProbeTool, tooleval.Raw(fmt.Sprintf(`{"i":%d,"n":%s}`, i, bigNumber))})
	}
	b, err := json.Marshal(input)
	if err != nil {
		panic(err) // the input is ours
	}
	order := "one after the other"
	if parallel {
		order = "all at once, in parallel"
	}
	return tooleval.Assignment{
		TaskID: ProbeTask,
		Description: fmt.Sprintf("This tests the connection to the tools and nothing else. The input has a list of "+
			"calls. Make each of them once, %s: call the tool %q with exactly the given arguments. Then answer with "+
			"the text of the last result. When a call returns an error, go on with the next one.", order, ProbeTool),
		EntryPoint: entryPoint,
		Input:      b,
		Tools: []tooleval.Tool{{Name: ProbeTool, Description: "Tests the connection. Returns a text.",
			Schema: tooleval.Raw(`{"type":"object","required":["i","n"],` +
				`"properties":{"i":{"type":"integer"},"n":{"type":"integer"}}}`)}},
	}
}
