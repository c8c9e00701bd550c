package calc

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/suitetest"
)

func TestSuite(t *testing.T) { suitetest.Run(t, Suite) }

func TestEvaluate(t *testing.T) {
	for expression, want := range map[string]float64{
		"6 * 7": 42, "(2+3)*4": 20, "-5 - -3": -2, "0.1 + 0.2": 0.3, "1/3": 1.0 / 3, "1e3": 1000, "2 * (3 + 4) / 7": 2,
	} {
		if got, err := evaluate(expression); err != nil || got != want {
			t.Errorf("evaluate(%q) = %v, %v; want %v", expression, got, err, want)
		}
	}
	for _, expression := range []string{"", "1/0", "1 << 60", "x", `"a"`, "f(1)", "1 +", "1i", "6 * 7; 1", "5 % 2"} {
		if got, err := evaluate(expression); err == nil {
			t.Errorf("evaluate(%q) = %v, want an error", expression, got)
		}
	}
}

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		value    float64
		from, to string
		want     float64
	}{{5, "mile", "kilometer", 8.04672}, {5, "mi", "km", 8.04672}, {100, "celsius", "fahrenheit", 212}, {1, "kilogram", "gram", 1000}} {
		if got, err := convert(c.value, c.from, c.to); err != nil || math.Abs(got-c.want) > 1e-4 {
			t.Errorf("convert(%v, %s, %s) = %v, %v; want %v", c.value, c.from, c.to, got, err, c.want)
		}
	}
	for _, c := range [][2]string{{"mile", "kilogram"}, {"furlongs per fortnight", "km"}, {"km", ""}} {
		if got, err := convert(1, c[0], c[1]); err == nil {
			t.Errorf("convert(1, %q, %q) = %v, want an error", c[0], c[1], got)
		}
	}
}

// TestLiveWorld: the calls that the scripted mind makes get the mock world's answers from the live one.
func TestLiveWorld(t *testing.T) {
	answer := func(factory tooleval.WorldFactory, call tooleval.ToolCall) any {
		world, err := factory.NewWorld(t.Context(), tooleval.WorldSpec{Tools: tools})
		if err != nil {
			t.Fatal(err)
		}
		result, err := world.CallTool(t.Context(), call)
		if err != nil || result.IsError {
			t.Fatalf("%s: %v %s", call.Tool, err, result.Text)
		}
		v, err := tooleval.DecodeValue(result.Structured)
		if err != nil {
			t.Fatal(err)
		}
		return v.(map[string]any)["result"]
	}
	for entry, call := range calls {
		mock, live := answer(mockWorld, call), answer(Suite.LiveWorld, call)
		if !tooleval.Match(tooleval.Near(number64(t, mock), tolerance)).Match(live) {
			t.Errorf("%s: the mock says %v, the live world %v", entry, mock, live)
		}
	}
}

func number64(t *testing.T, v any) float64 {
	f, err := v.(json.Number).Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}
