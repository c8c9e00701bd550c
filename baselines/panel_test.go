package baselines

import (
	"context"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
)

// library answers get_book by its id and counts what is removed.
func library(removed *int) tooleval.ToolHandler {
	return tooleval.ToolHandlerFunc(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		switch {
		case c.Tool == "remove_book":
			*removed++
		case strings.Contains(string(c.Args), "B-3"):
			return tooleval.JSONResult(map[string]any{"shelf": "K7"}), nil
		}
		return tooleval.ErrorResult("no such book"), nil
	})
}

func panel(t *testing.T, name string, a tooleval.Assignment, tools tooleval.ToolHandler) tooleval.AgentResult {
	t.Helper()
	for _, b := range Panel {
		if b.Name == name {
			r, err := b.New(1).Run(t.Context(), a, tools)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
	t.Fatalf("no baseline %q", name)
	return tooleval.AgentResult{}
}

func TestPanel(t *testing.T) {
	book := tooleval.Raw(`{"type":"object","properties":{"book":{"type":"string"}},"required":["book"]}`)
	a := tooleval.Assignment{TaskID: "t", Description: "Where is B-3?", Input: tooleval.Raw(`{"x":1}`),
		Tools: []tooleval.Tool{{Name: "remove_book", Schema: book}, {Name: "get_book", Schema: book}}}
	removed := 0
	r := panel(t, "spam", a, library(&removed))
	if !strings.Contains(string(r.Response), "K7") || !strings.Contains(string(r.State), `"shelf":"K7"`) {
		t.Errorf("spam says %q and %s; want the shelf that it could read", r.Response, r.State)
	}
	if removed != 0 {
		t.Errorf("spam called a tool that writes %d times", removed)
	}
	if again := panel(t, "spam", a, library(&removed)); again.Response != r.Response {
		t.Errorf("spam with the same seed says %q, then %q", r.Response, again.Response)
	}
	if r := panel(t, "prompt-echo", a, nil); r.Response != "Where is B-3?\n{\"x\":1}" || string(r.State) != `{"x":1}` {
		t.Errorf("prompt-echo says %q and %s", r.Response, r.State)
	}
	if r := panel(t, "always-refuse", a, nil); r.Response == "" || r.State != nil {
		t.Errorf("always-refuse says %q and %s", r.Response, r.State)
	}
	if len(All) != 2 {
		t.Errorf("every eval runs %d baselines, want the two of old", len(All))
	}
}

func TestReads(t *testing.T) {
	for name, want := range map[string]bool{
		"get_user": true, "search": true, "updateSeat": false, "save_output": false, "settings": true, "transfer_to_human": false, "": true,
		"get_book": true, "seat_update": false,
	} {
		if got := reads(name); got != want {
			t.Errorf("reads(%q) = %v, want %v", name, got, want)
		}
	}
}
