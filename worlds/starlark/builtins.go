package starlark

import (
	"fmt"
	"maps"
	"math"

	libjson "go.starlark.net/lib/json"
	libmath "go.starlark.net/lib/math"
	libtime "go.starlark.net/lib/time"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"

	"github.com/tooleval/tooleval"
)

// predeclared are the names that every script has beside Starlark's own.
var predeclared = func() starlark.StringDict {
	names := starlark.StringDict{
		"fail":       builtin("fail", failBuiltin),
		"result":     builtin("result", resultBuiltin),
		"struct":     starlark.NewBuiltin("struct", starlarkstruct.Make),
		"calculate":  builtin("calculate", calculateBuiltin),
		"round":      builtin("round", roundBuiltin),
		"sum":        builtin("sum", sumBuiltin),
		"float_text": builtin("float_text", floatTextBuiltin),
		"math":       libmath.Module,
	}
	maps.Copy(names, hostOperators)
	members := maps.Clone(libjson.Module.Members)
	members["decode"] = builtin("decode", decodeBuiltin)
	members["dumps"] = builtin("dumps", dumpsBuiltin)
	names["json"] = &starlarkstruct.Module{Name: "json", Members: members}
	members = maps.Clone(libtime.Module.Members)
	delete(members, "now") // a world has no clock; it has ctx.now
	names["time"] = &starlarkstruct.Module{Name: "time", Members: members}
	names.Freeze()
	return names
}()

// A refusal is what fail("…") raises: the tool says no.
type refusal struct{ message string }

func (r *refusal) Error() string { return "fail: " + r.message }

func failBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(kwargs) > 0 {
		return nil, fmt.Errorf("unexpected keyword argument %s", kwargs[0][0])
	}
	message := ""
	for i, a := range args {
		if i > 0 {
			message += " "
		}
		if s, ok := starlark.AsString(a); ok {
			message += s
		} else {
			message += a.String()
		}
	}
	return nil, &refusal{message}
}

// A resultValue is what result(…) gives: a tool's answer in all its parts.
type resultValue struct {
	value   starlark.Value // nil when there is only text
	text    *string
	isError bool
	endsRun bool
}

func (r *resultValue) String() string        { return "result(…)" }
func (r *resultValue) Type() string          { return "result" }
func (r *resultValue) Freeze()               {}
func (r *resultValue) Truth() starlark.Bool  { return true }
func (r *resultValue) Hash() (uint32, error) { return 0, errUnhashable("result") }

func resultBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := &resultValue{}
	var text starlark.Value
	err := starlark.UnpackArgs(b.Name(), args, kwargs,
		"value?", &r.value, "text?", &text, "error?", &r.isError, "ends_run?", &r.endsRun)
	if err != nil {
		return nil, err
	}
	switch t := text.(type) {
	case nil, starlark.NoneType:
	case starlark.String:
		s := string(t)
		r.text = &s
	default:
		return nil, fmt.Errorf("text: want a string, got %s", text.Type())
	}
	return r, nil
}

// toResult is the answer of a tool that returned v.
func toResult(v starlark.Value, most int) (tooleval.ToolResult, error) {
	r, ok := v.(*resultValue)
	if !ok {
		r = &resultValue{value: v}
	}
	out := tooleval.ToolResult{IsError: r.isError, EndsRun: r.endsRun}
	switch x := r.value.(type) {
	case nil, starlark.NoneType:
	case starlark.String:
		out.Text = tooleval.Text(x)
	default:
		b, err := dumps(x, most)
		if err != nil {
			return out, fmt.Errorf("the result of the tool: %w", err)
		}
		out.Text, out.Structured = tooleval.Text(b), b
	}
	if r.text != nil {
		out.Text = tooleval.Text(*r.text)
	}
	if len(out.Text) > most {
		return out, fmt.Errorf("the result of the tool has more than %d bytes", most)
	}
	return out, nil
}

func calculateBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var expression string
	var digits starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "expression", &expression, "digits?", &digits); err != nil {
		return nil, err
	}
	v, err := calculate(expression)
	if err == nil && digits != nil && digits != starlark.None {
		n, intErr := starlark.AsInt32(digits)
		if intErr != nil {
			return nil, fmt.Errorf("digits: %w", intErr)
		}
		var f float64
		if f, err = toFloat(v); err == nil {
			return starlark.String(floatText(round(f, n))), nil
		}
	}
	if err != nil { // the expression is the agent's
		return nil, &refusal{"Error: " + err.Error()}
	}
	return v, nil
}

func roundBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, digits starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "x", &x, "digits?", &digits); err != nil {
		return nil, err
	}
	f, ok := x.(starlark.Float)
	if !ok {
		if _, ok := x.(starlark.Int); !ok {
			return nil, fmt.Errorf("want a number, got %s", x.Type())
		}
		return x, nil
	}
	if digits == nil || digits == starlark.None {
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return nil, fmt.Errorf("%v is no finite number", f)
		}
		return starlark.NumberToInt(starlark.Float(math.RoundToEven(float64(f))))
	}
	n, err := starlark.AsInt32(digits)
	if err != nil {
		return nil, fmt.Errorf("digits: %w", err)
	}
	return starlark.Float(round(float64(f), n)), nil
}

func sumBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var list starlark.Iterable
	total := starlark.Value(starlark.MakeInt(0))
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "list", &list, "start?", &total); err != nil {
		return nil, err
	}
	for v := range starlark.Elements(list) {
		var err error
		if total, err = starlark.Binary(syntax.PLUS, total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func floatTextBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &x); err != nil {
		return nil, err
	}
	f, err := toFloat(x)
	if err != nil {
		return nil, err
	}
	return starlark.String(floatText(f)), nil
}

// decodeBuiltin is json.decode(x, default) for text of any depth, which may be an agent's: the library's would exhaust
// the stack, and no deferred call could save the process.
func decodeBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x string
	var fallback starlark.Value
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "x", &x, "default?", &fallback); err != nil {
		return nil, err
	}
	v, err := parseJSON(tooleval.Raw(x))
	if err != nil && fallback != nil {
		return fallback, nil
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

func dumpsBuiltin(b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &x); err != nil {
		return nil, err
	}
	out, err := dumps(x, DefaultMaxBytes)
	if err != nil {
		return nil, err
	}
	return starlark.String(out), nil
}
