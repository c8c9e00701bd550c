package starlark

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// The right column is what CPython 3.11 prints for str(round(float(eval(x)), 2)), or the text of its error.
func TestCalculateAsPythonDoes(t *testing.T) {
	for expression, want := range map[string]string{
		"2 + 2": "4.0", "255": "255.0", "-114": "-114.0", "7//2": "3.0", "-7//2": "-4.0", "10**20": "1e+20", "2.675": "2.67",
		"1.005": "1.0", "0.125": "0.12", "0.375": "0.38", "2**-1": "0.5", "-2**2": "-4.0", "2**3**2": "512.0", "(-8)**2": "64.0",
		"1/3": "0.33", "(1 + 2) * (3 - 4) / 5": "-0.6", "--3": "3.0", "2 * -3": "-6.0", ".5 + 1.": "1.5", "7.5 // 2": "3.0", "0": "0.0",
		"00": "0.0", "12345678901234567890 - 12345678901234567889": "1.0", "1000000.0 * 1000000": "1000000000000.0",
		"10**15 + 0.5": "1000000000000000.5", "10**16": "1e+16", "3 - 5 - 1": "-3.0", "8 / 4 / 2": "1.0", "0.1 + 0.2": "0.3",
		"1/0": "!division by zero", "1.0/0": "!float division by zero", "1//0": "!integer division or modulo by zero",
		"007": "!leading zeros in decimal integer literals are not permitted", "2 3": "!invalid syntax", "": "!invalid syntax",
		"(1": "!'(' was never closed", "1)": "!invalid syntax", "1 +": "!invalid syntax", "* 2": "!invalid syntax", "1.2.3": "!invalid syntax",
		"2 x 3": "!invalid characters in expression", "__import__('os')": "!invalid characters", "1e5": "!invalid characters", "٣": "!invalid characters",
		"10**400": "!int too large to convert to float", "9**9**9": "!the power is too large", "0**-1": "!cannot be raised to a negative power",
		"(0-8)**0.5": "!fractional power", "10.0**400": "!Numerical result out of range", "1**99999999999": "1.0", "(0-1)**99999999999": "-1.0",
	} {
		v, err := calculateBuiltin(builtin("calculate", calculateBuiltin), starlark.Tuple{starlark.String(expression), starlark.MakeInt(2)}, nil)
		if bad, ok := strings.CutPrefix(want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), bad) {
				t.Errorf("%q: got %v, %v; want an error with %q", expression, v, err, bad)
			}
		} else if err != nil || v.(starlark.String) != starlark.String(want) {
			t.Errorf("%q: got %v, %v; want %s", expression, v, err, want)
		}
	}
}

// Whatever an agent writes ends soon.
func TestCalculateIsBounded(t *testing.T) {
	for _, expression := range []string{
		strings.Repeat("(", 5000), strings.Repeat("-", 9000) + "1", strings.Repeat("9", 9000), strings.Repeat("9**", 3000) + "9",
		strings.Repeat("1", 20000), strings.Repeat("(2**60000)*", 900) + "1", "2" + strings.Repeat("**2", 90),
	} {
		if _, err := calculate(expression); err == nil && !strings.HasPrefix(expression, "(2**60000)") {
			t.Errorf("%.20s… gave a result", expression)
		}
	}
}

func FuzzCalculate(f *testing.F) {
	for _, s := range []string{"1+1", "2**3", "(1", "7//0", "-.5", "1/3*2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := calculate(s)
		if (v == nil) == (err == nil) {
			t.Errorf("%q: got %v, %v", s, v, err)
		}
	})
}
