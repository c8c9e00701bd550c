package calc

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"math"

	units "github.com/bcicen/go-units"

	"github.com/tooleval/tooleval"
)

// newLiveWorld makes a world whose tools truly evaluate and convert. It keeps no state.
func newLiveWorld(_ context.Context, spec tooleval.WorldSpec) (tooleval.World, error) {
	return liveWorld{spec.Tools}, nil
}

type liveWorld struct{ tools []tooleval.Tool }

func (w liveWorld) Tools() []tooleval.Tool       { return w.tools }
func (liveWorld) State() (tooleval.State, error) { return nil, nil }
func (liveWorld) Close() error                   { return nil }

func (liveWorld) CallTool(_ context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	var args struct {
		Expression *string
		Value      *float64
		From, To   string
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tooleval.ErrorResult("the arguments don't fit the schema: %v", err), nil
	}
	var v float64
	var err error
	switch {
	case call.Tool == "calculate" && args.Expression != nil:
		v, err = evaluate(*args.Expression)
	case call.Tool == "convert" && args.Value != nil:
		v, err = convert(*args.Value, args.From, args.To)
	default:
		err = fmt.Errorf("%s: an argument is missing", call.Tool)
	}
	if err == nil && (math.IsInf(v, 0) || math.IsNaN(v)) {
		err = fmt.Errorf("the result is out of range")
	}
	if err != nil {
		return tooleval.ErrorResult("%v", err), nil
	}
	return number(v), nil
}

func convert(value float64, from, to string) (float64, error) {
	a, err := units.Find(from)
	if err != nil {
		return 0, fmt.Errorf("unknown unit %q", from)
	}
	b, err := units.Find(to)
	if err != nil {
		return 0, fmt.Errorf("unknown unit %q", to)
	}
	result, err := units.ConvertFloat(value, a, b)
	if err != nil {
		return 0, fmt.Errorf("%s can't be converted into %s", a.Name, b.Name)
	}
	return result.Float(), nil
}

// evaluate computes with exact fractions, by the parser and the constants of the Go compiler, so that 0.1 + 0.2 is 0.3.
func evaluate(expression string) (float64, error) {
	const longest = 1000
	if len(expression) > longest {
		return 0, fmt.Errorf("the expression is longer than %d bytes", longest)
	}
	tree, err := parser.ParseExpr(expression)
	if err != nil {
		return 0, fmt.Errorf("not an expression: %q", expression)
	}
	v, err := value(tree)
	if err != nil {
		return 0, err
	}
	f, _ := constant.Float64Val(v)
	return f, nil
}

func value(e ast.Expr) (constant.Value, error) {
	switch x := e.(type) {
	case *ast.ParenExpr:
		return value(x.X)
	case *ast.BasicLit:
		if x.Kind == token.INT || x.Kind == token.FLOAT {
			if v := constant.ToFloat(constant.MakeFromLiteral(x.Value, x.Kind, 0)); v.Kind() == constant.Float || v.Kind() == constant.Int {
				return v, nil
			}
		}
	case *ast.UnaryExpr:
		v, err := value(x.X)
		if err == nil && (x.Op == token.SUB || x.Op == token.ADD) {
			return constant.UnaryOp(x.Op, v, 0), nil
		}
		if err != nil {
			return nil, err
		}
	case *ast.BinaryExpr:
		a, err := value(x.X)
		if err != nil {
			return nil, err
		}
		b, err := value(x.Y)
		if err != nil {
			return nil, err
		}
		switch x.Op {
		case token.QUO:
			if constant.Sign(b) == 0 {
				return nil, fmt.Errorf("division by zero")
			}
			fallthrough
		case token.ADD, token.SUB, token.MUL:
			return constant.BinaryOp(a, x.Op, b), nil
		}
	}
	return nil, fmt.Errorf("only numbers, + - * / and parentheses can be evaluated")
}
