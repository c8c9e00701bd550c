package starlark

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.starlark.net/starlark"
)

// calculate evaluates an arithmetic expression as Python would: integers are exact, / gives a float, // and ** are
// there. Only digits and + - * / ( ) . and space may stand in it, so that nothing but arithmetic can be written.
// Errors have Python's texts. Length, nesting and the size of powers are bounded: the expression comes from an agent.
func calculate(expression string) (starlark.Value, error) {
	const longest, deepest = 10_000, 100
	if len(expression) > longest {
		return nil, fmt.Errorf("the expression has more than %d characters", longest)
	}
	if strings.Trim(expression, "0123456789+-*/(). ") != "" || strings.IndexFunc(expression, func(r rune) bool {
		return !strings.ContainsRune("0123456789+-*/(). ", r)
	}) >= 0 {
		return nil, errors.New("invalid characters in expression")
	}
	c := calculator{s: strings.TrimLeft(expression, " "), depth: deepest}
	v, err := c.sum()
	if err != nil {
		return nil, err
	}
	if c.space(); c.i < len(c.s) {
		return nil, errSyntax
	}
	return v, nil
}

var errSyntax = errors.New("invalid syntax (<string>, line 1)")

type calculator struct {
	s     string
	i     int
	depth int
}

func (c *calculator) space() {
	for c.i < len(c.s) && c.s[c.i] == ' ' {
		c.i++
	}
}

// next steps over an operator if it comes next. * is not the beginning of **, nor / that of //.
func (c *calculator) next(op string) bool {
	c.space()
	if !strings.HasPrefix(c.s[c.i:], op) || len(op) == 1 && strings.HasPrefix(c.s[c.i+1:], op) && (op == "*" || op == "/") {
		return false
	}
	c.i += len(op)
	return true
}

func (c *calculator) sum() (starlark.Value, error) {
	v, err := c.product()
	for err == nil {
		var op string
		switch {
		case c.next("+"):
			op = "+"
		case c.next("-"):
			op = "-"
		default:
			return v, nil
		}
		var w starlark.Value
		if w, err = c.product(); err == nil {
			v, err = binary(op, v, w)
		}
	}
	return nil, err
}

func (c *calculator) product() (starlark.Value, error) {
	v, err := c.signed()
	for err == nil {
		var op string
		for _, o := range []string{"*", "//", "/"} {
			if c.next(o) {
				op = o
				break
			}
		}
		if op == "" {
			return v, nil
		}
		var w starlark.Value
		if w, err = c.signed(); err == nil {
			v, err = binary(op, v, w)
		}
	}
	return nil, err
}

func (c *calculator) signed() (starlark.Value, error) {
	if c.depth--; c.depth < 0 {
		return nil, errors.New("too many nested parentheses")
	}
	defer func() { c.depth++ }()
	switch {
	case c.next("+"):
		return c.signed()
	case c.next("-"):
		v, err := c.signed()
		if err != nil {
			return nil, err
		}
		if f, ok := v.(starlark.Float); ok {
			return -f, nil
		}
		return starlark.MakeInt(0).Sub(v.(starlark.Int)), nil
	}
	v, err := c.atom()
	if err == nil && c.next("**") {
		var w starlark.Value
		if w, err = c.signed(); err == nil {
			return power(v, w)
		}
	}
	return v, err
}

func (c *calculator) atom() (starlark.Value, error) {
	if c.next("(") {
		v, err := c.sum()
		if err == nil && !c.next(")") {
			err = errSyntax
			if c.i == len(c.s) {
				err = errors.New("'(' was never closed (<string>, line 1)")
			}
		}
		return v, err
	}
	start := c.i
	for c.i < len(c.s) && (c.s[c.i] >= '0' && c.s[c.i] <= '9' || c.s[c.i] == '.') {
		c.i++
	}
	digits := c.s[start:c.i]
	switch dots := strings.Count(digits, "."); {
	case digits == "" || digits == "." || dots > 1:
		return nil, errSyntax
	case dots == 1:
		f, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			f = math.Inf(1) // as Python reads it
		}
		return starlark.Float(f), nil
	case digits[0] == '0' && strings.Trim(digits, "0") != "":
		return nil, errors.New("leading zeros in decimal integer literals are not permitted; " +
			"use an 0o prefix for octal integers (<string>, line 1)")
	case len(digits) > maxDigits:
		return nil, fmt.Errorf("an integer of more than %d digits", maxDigits)
	}
	n, _ := new(big.Int).SetString(digits, 10)
	return starlark.MakeBigInt(n), nil
}

func binary(op string, x, y starlark.Value) (starlark.Value, error) {
	a, whole := x.(starlark.Int)
	b, both := y.(starlark.Int)
	if whole && both {
		switch op {
		case "+":
			return a.Add(b), nil
		case "-":
			return a.Sub(b), nil
		case "*":
			return a.Mul(b), nil
		case "//":
			if b.Sign() == 0 {
				return nil, errors.New("integer division or modulo by zero")
			}
			return a.Div(b), nil
		}
		if b.Sign() == 0 {
			return nil, errors.New("division by zero")
		}
		f, _ := new(big.Rat).SetFrac(a.BigInt(), b.BigInt()).Float64() // rounded once, as Python does it
		if math.IsInf(f, 0) {
			return nil, errors.New("integer division result too large for a float")
		}
		return starlark.Float(f), nil
	}
	f, err := toFloat(x)
	if err != nil {
		return nil, err
	}
	g, err := toFloat(y)
	if err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return starlark.Float(f + g), nil
	case "-":
		return starlark.Float(f - g), nil
	case "*":
		return starlark.Float(f * g), nil
	}
	if g == 0 {
		if op == "//" {
			return nil, errors.New("float floor division by zero")
		}
		return nil, errors.New("float division by zero")
	}
	if op == "//" {
		return starlark.Float(math.Floor(f / g)), nil
	}
	return starlark.Float(f / g), nil
}

func power(x, y starlark.Value) (starlark.Value, error) {
	a, whole := x.(starlark.Int)
	b, both := y.(starlark.Int)
	if whole && both && b.Sign() >= 0 {
		const mostBits = 1 << 16
		n, small := b.Uint64()
		if !small || n > mostBits || n*uint64(a.BigInt().BitLen()) > mostBits {
			switch a.BigInt().String() {
			case "0", "1":
				return a, nil // b is not 0
			case "-1":
				return starlark.MakeInt64(1 - 2*int64(b.BigInt().Bit(0))), nil
			}
			return nil, errors.New("the power is too large")
		}
		return starlark.MakeBigInt(new(big.Int).Exp(a.BigInt(), new(big.Int).SetUint64(n), nil)), nil
	}
	f, err := toFloat(x)
	if err != nil {
		return nil, err
	}
	g, err := toFloat(y)
	if err != nil {
		return nil, err
	}
	p := math.Pow(f, g)
	switch {
	case f == 0 && g < 0:
		return nil, errors.New("0.0 cannot be raised to a negative power")
	case math.IsNaN(p):
		return nil, errors.New("a negative number cannot be raised to a fractional power")
	case math.IsInf(p, 0) && !math.IsInf(f, 0):
		return nil, errors.New("(34, 'Numerical result out of range')")
	}
	return starlark.Float(p), nil
}

func toFloat(v starlark.Value) (float64, error) {
	f, ok := starlark.AsFloat(v)
	if !ok {
		return 0, fmt.Errorf("want a number, got %s", v.Type())
	}
	if _, whole := v.(starlark.Int); whole && math.IsInf(f, 0) {
		return 0, errors.New("int too large to convert to float")
	}
	return f, nil
}

// round is Python's round(x, n) of a float: on its exact binary value, half to even.
func round(f float64, digits int) float64 {
	const most = 400 // beyond, nothing changes, or all of it
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0) || digits > most:
		return f
	case digits < -most:
		return math.Copysign(0, f)
	case digits >= 0:
		r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
		return r
	}
	unit := new(big.Float).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(-digits)), nil))
	u, _ := unit.Float64()
	return math.RoundToEven(f/u) * u
}
