package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/wire"
)

// ProtocolVersion is the version of docs/protocol.md that this package speaks.
const ProtocolVersion = 1

// The methods of the protocol.
const (
	methodInitialize = "initialize"
	methodRun        = "run"
	methodCall       = "tools/call"
	methodCancel     = "cancel"
	methodShutdown   = "shutdown"
)

// initializeParams is what the harness says first.
type initializeParams struct {
	ProtocolVersion int    `json:"protocol_version"`
	Harness         peerID `json:"harness"`
}

type peerID struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

// initializeResult is the agent's answer.
type initializeResult struct {
	ProtocolVersion *int          `json:"protocol_version"`
	Name            tooleval.Text `json:"name"`
	Version         tooleval.Text `json:"version,omitempty"`
	// EntryPoints is nil when the agent serves any.
	EntryPoints *[]string `json:"entry_points,omitempty"`
	SingleRun   bool      `json:"single_run,omitempty"`
}

func parseInitialize(raw json.RawMessage) (initializeResult, error) {
	var r initializeResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("its answer to initialize is malformed: %w", err)
	}
	switch {
	case r.ProtocolVersion == nil:
		return r, fmt.Errorf("its answer to initialize has no protocol_version: %s", clip(string(raw)))
	case *r.ProtocolVersion != ProtocolVersion:
		return r, fmt.Errorf("it speaks protocol version %d, and this harness speaks %d",
			*r.ProtocolVersion, ProtocolVersion)
	}
	return r, nil
}

// serves says what is wrong when the agent does not serve an entry point.
func (r *initializeResult) serves(entry string) error {
	if r.EntryPoints == nil || slices.Contains(*r.EntryPoints, entry) {
		return nil
	}
	list := "none"
	if len(*r.EntryPoints) > 0 {
		list = strings.Join(*r.EntryPoints, ", ")
	}
	return fmt.Errorf("it lacks entry point %q%s; it serves: %s", entry, tooleval.DidYouMean(entry, *r.EntryPoints), list)
}

// callParams is a tools/call. Tool and id are Texts so that odd bytes in them reach the record.
type callParams struct {
	ID   tooleval.Text  `json:"id"`
	Tool *tooleval.Text `json:"tool"`
	Args tooleval.Raw   `json:"args"`
}

func parseCall(raw json.RawMessage) (tooleval.ToolCall, error) {
	var p callParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return tooleval.ToolCall{}, fmt.Errorf("malformed tools/call: %w", err)
	}
	if p.Tool == nil {
		return tooleval.ToolCall{}, fmt.Errorf(`malformed tools/call: there is no "tool"`)
	}
	return tooleval.ToolCall{ID: string(p.ID), Tool: string(*p.Tool), Args: p.Args}, nil
}

// appendCall builds the params of a tools/call by hand, since an encoder would respell the arguments.
func appendCall(call tooleval.ToolCall) json.RawMessage {
	out := []byte(`{`)
	if call.ID != "" {
		out = append(append(append(out, `"id":`...), wire.Marshal(tooleval.Text(call.ID))...), ',')
	}
	out = append(append(out, `"tool":`...), wire.Marshal(tooleval.Text(call.Tool))...)
	if call.Args != nil {
		args, err := call.Args.MarshalJSON()
		if err != nil {
			args = []byte("null") // bytes always have an encoding
		}
		out = append(append(out, `,"args":`...), args...)
	}
	return append(out, '}')
}

// resultFields are the members of an AgentResult.
var resultFields = []string{"response", "state", "usage", "evidence", "warnings"}

// ParseResult reads an agent's result as docs/protocol.md has it, with warnings about it. Unknown members are no error,
// since a later version may have more of them, but are told: a misspelt "response" would otherwise be an agent that said
// nothing.
func ParseResult(raw json.RawMessage) (tooleval.AgentResult, []string, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return tooleval.AgentResult{}, nil, fmt.Errorf("its result is not an object: %s", clip(string(raw)))
	}
	var r tooleval.AgentResult
	if err := json.Unmarshal(raw, &r); err != nil {
		return tooleval.AgentResult{}, nil, fmt.Errorf("its result is malformed: %w", err)
	}
	var unknown []string
	for name := range members {
		if !slices.Contains(resultFields, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	var warnings []string
	for i, name := range unknown {
		if i == 5 {
			warnings = append(warnings, fmt.Sprintf("the result has %d more unknown members", len(unknown)-i))
			break
		}
		warnings = append(warnings, fmt.Sprintf("the result has an unknown member %q%s", clip(name),
			tooleval.DidYouMean(name, resultFields)))
	}
	return r, warnings, nil
}

// errorData is the data member of a run's or a call's error.
type errorData struct {
	Owner tooleval.Owner `json:"owner,omitempty"`
}

func ownerIn(e *wire.Error) tooleval.Owner {
	var d errorData
	if len(e.Data) == 0 || json.Unmarshal(e.Data, &d) != nil {
		return ""
	}
	return d.Owner
}

// clip shortens text from outside for an error message.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
