package starlark

import (
	"fmt"
	"slices"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// The state's containers are not Starlark's own, and some operators treat those specially: a == b, a < b and a in b
// know only them, and a += b changes only them in place. rewrite therefore wraps operands in calls of host functions,
// which return a value with the right behaviour. Their names can't be written in a script.
const (
	hostOperand = "operand of =="
	hostOrdered = "operand of <"
	hostMembers = "members of in"
	hostInPlace = "operand of +="
)

func rewrite(f *syntax.File) {
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryExpr:
			switch n.Op {
			case syntax.EQL, syntax.NEQ:
				if !isLiteral(n.X) && !isLiteral(n.Y) {
					n.X, n.Y = call(hostOperand, n.X), call(hostOperand, n.Y)
				}
			case syntax.LT, syntax.LE, syntax.GT, syntax.GE:
				if !isLiteral(n.X) && !isLiteral(n.Y) {
					n.X, n.Y = call(hostOrdered, n.X), call(hostOrdered, n.Y)
				}
			case syntax.IN, syntax.NOT_IN:
				if !isLiteral(n.X) {
					n.Y = call(hostMembers, n.Y)
				}
			}
		case *syntax.AssignStmt:
			if (n.Op == syntax.PLUS_EQ || n.Op == syntax.PIPE_EQ) && !isLiteral(n.RHS) {
				n.RHS = call(hostInPlace, n.RHS)
			}
		}
		return true
	})
}

// isLiteral reports whether an expression is a string or number as written, which is no container.
func isLiteral(x syntax.Expr) bool {
	_, ok := x.(*syntax.Literal)
	return ok
}

func call(name string, arg syntax.Expr) syntax.Expr {
	start, end := arg.Span()
	return &syntax.CallExpr{
		Fn: &syntax.Ident{NamePos: start, Name: name}, Lparen: start, Args: []syntax.Expr{arg}, Rparen: end,
	}
}

// hostOperators are the functions that rewritten scripts call.
var hostOperators = starlark.StringDict{
	hostOperand: hostOperator(hostOperand, func(v starlark.Value) starlark.Value {
		switch v.(type) {
		case *dict, *list, *starlark.Dict, *starlark.List, starlark.Tuple:
			return operand{v}
		}
		return v
	}),
	hostOrdered: hostOperator(hostOrdered, func(v starlark.Value) starlark.Value {
		switch v.(type) {
		case *list, *starlark.List, starlark.Tuple:
			if p, err := plain(v, maxDepth); err == nil {
				return p
			}
		}
		return v
	}),
	hostMembers: hostOperator(hostMembers, func(v starlark.Value) starlark.Value {
		switch x := v.(type) {
		case *starlark.List:
			return members{v, ownSeq{x}}
		case starlark.Tuple:
			return members{v, ownSeq{x}}
		}
		return v
	}),
	hostInPlace: hostOperator(hostInPlace, func(v starlark.Value) starlark.Value { return inPlace{v} }),
}

func hostOperator(name string, f func(starlark.Value) starlark.Value) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
		_ []starlark.Tuple) (starlark.Value, error) {
		return f(args[0]), nil
	})
}

// An operand compares a container of any kind with one of any other. Other values never equal it.
type operand struct{ starlark.Value }

func (operand) Type() string { return hostOperand }

func (x operand) CompareSameType(op syntax.Token, y starlark.Value, depth int) (bool, error) {
	return compare(op, x.Value, y.(operand).Value, depth)
}

// A members is a list or tuple of Starlark's own that may hold containers of the state.
type members struct {
	starlark.Value
	seq sequence
}

func (m members) Has(y starlark.Value) (bool, error) { return contains(m.seq, y) }

// An inPlace is the right side of x += v or x |= v. Starlark does not know it, so that it is asked what the operator
// means.
type inPlace struct{ starlark.Value }

func (inPlace) Type() string { return hostInPlace }

func (y inPlace) Binary(op syntax.Token, x starlark.Value, side starlark.Side) (starlark.Value, error) {
	v, err := y.apply(op, x)
	if err != nil || v != nil {
		return v, err
	}
	return starlark.Binary(op, x, y.Value)
}

// apply changes x in place; nil when x is nothing that can be.
func (y inPlace) apply(op syntax.Token, x starlark.Value) (starlark.Value, error) {
	if op == syntax.PIPE {
		d, ok := x.(starlark.HasSetKey)
		from, isMap := y.Value.(starlark.IterableMapping)
		if !ok || !isMap {
			return nil, nil
		}
		return x, update(d, from)
	}
	from, ok := y.Value.(starlark.Iterable)
	if !ok {
		return nil, nil
	}
	switch l := x.(type) {
	case *list:
		return l, l.extend(from)
	case *starlark.List:
		for _, v := range slices.Collect(starlark.Elements(from)) { // which may be l itself
			if err := l.Append(v); err != nil {
				return nil, fmt.Errorf("apply += to: %w", err)
			}
		}
		return l, nil
	}
	return nil, nil
}
