package tooleval_test

import (
	"testing"

	"github.com/tooleval/tooleval"
)

// TestS01ListOrder: the order of a list counts unless the expectation says otherwise, and a difference names its path.
func TestS01ListOrder(t *testing.T) {
	paid := func(first, second string) any {
		v, err := tooleval.DecodeValue([]byte(`{"payments":[` + first + `,` + second + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	a, b := `{"id":"g1","amount":198}`, `{"id":"g2","amount":129}`
	elements := []any{map[string]any{"id": "g1", "amount": 198}, map[string]any{"id": "g2", "amount": 129}}
	ordered := tooleval.Match(map[string]any{"payments": elements})
	loose := tooleval.Match(map[string]any{"payments": tooleval.Unordered(elements...)})

	if !ordered.Match(paid(a, b)) || ordered.Match(paid(b, a)) {
		t.Error("an ordered list takes its own order and no other")
	}
	if !loose.Match(paid(a, b)) || !loose.Match(paid(b, a)) {
		t.Error("an unordered list takes every order")
	}
	if loose.Match(paid(a, a)) {
		t.Error("an unordered list is no set: one element can't stand for two")
	}
	if c := ordered.Compare(paid(b, a)); len(c.Diff) == 0 || c.Diff[0].Path != "$.payments[0].amount" {
		t.Errorf("got the difference %v, want one at $.payments[0].amount", c.Diff)
	}
}
