package store

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tooleval/tooleval"
)

// A plan writes the values of one type.
type plan func(e *encoder, v reflect.Value)

var (
	plans    sync.Map // reflect.Type -> plan
	planning sync.Mutex
)

var marshaler = reflect.TypeFor[json.Marshaler]()

// planOf follows the rules of encoding/json for tags, so that a field that is added to a record is written like any
// other, without a change here.
func planOf(t reflect.Type) plan {
	if p, ok := plans.Load(t); ok {
		return p.(plan)
	}
	planning.Lock()
	defer planning.Unlock()
	p := planner{}.plan(t)
	plans.Store(t, p)
	return p
}

// A planner holds the plans that are being made, for types that hold themselves.
type planner map[reflect.Type]*plan

func (m planner) plan(t reflect.Type) plan {
	if p, ok := m[t]; ok {
		return func(e *encoder, v reflect.Value) { (*p)(e, v) }
	}
	p := new(plan)
	m[t] = p
	*p = m.make(t)
	return *p
}

func (m planner) make(t reflect.Type) plan {
	switch t {
	case reflect.TypeFor[tooleval.Text]():
		return func(e *encoder, v reflect.Value) { e.text(tooleval.Text(v.String())) }
	case reflect.TypeFor[tooleval.Raw]():
		return func(e *encoder, v reflect.Value) { e.raw(v.Bytes()) }
	case reflect.TypeFor[tooleval.Score]():
		return func(e *encoder, v reflect.Value) { e.score(v.Interface().(tooleval.Score)) }
	case reflect.TypeFor[time.Time]():
		return func(e *encoder, v reflect.Value) { e.time(v.Interface().(time.Time)) }
	case reflect.TypeFor[string]():
		return func(e *encoder, v reflect.Value) { e.word(e.red.Text(v.String())) }
	}
	if t.Implements(marshaler) && t.Kind() != reflect.Pointer {
		return func(e *encoder, v reflect.Value) {
			e.foreign(v.Interface().(json.Marshaler).MarshalJSON())
		}
	}
	if reflect.PointerTo(t).Implements(marshaler) {
		return (*encoder).other
	}
	switch t.Kind() {
	case reflect.String: // a word of the harness, such as a verdict
		return func(e *encoder, v reflect.Value) { e.word(v.String()) }
	case reflect.Bool:
		return func(e *encoder, v reflect.Value) { e.bool(v.Bool()) }
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(e *encoder, v reflect.Value) { e.int(v.Int()) }
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return func(e *encoder, v reflect.Value) { e.uint(v.Uint()) }
	case reflect.Float64:
		return func(e *encoder, v reflect.Value) { e.float(v.Float()) }
	case reflect.Pointer:
		return m.pointerPlan(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return m.slicePlan(t)
		}
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return m.mapPlan(t)
		}
	case reflect.Struct:
		return m.structPlan(t)
	}
	return (*encoder).other
}

func (m planner) pointerPlan(t reflect.Type) plan {
	elem := m.plan(t.Elem())
	return func(e *encoder, v reflect.Value) {
		if v.IsNil() {
			e.null()
			return
		}
		before, at := len(e.notes), len(e.out)
		elem(e, v.Elem())
		// An unknown number is null where the field can say so.
		if t.Elem().Kind() == reflect.Float64 && len(e.notes) > before {
			e.out = append(e.out[:at], "null"...)
		}
	}
}

func (m planner) slicePlan(t reflect.Type) plan {
	elem := m.plan(t.Elem())
	return func(e *encoder, v reflect.Value) {
		switch {
		case v.IsNil():
			e.null()
			return
		case v.Len() == 0:
			e.out = append(e.out, '[', ']')
			return
		}
		e.out = append(e.out, '[')
		e.depth++
		for i := range v.Len() {
			if i > 0 {
				e.out = append(e.out, ',')
			}
			e.newline()
			elem(e, v.Index(i))
		}
		e.depth--
		e.newline()
		e.out = append(e.out, ']')
	}
}

func (m planner) mapPlan(t reflect.Type) plan {
	elem := m.plan(t.Elem())
	return func(e *encoder, v reflect.Value) {
		switch {
		case v.IsNil():
			e.null()
			return
		case v.Len() == 0:
			e.out = append(e.out, '{', '}')
			return
		}
		values := make(map[string]reflect.Value, v.Len())
		for it := v.MapRange(); it.Next(); {
			values[it.Key().String()] = it.Value()
		}
		e.out = append(e.out, '{')
		e.depth++
		for i, k := range slices.Sorted(maps.Keys(values)) {
			if i > 0 {
				e.out = append(e.out, ',')
			}
			e.newline()
			e.word(k)
			e.out = append(e.out, ':', ' ')
			elem(e, values[k])
		}
		e.depth--
		e.newline()
		e.out = append(e.out, '}')
	}
}

// A field is one field of a struct.
type field struct {
	index int
	name  string
	key   string // with the quotes and the colon
	omit  func(reflect.Value) bool
	write plan
}

func (m planner) structPlan(t reflect.Type) plan {
	var fields []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, _ := sf.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case sf.Anonymous || strings.Contains(options, "string"):
			return (*encoder).other
		case !sf.IsExported() || tag == "-":
			continue
		case name == "":
			name = sf.Name
		}
		f := field{index: i, name: name, key: string(appendLiteral(nil, name)) + ": ", write: m.plan(sf.Type)}
		if keptWords[t.Name()+"."+sf.Name] {
			f.write = m.keptPlan(sf.Type)
		}
		f.omit = omission(sf.Type, strings.Split(options, ","))
		fields = append(fields, f)
	}
	return func(e *encoder, v reflect.Value) {
		e.out = append(e.out, '{')
		e.depth++
		first := true
		for i := range fields {
			f := &fields[i]
			value := v.Field(f.index)
			if f.omit != nil && f.omit(value) {
				continue
			}
			if !first {
				e.out = append(e.out, ',')
			}
			first = false
			e.newline()
			e.out = append(e.out, f.key...)
			e.path = append(e.path, f.name)
			f.write(e, value)
			e.path = e.path[:len(e.path)-1]
		}
		e.depth--
		if !first {
			e.newline()
		}
		e.out = append(e.out, '}')
	}
}

// omission says when a field is left out; nil for never.
func omission(t reflect.Type, options []string) func(reflect.Value) bool {
	empty, zero := slices.Contains(options, "omitempty"), slices.Contains(options, "omitzero")
	if zero && t.Implements(reflect.TypeFor[interface{ IsZero() bool }]()) && t.Kind() != reflect.Pointer {
		return func(v reflect.Value) bool { return v.Interface().(interface{ IsZero() bool }).IsZero() }
	}
	if empty && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		return func(v reflect.Value) bool { return v.Len() == 0 }
	}
	if zero || empty && t.Kind() != reflect.Struct && t.Kind() != reflect.Array {
		return reflect.Value.IsZero
	}
	return nil
}

// keptWords are the fields that say which run a record is of and what its parts are called. The suite's author and the
// harness give them, not the agent; they are never redacted, because a database password that happens to be the name of
// the suite must not make its runs unfindable.
var keptWords = map[string]bool{
	"Run.Eval": true, "Run.Suite": true, "Run.TaskID": true, "Run.Mind": true, "Run.World": true, "Run.Baseline": true,
	"Run.Identity": true, "Run.EntryPoint": true, "Run.StateFrom": true,
	"Eval.ID": true, "Eval.Suite": true, "Eval.Minds": true, "Eval.World": true, "EvalTask.ID": true,
	"EvalTask.Digest": true, "Task.ID": true, "Task.EntryPoint": true,
	"Provenance.Tool": true, "Provenance.Go": true, "Provenance.Commit": true, "Provenance.SuiteDigest": true,
	"Component.Name": true, "Trajectory.Channel": true, "Evidence.Channel": true,
}

// keptPlan is a plan without redaction.
func (m planner) keptPlan(t reflect.Type) plan {
	write := m.plan(t)
	return func(e *encoder, v reflect.Value) {
		red := e.red
		e.red = nil
		write(e, v)
		e.red = red
	}
}
