package stats

import (
	"encoding/json"
	"fmt"
	"math"
)

// An Estimate is a finite number, or the reason why there is none. The zero Estimate is not a number.
type Estimate struct {
	// Value means something only when OK.
	Value float64
	OK    bool
	// Why says why there is no number; empty when OK.
	Why string
}

// Number is the estimate v; one without a value, with the reason, when v is NaN or infinite.
func Number(v float64) Estimate {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Undefined("the result is %v, not a finite number", v)
	}
	return Estimate{Value: v, OK: true}
}

// Undefined is no number, with the reason.
func Undefined(format string, args ...any) Estimate {
	return Estimate{Why: fmt.Sprintf(format, args...)}
}

// Get is the number; ok is false when there is none. An Estimate that was put together by hand around NaN or an
// infinity has none.
func (e Estimate) Get() (v float64, ok bool) {
	if !e.OK || math.IsNaN(e.Value) || math.IsInf(e.Value, 0) {
		return 0, false
	}
	return e.Value, true
}

// String is the number in full, or "undefined: " and the reason.
func (e Estimate) String() string {
	if v, ok := e.Get(); ok {
		return fmt.Sprint(v)
	}
	return "undefined: " + e.reason()
}

func (e Estimate) reason() string {
	switch {
	case e.Why != "":
		return e.Why
	case e.OK:
		return fmt.Sprintf("the value is %v, not a finite number", e.Value)
	}
	return "no reason was given"
}

type estimateJSON struct {
	Value *float64 `json:"value"`
	Why   string   `json:"why,omitempty"`
}

// MarshalJSON writes {"value": number} or {"value": null, "why": reason}.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if v, ok := e.Get(); ok {
		return json.Marshal(estimateJSON{Value: &v})
	}
	return json.Marshal(estimateJSON{Why: e.reason()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(b []byte) error {
	var j estimateJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*e = Estimate{Why: j.Why}
	if j.Value != nil {
		*e = Number(*j.Value)
	}
	return nil
}

// maxTrials is where float64 stops telling whole numbers apart.
const maxTrials = 1 << 53

// checkCounts is the reason why successes of trials can't be; empty when they can.
func checkCounts(successes, trials int) string {
	switch {
	case trials < 0:
		return fmt.Sprintf("%d trials are impossible", trials)
	case successes < 0:
		return fmt.Sprintf("%d successes are impossible", successes)
	case successes > trials:
		return fmt.Sprintf("%d successes of %d trials are impossible", successes, trials)
	case trials == 0:
		return "there are no trials"
	case trials > maxTrials:
		return fmt.Sprintf("%d trials are more than can be counted exactly", trials)
	}
	return ""
}

// checkLevel is the reason why level is no level of confidence; empty when it is one.
func checkLevel(level float64) string {
	if !(level > 0 && level < 1) {
		return fmt.Sprintf("the level %v is not between 0 and 1", level)
	}
	return ""
}

// checkFinite is the reason why values can't be computed with; empty when they can.
func checkFinite(values []float64) string {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("value %d is %v, not a finite number", i, v)
		}
	}
	return ""
}

// firstReason is the first that is not empty.
func firstReason(reasons ...string) string {
	for _, r := range reasons {
		if r != "" {
			return r
		}
	}
	return ""
}
