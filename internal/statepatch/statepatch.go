// Package statepatch is the state of a run written as its changes to an initial state: a JSON patch (RFC 6902) of add,
// remove and replace. A world with megabytes of state writes a few hundred bytes into each record that way.
//
//	whole, err := statepatch.Apply(initial, patch.Ops)
//
// # Limits
//
// Apply shares what no operation touches with its input, so neither may be changed afterwards.
package statepatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
)

// An Op is one operation. Path is a JSON pointer (RFC 6901).
type Op struct {
	Op    string       `json:"op"` // add, remove or replace
	Path  string       `json:"path"`
	Value tooleval.Raw `json:"value,omitempty"`
}

// A Patch is a state: what was changed in the initial state whose canonical JSON has this SHA-256.
type Patch struct {
	Base string `json:"base_sha256"`
	Ops  []Op   `json:"changes"`
}

// Parse reads a Patch.
func Parse(state tooleval.State) (Patch, error) {
	var p Patch
	if err := json.Unmarshal(state, &p); err != nil {
		return p, fmt.Errorf("the state is no list of changes: %w", err)
	}
	if p.Base == "" {
		return p, fmt.Errorf("the state is no list of changes: it does not say to what")
	}
	return p, nil
}

// Apply returns v, a value as tooleval.DecodeValue gives it, with the operations done in order. v is not changed; the
// result shares with it every container that no operation touches.
func Apply(v any, ops []Op) (any, error) {
	a := applier{fresh: map[string]bool{}}
	for i, op := range ops {
		var err error
		if v, err = a.apply(v, "", strings.Split(op.Path, "/")[1:], op); err != nil {
			return nil, fmt.Errorf("change %d (%s %s): %w", i+1, op.Op, op.Path, err)
		}
	}
	return v, nil
}

// An applier remembers by path which containers it has copied already.
type applier struct{ fresh map[string]bool }

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

func (a applier) apply(v any, at string, path []string, op Op) (any, error) {
	if len(path) == 0 {
		return tooleval.DecodeValue(op.Value)
	}
	key, rest := unescape.Replace(path[0]), path[1:]
	copied := a.fresh[at]
	switch x := v.(type) {
	case map[string]any:
		if !copied {
			x = maps.Clone(x)
			a.fresh[at] = true
		}
		old, found := x[key]
		if !found && (len(rest) > 0 || op.Op != "add") {
			return nil, fmt.Errorf("there is no key %q", key)
		}
		if len(rest) == 0 && op.Op == "remove" {
			delete(x, key)
			a.forget(at + "/" + path[0])
			return x, nil
		}
		if len(rest) == 0 {
			a.forget(at + "/" + path[0])
		}
		w, err := a.apply(old, at+"/"+path[0], rest, op)
		x[key] = w
		return x, err
	case []any:
		i, err := strconv.Atoi(key)
		last := len(rest) == 0
		if err != nil || i < 0 || i > len(x) || i == len(x) && !(last && op.Op == "add") {
			return nil, fmt.Errorf("there is no element %q of %d", key, len(x))
		}
		if !copied {
			x = slices.Clone(x)
			a.fresh[at] = true
		}
		if last {
			clear(a.fresh) // elements may move; what was copied is copied again at worst
		}
		switch {
		case last && op.Op == "remove":
			return slices.Delete(x, i, i+1), nil
		case last && op.Op == "add":
			w, err := tooleval.DecodeValue(op.Value)
			return slices.Insert(x, i, w), err
		}
		x[i], err = a.apply(x[i], at+"/"+path[0], rest, op)
		return x, err
	}
	return nil, fmt.Errorf("%q is in no object or list", key)
}

// forget drops what is known of a path and below: another value stands there now.
func (a applier) forget(path string) {
	for p := range a.fresh {
		if p == path || strings.HasPrefix(p, path+"/") {
			delete(a.fresh, p)
		}
	}
}
