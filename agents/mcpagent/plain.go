package mcpagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/wire"
)

// plainCall answers one call that came without MCP. The body and the answer are those of tools/call in
// docs/protocol.md.
func (e *Endpoint) plainCall(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, owner tooleval.Owner, format string, args ...any) {
		type failure struct {
			Message string         `json:"message"`
			Owner   tooleval.Owner `json:"owner,omitempty"`
		}
		answer(w, status, map[string]failure{"error": {fmt.Sprintf(format, args...), owner}})
	}
	defer func() { // a panic of the tools is no reason to end the harness, or the connection without a word
		if v := recover(); v != nil {
			e.warn("a panic in a tool call: %v\n%s", v, debug.Stack())
			fail(http.StatusInternalServerError, tooleval.OwnerHarness, "the harness broke: %v", v)
		}
	}()
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		fail(http.StatusMethodNotAllowed, "", "a tool is called by POST")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var long *http.MaxBytesError
		if errors.As(err, &long) {
			fail(http.StatusRequestEntityTooLarge, "", "a call has at most %d bytes", maxBody)
		}
		return // else the client has gone
	}
	var p struct {
		ID   tooleval.Text  `json:"id"`
		Tool *tooleval.Text `json:"tool"`
		Args tooleval.Raw   `json:"args"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		fail(http.StatusBadRequest, "", "the body is no call: %v", err)
		return
	}
	if p.Tool == nil {
		fail(http.StatusBadRequest, "", `the body is no call: there is no "tool"`)
		return
	}
	result, err := e.ask(r.Context(), tooleval.ToolCall{ID: string(p.ID), Tool: e.names.real(string(*p.Tool)), Args: p.Args})
	switch {
	case err == nil:
		answer(w, http.StatusOK, result)
	case e.ctx.Err() != nil:
		fail(http.StatusGone, "", "the run has ended")
	default:
		owner, ok := tooleval.BlamedOn(err)
		if !ok {
			owner = tooleval.OwnerWorld
		}
		fail(http.StatusInternalServerError, owner, "%v", err)
	}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(wire.Marshal(v), '\n'))
}
