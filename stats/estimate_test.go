package stats

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestEstimateJSON(t *testing.T) {
	for _, c := range []struct {
		e    Estimate
		want string
	}{
		{Number(0), `{"value":0}`},
		{Undefined("no %s", "trials"), `{"value":null,"why":"no trials"}`},
		{Estimate{}, `{"value":null,"why":"no reason was given"}`},
		{Number(math.NaN()), `{"value":null,"why":"the result is NaN, not a finite number"}`},
		{Estimate{Value: math.Inf(1), OK: true}, `{"value":null,"why":"the value is +Inf, not a finite number"}`},
	} {
		b, err := json.Marshal(c.e)
		if err != nil || string(b) != c.want {
			t.Errorf("got %s %v, want %s", b, err, c.want)
		}
		var back Estimate
		if err := json.Unmarshal(b, &back); err != nil || back.OK != (c.e == Number(0)) {
			t.Errorf("read back %s: %+v %v", b, back, err)
		}
	}
}

// Every result can be written whatever went in, has no NaN in it, and intervals come back as they were.
func TestT02ResultsAreAlwaysJSON(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := [][]float64{nil, {}, {nan}, {inf, 1}, {1, nan, 0.5}, {math.MaxFloat64, -math.MaxFloat64}, {0.5, 0.5}, {1}, {0, 1}}
	var results []any
	for _, v := range bad {
		for _, level := range []float64{0.95, nan, inf, -1, 0} {
			results = append(results, ClusterMean(v, level), ClusterRate(v, level), ClusterValues([][]float64{v, {1}}, level),
				Compare(v, v, CompareOptions{Level: level, Resamples: 99}), BootstrapMean(v, BootstrapOptions{Level: level, BCa: true}),
				NonInferiorityTest(v, v, level, 0.95), NonInferiorityTest(v, v, 0.1, level), Wilson(1, 2, level))
		}
	}
	for _, n := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
		results = append(results, MeanPassAtK([]Count{{1, n}, {n, 1}}, n, 0.95), ClusterCounts([]Count{{n, n}, {1, n}}, 0.95),
			McNemarTest(n, n), Kappa([][]int{{n, 1}, {1, n}}, nan), CorrectedRate(n, n, Confusion{n, n, n, n}, nan),
			CompareRates(Count{n, n}, Count{1, 1}, nan), MinimalDifference(Design{Clusters: n, Repeats: n, Rate: nan}),
			StopRule{Target: nan}.Decide(n, n), ConfidenceSequence(n, n, nan), Kappa(nil, 0.95), Kappa([][]int{{1}, nil}, 0.95))
	}
	results = append(results, AdjustHolm([]Estimate{{}, Number(2), Number(-1), {Value: nan, OK: true}}))
	for i, r := range results {
		b, err := json.Marshal(r)
		if err != nil {
			t.Errorf("result %d, %T %+v: %v", i, r, r, err)
		}
		if strings.Contains(string(b), "NaN,") && strings.Contains(string(b), `:NaN`) {
			t.Errorf("result %d: %s", i, b)
		}
	}
	iv := Wilson(8, 10, 0.95)
	b, _ := json.Marshal(iv)
	var back Interval
	if err := json.Unmarshal(b, &back); err != nil || back.Low != iv.Low || back.High != iv.High || !back.OK || back.N != 10 {
		t.Errorf("%s came back as %+v, %v", b, back, err)
	}
}
