package ingest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

func fitsOTLP(p *probe) bool { return p.first().get("resourceSpans") != nil }

// maxSpanBytes bounds what is kept of the spans of one file, since a trace may be spread over all of it.
const maxSpanBytes = 512 << 20

// readOTLP reads spans as OTLP's JSON exporters write them, one recording a trace.
//
// Calls come from the spans of the operation execute_tool and overlap as these do. A trace without any is read from the
// messages of its last model call, where they were captured. The task is the attribute tooleval.task_id, and the trial
// tooleval.trial, of the resource or of any span. What a span's times are is not kept: they come from other clocks.
func readOTLP(s *source, yield func(*Recording, error) bool) {
	traces := map[string]*trace{}
	var order []*trace
	size, n, other := 0, 0, 0
	stopped := false
	s.values(func(v value, _ bool, err error) bool {
		n++
		if err != nil {
			stopped = !yield(nil, s.wrap(fmt.Sprintf("batch %d", n), err))
			return !stopped
		}
		for _, rs := range v.get("resourceSpans").list() {
			resource := attributes(rs.path("resource", "attributes"))
			scopes := append(rs.get("scopeSpans").list(), rs.get("instrumentationLibrarySpans").list()...)
			for _, scope := range scopes {
				for _, raw := range scope.get("spans").list() {
					sp := newSpan(raw, resource)
					if sp == nil {
						other++
						continue
					}
					if size += len(raw); size > maxSpanBytes {
						stopped = true
						yield(nil, s.fatal(fmt.Errorf("its GenAI spans have more than %d bytes: split the file by trace", maxSpanBytes)))
						return false
					}
					t := traces[sp.trace]
					if t == nil {
						t = &trace{id: sp.trace}
						traces[sp.trace] = t
						order = append(order, t)
					}
					sp.order = len(t.spans)
					t.spans = append(t.spans, sp)
				}
			}
		}
		return true
	})
	if stopped {
		return
	}
	if len(order) == 0 && n > 0 {
		yield(nil, s.fatal(fmt.Errorf("none of its %d spans has attributes of the GenAI conventions (gen_ai.…)", other)))
		return
	}
	for i, t := range order {
		b := newBuilder(s, fmt.Sprintf("trace %d (%.32s)", i+1, t.id))
		t.tell(b)
		if !yield(s.done(b, b.rec.Source.Position)) {
			return
		}
	}
}

// A span is one GenAI span; its attributes are JSON, and strings among them stay strings.
type span struct {
	trace, id, parent string
	start, end        int64
	order             int
	failed            bool
	message           tooleval.Text
	attrs             map[string]value
}

type trace struct {
	id    string
	spans []*span
}

func newSpan(v value, resource map[string]value) *span {
	attrs := attributes(v.get("attributes"))
	ours := false
	for k := range attrs {
		ours = ours || strings.HasPrefix(k, "gen_ai.")
	}
	if !ours {
		return nil
	}
	for _, k := range []string{"tooleval.task_id", "tooleval.trial"} {
		if attrs[k] == nil && resource[k] != nil {
			attrs[k] = resource[k]
		}
	}
	sp := &span{trace: v.get("traceId").str(), id: v.get("spanId").str(), parent: v.get("parentSpanId").str(), attrs: attrs}
	sp.start, _ = v.get("startTimeUnixNano").integer()
	sp.end, _ = v.get("endTimeUnixNano").integer()
	sp.end = max(sp.start, sp.end)
	code := v.path("status", "code")
	sp.message, _ = v.path("status", "message").text()
	sp.failed = code.is("STATUS_CODE_ERROR") || string(code) == "2" || !attrs["error.type"].none()
	return sp
}

// attributes are the attributes of OTLP as plain JSON.
func attributes(v value) map[string]value {
	m := map[string]value{}
	for _, kv := range v.list() {
		if k := kv.get("key").str(); k != "" {
			m[k] = anyValue(kv.get("value"), 0)
		}
	}
	return m
}

// anyValue is the JSON that an AnyValue of OTLP stands for.
func anyValue(v value, depth int) value {
	const deepest = 100
	if depth > deepest {
		return value("null")
	}
	out := value("null")
	v.each(func(k, x value) bool {
		switch k.str() {
		case "stringValue", "boolValue", "doubleValue", "bytesValue":
			out = x
		case "intValue": // 64-bit integers are strings there
			if x.kind() == '"' && json.Valid([]byte(x.str())) {
				x = value(x.str())
			}
			out = x
		case "arrayValue":
			var items []value
			for _, e := range x.get("values").list() {
				items = append(items, anyValue(e, depth+1))
			}
			out = joinList(items)
		case "kvlistValue":
			obj := value("{")
			for _, kv := range x.get("values").list() {
				if len(obj) > 1 {
					obj = append(obj, ',')
				}
				obj = appendKey(obj, kv.get("key").str())
				obj = append(append(obj, ':'), anyValue(kv.get("value"), depth+1)...)
			}
			obj = append(obj, '}')
			out = obj
		}
		return true
	})
	return out
}

// embedded is an attribute that holds JSON, as text or as a value.
func embedded(v value) value {
	if v.kind() == '"' {
		if text := []byte(strings.TrimSpace(v.str())); json.Valid(text) {
			return text
		}
	}
	return v
}

func (sp *span) op() string { return sp.attrs["gen_ai.operation.name"].str() }

func (sp *span) isModel() bool {
	switch sp.op() {
	case "chat", "text_completion", "generate_content":
		return true
	}
	return false
}
