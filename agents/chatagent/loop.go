package chatagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/answer"
	"github.com/tooleval/tooleval/internal/openaichat"
)

const (
	maxParallel = 16      // calls of one turn that are made at once
	maxCalls    = 1000    // calls of one turn that are made at all
	maxResult   = 1 << 20 // bytes of a tool's result that the model is shown
)

// A conversation with a model.
type conversation interface {
	// ask sends it and takes the reply in. The turn is of use also with an error.
	ask(ctx context.Context) (turn, error)
	// answer adds the results of the last turn's calls, in their order.
	answer(results []result)
}

// A turn is one reply of the model.
type turn struct {
	text  string
	calls []call
	stop  stop
	used  *used // nil when there was no reply
}

// A stop says why a turn ended, where that is not its last call or word.
type stop int

const (
	ended    stop = iota
	paused        // the model wants to go on
	cut           // at the limit of tokens
	refused       // by the model, or by its vendor's filter
	overflow      // of the context window
)

type call struct {
	id, tool string
	args     tooleval.Raw
}

// A result is what the model is told about a call.
type result struct {
	id, text string
	isError  bool
}

// Run works on the assignment until the model gives an answer without a call.
//
// An error is blamed on infra when the model's server failed or could not be reached, on the user when it is the
// settings (the key, the model's name, a parameter that the server does not take), and on the agent when the model's
// reply was cut off, the conversation outgrew its context window, or the turns were used up. The result has what there
// was until then, the usage above all. An error of a tool call is passed on. A refusal is an answer, with a warning.
func (a *Agent) Run(ctx context.Context, as tooleval.Assignment, tools tooleval.ToolHandler) (tooleval.AgentResult, error) {
	if a.missing != nil {
		return tooleval.AgentResult{}, a.missing
	}
	n := newNames(as.Tools)
	c, err := a.open(as, n)
	if err != nil {
		return tooleval.AgentResult{}, err
	}
	r := run{agent: a, tools: tools, names: n, parts: map[string]bool{}}
	err = r.loop(ctx, c)
	r.result.Usage = r.usage.total(a.prices, a.settings.Model)
	return r.result, err
}

// A run is one run in progress.
type run struct {
	agent  *Agent
	tools  tooleval.ToolHandler
	names  *names
	usage  usage
	result tooleval.AgentResult
	parts  map[string]bool // the warnings that were given
}

func (r *run) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !r.parts[text] {
		r.parts[text] = true
		r.result.Warnings = append(r.result.Warnings, tooleval.Text(text))
	}
}

func (r *run) loop(ctx context.Context, c conversation) error {
	said := "" // before a pause
	for range r.agent.settings.MaxTurns {
		t, err := c.ask(ctx)
		if t.used != nil {
			r.usage.add(*t.used)
		}
		if err != nil {
			if ctx.Err() != nil && !errors.Is(err, openaichat.RateLimited) && !errors.Is(err, openaichat.Overloaded) {
				return context.Cause(ctx) // time that was spent waiting out a limit stays the provider's
			}
			return err
		}
		said += t.text
		r.result.Response = tooleval.Text(said)
		switch t.stop {
		case cut:
			limit := "the server's limit"
			if n := r.agent.settings.MaxTokens; n > 0 {
				limit = fmt.Sprintf("%d", n)
			}
			return tooleval.Blamef(tooleval.OwnerAgent,
				"the model's reply was cut off at %s of output tokens; option max_tokens sets another limit", limit)
		case overflow:
			return tooFull("")
		case refused:
			r.warn("the model, or its vendor's filter, refused to go on")
			return nil
		case paused:
			if len(t.calls) == 0 {
				continue
			}
		}
		if len(t.calls) == 0 {
			r.result.State, _ = answer.JSONObject(said)
			return nil
		}
		said = ""
		results, err := r.serve(ctx, t.calls)
		if err != nil {
			return err
		}
		c.answer(results)
	}
	return tooleval.Blamef(tooleval.OwnerAgent,
		"the model gave no answer in %d turns; option max_turns sets another limit", r.agent.settings.MaxTurns)
}

// tooFull is the error of a conversation that outgrew the model.
func tooFull(said string) error {
	if said != "" {
		said = ": " + said
	}
	return tooleval.Blamef(tooleval.OwnerAgent, "the conversation no longer fits into the model's context window%s", said)
}

// serve makes the calls of one turn at the same time and returns their results in the order of the calls. An error is
// the harness's or the world's.
func (r *run) serve(ctx context.Context, calls []call) ([]result, error) {
	results, errs := make([]result, len(calls)), make([]error, len(calls))
	slots := make(chan struct{}, maxParallel)
	var wg sync.WaitGroup
	for i, c := range calls {
		results[i].id = c.id
		if i >= maxCalls {
			results[i].text, results[i].isError = fmt.Sprintf("more than %d calls in one turn; this one was not made", maxCalls), true
			r.warn("calls after the first %d of a turn were not made", maxCalls)
			continue
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			results[i], errs[i] = r.call(ctx, c)
		})
	}
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", calls[i].tool, err)
		}
	}
	for i := range results {
		if n := len(results[i].text); n > maxResult {
			results[i].text = valid(results[i].text[:maxResult]) + fmt.Sprintf("\n(%d more bytes are left out)", n-maxResult)
			r.warn("the model was shown the first %d bytes of a result of %d", maxResult, n)
		}
	}
	return results, nil
}

func (r *run) call(ctx context.Context, c call) (out result, err error) {
	defer func() { // a panic of the tools is no reason to end the harness
		if v := recover(); v != nil {
			err = tooleval.Blamef(tooleval.OwnerHarness, "a panic: %v\n%s", v, debug.Stack())
		}
	}()
	answered, err := r.tools.CallTool(ctx, tooleval.ToolCall{ID: c.id, Tool: r.names.real(c.tool), Args: c.args})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return result{}, err
	}
	text := string(answered.Text)
	if text == "" {
		text = string(answered.Structured)
	}
	if text = valid(text); strings.TrimSpace(text) == "" { // which some servers refuse
		text = "(The tool returned nothing.)"
	}
	return result{id: c.id, text: text, isError: answered.IsError}, nil
}

// resendable is a call's arguments for the next request, in which servers take nothing but an object: what is none is
// shown to the model as the text that it wrote.
func resendable(args tooleval.Raw) json.RawMessage {
	if t := strings.TrimSpace(string(args)); t == "" {
		return json.RawMessage("{}")
	} else if t[0] == '{' && args.Valid() {
		return json.RawMessage(t)
	}
	b, err := json.Marshal(map[string]string{"invalid_arguments": valid(string(args))})
	if err != nil { // a map of strings always has a form
		return json.RawMessage("{}")
	}
	return b
}
