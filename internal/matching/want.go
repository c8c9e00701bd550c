package matching

import (
	"bytes"
	"sync"

	"github.com/tooleval/tooleval"
)

// A want is a call pattern made ready for comparison.
type want struct {
	tool   string
	open   bool // constrains no arguments, so that none need to be decoded
	args   tooleval.Pattern
	schema any // nil when it has no defaults
	// all are the arguments of which a call may have a part; nil when args says what it must have.
	all any
	// mayFail says that a call that returned an error will do.
	mayFail bool
}

func prepare(run *tooleval.Run, p *tooleval.CallPattern) want {
	w := want{tool: p.Tool, args: p.Args, open: p.Args.Err() == nil && p.Args.Vacuous()}
	if w.open {
		return w
	}
	for i := range run.Tools {
		if run.Tools[i].Name == p.Tool {
			if w.schema = withDefaults(run.Tools[i].Schema); w.schema != nil {
				w.args = p.Args.FillDefaults(w.schema)
			}
			break
		}
	}
	return w
}

// fits reports whether tool and arguments of call j are as wanted, whatever became of the call.
func (w *want) fits(args *arguments, j int) bool {
	c := &args.calls[j]
	if c.Tool != w.tool || c.ArgsError != "" {
		return false
	}
	if w.open {
		return true
	}
	v, ok := args.of(j, w.schema)
	if ok && w.all != nil {
		return len(beyond("$", w.all, v)) == 0
	}
	return ok && w.args.Match(v)
}

// accepts reports whether a call ended as wanted.
func (w *want) accepts(c *tooleval.Call) bool {
	return c.Status == tooleval.CallOK || w.mayFail && c.Status == tooleval.CallToolError
}

// compare says how much of what is wanted a call's arguments meet.
func (w *want) compare(v any) tooleval.Comparison {
	if w.all == nil {
		return w.args.Compare(v)
	}
	m, _ := v.(map[string]any)
	c := tooleval.Comparison{Total: len(m), Diff: beyond("$", w.all, v)}
	c.Met = max(0, c.Total-len(c.Diff))
	return c
}

// arguments are those of a run's calls, each decoded when it is first asked for.
type arguments struct {
	calls []tooleval.Call
	known []decoded
}

type decoded struct {
	value any
	state uint8 // one of the below
}

const (
	unknown = iota
	good
	malformed
)

// of are the arguments of call j with the defaults of its tool's schema; ok is false when they are no object.
func (a *arguments) of(j int, schema any) (value any, ok bool) {
	if a.known == nil {
		a.known = make([]decoded, len(a.calls))
	}
	d := &a.known[j]
	if d.state == unknown {
		d.state = malformed
		if c := &a.calls[j]; c.ArgsError == "" {
			if v, ok := object(c.Args); ok {
				*d = decoded{tooleval.FillDefaults(schema, v), good}
			}
		}
	}
	return d.value, d.state == good
}

// object decodes arguments; none at all are {}.
func object(raw tooleval.Raw) (any, bool) {
	if len(raw) == 0 {
		return map[string]any{}, true
	}
	v, err := tooleval.DecodeValue(raw)
	if err != nil {
		return nil, false
	}
	_, ok := v.(map[string]any)
	return v, ok
}

// schemas remembers decoded schemas, since every run of an eval brings the same few. It is emptied when it is full.
var schemas = struct {
	sync.RWMutex
	m map[string]any
}{m: map[string]any{}}

const (
	mostSchemas = 256
	mostSchema  = 64 << 10 // bytes; a longer one is decoded anew each time
)

// withDefaults is a decoded schema, or nil when there is no default in it. It must not be changed.
func withDefaults(raw tooleval.Raw) any {
	if !bytes.Contains(raw, []byte(`"default"`)) && !bytes.Contains(raw, []byte(`\u`)) {
		return nil
	}
	schemas.RLock()
	v, ok := schemas.m[string(raw)]
	schemas.RUnlock()
	if ok {
		return v
	}
	v, err := tooleval.DecodeValue(raw)
	if err != nil { // Suite.Validate refuses it; in an old record it has no defaults
		v = nil
	}
	if len(raw) <= mostSchema {
		schemas.Lock()
		if len(schemas.m) >= mostSchemas {
			clear(schemas.m)
		}
		schemas.m[string(raw)] = v
		schemas.Unlock()
	}
	return v
}
