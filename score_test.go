package tooleval

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
)

func TestScoreIsNeverNaN(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -0.001, 1.001, -1} {
		s := Scored(v)
		if _, ok := s.Value(); ok || s.IsScored() || s.Why == "" {
			t.Errorf("Scored(%v) = %+v, want unscored with a reason", v, s)
		}
	}
	for _, v := range []float64{0, 1, 0.5, math.SmallestNonzeroFloat64} {
		if got, ok := Scored(v).Value(); !ok || got != v {
			t.Errorf("Scored(%v) = %v, %v", v, got, ok)
		}
	}
	if v, _ := Scored(math.Copysign(0, -1)).Value(); math.Signbit(v) {
		t.Error("a score of -0 keeps its sign")
	}
	if (Score{}).IsScored() {
		t.Error("the zero Score is scored")
	}
	if s := Unscoredf("no key for %s", "judge"); s.IsScored() || s.Why != "no key for judge" {
		t.Errorf("got %+v", s)
	}
}

func TestScoreJSON(t *testing.T) {
	remark := Scored(0.5)
	remark.Why = "half"
	for _, c := range []struct {
		s    Score
		want string
	}{
		{Scored(0), `{"value":0}`},
		{Scored(0.1), `{"value":0.1}`},
		{remark, `{"value":0.5,"why":"half"}`},
		{Score{}, `{"value":null}`},
		{Unscoredf("no <key>"), `{"value":null,"why":"no \u003ckey\u003e"}`},
		{Unscoredf("\xff"), `{"value":null,"why":{"$bytes":"/w=="}}`},
	} {
		b, err := json.Marshal(c.s)
		if err != nil || string(b) != c.want {
			t.Errorf("got %s, %v, want %s", b, err, c.want)
		}
		var back Score
		if err := json.Unmarshal(b, &back); err != nil || back != c.s {
			t.Errorf("%s is read as %+v, %v, want %+v", b, back, err, c.s)
		}
	}
	for in, scored := range map[string]bool{`{}`: false, `null`: false, `{"value":7,"why":"x"}`: false, `{"value":-0.5}`: false, `{"value":1.0}`: true} {
		s := Scored(0.3)
		if err := json.Unmarshal([]byte(in), &s); in != `null` && (err != nil || s.IsScored() != scored) {
			t.Errorf("%s is read as %+v, %v", in, s, err)
		}
	}
	var s Score
	for _, in := range []string{`5`, `{"value":"1"}`, `{"value":true}`, `[]`} {
		if err := json.Unmarshal([]byte(in), &s); err == nil {
			t.Errorf("%s was read as a score", in)
		}
	}
}

func TestProcessComponent(t *testing.T) {
	p := Process{Components: []Component{{Name: "required"}, {Name: "order", Score: Scored(1)}}}
	if c := p.Component("order"); c == nil || !c.Score.IsScored() || c != &p.Components[1] {
		t.Errorf("got %+v", c)
	}
	if p.Component("nope") != nil {
		t.Error("found a component that is not there")
	}
}

func TestBlame(t *testing.T) {
	cause := errors.New("429")
	err := Blame(OwnerInfra, cause)
	if owner, ok := BlamedOn(fmt.Errorf("ask the model: %w", err)); !ok || owner != OwnerInfra {
		t.Errorf("got %v, %v", owner, ok)
	}
	if err.Error() != "429" || !errors.Is(err, cause) {
		t.Errorf("blame changed the error: %v", err)
	}
	// Whoever is nearest to the fault knows best.
	if owner, _ := BlamedOn(Blame(OwnerHarness, fmt.Errorf("run: %w", err))); owner != OwnerInfra {
		t.Errorf("the first owner was replaced by %v", owner)
	}
	if owner, ok := BlamedOn(errors.Join(errors.New("x"), Blamef(OwnerUser, "no key %q", "K"))); !ok || owner != OwnerUser {
		t.Errorf("got %v, %v", owner, ok)
	}
	if Blame(OwnerAgent, nil) != nil {
		t.Error("nil has an owner")
	}
	if _, ok := BlamedOn(cause); ok {
		t.Error("an error without an owner has one")
	}
	if _, ok := BlamedOn(nil); ok {
		t.Error("nil has an owner")
	}
}

func TestCallBefore(t *testing.T) {
	a, b, c := &Call{Began: 0, Ended: 3}, &Call{Began: 1, Ended: 2}, &Call{Began: 4, Ended: 5}
	if !a.Before(c) || c.Before(a) || a.Before(b) || b.Before(a) || a.Before(a) {
		t.Error("calls that overlap are ordered, or those that follow each other are not")
	}
}

func TestMaxMatching(t *testing.T) {
	for _, c := range []struct {
		fits [][]int
		m    int
		want []int
	}{
		{[][]int{{0, 1}, {0}}, 2, []int{1, 0}},
		{[][]int{{0, 1}, {0, 1}}, 2, []int{0, 1}},
		{[][]int{{0}, {0}, {0, 1}}, 2, []int{0, -1, 1}},
		{[][]int{{0, 1, 2}, {0, 1}, {0}}, 3, []int{2, 1, 0}},
		{[][]int{{}, {}}, 2, []int{-1, -1}},
		{nil, 3, []int{}},
		{[][]int{{}}, 0, []int{-1}},
	} {
		got := MaxMatching(len(c.fits), c.m, func(i, j int) bool {
			for _, k := range c.fits[i] {
				if k == j {
					return true
				}
			}
			return false
		})
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: got %v, want %v", c.fits, got, c.want)
		}
	}
}
