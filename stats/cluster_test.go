package stats

import (
	"math"
	"testing"
)

// By hand: mean 0.5, sd √(0.5/3)=0.4082, error 0.2041; t(3) at 95 % is 3.1824 (any table).
func TestClusterMeanByHand(t *testing.T) {
	m := ClusterMean([]float64{0, 0.5, 0.5, 1}, 0.95)
	near(t, "mean", m.Value.Value, 0.5, 1e-15)
	near(t, "error", m.Error.Value, math.Sqrt(0.5/3)/2, 1e-15)
	near(t, "low", m.Interval.Low, 0.5-3.182446305*math.Sqrt(0.5/3)/2, 1e-8)
	if m.N != 4 {
		t.Errorf("n: got %d, want 4", m.N)
	}
}

func TestClusterMeanUndefined(t *testing.T) {
	for name, means := range map[string][]float64{
		"none": nil, "one": {0.5}, "equal": {0.5, 0.5, 0.5}, "nan": {0.5, math.NaN()}, "inf": {math.Inf(1), 1},
	} {
		m := ClusterMean(means, 0.95)
		if m.Error.OK || m.Error.Why == "" || m.Interval.OK || m.Interval.Why == "" {
			t.Errorf("%s: got error %v, interval %v, want neither", name, m.Error, m.Interval)
		}
		if wantValue := name == "one" || name == "equal"; m.Value.OK != wantValue {
			t.Errorf("%s: value %v", name, m.Value)
		}
	}
}

func TestClusterRateEqualMeans(t *testing.T) {
	m := ClusterRate([]float64{1, 1, 1, 1, 1}, 0.95)
	if m.Error.OK || m.Interval.High != 1 || m.Interval.Low >= 0.6 || len(m.Warnings) == 0 {
		t.Errorf("all 1: got %+v, want an interval with a width, no error and a warning", m)
	}
	m = ClusterRate([]float64{0.5, 0.5, 0.5, 0.5}, 0.95)
	near(t, "all 0.5: error", m.Error.Value, 0.25, 1e-15) // √(0.25/4)
	if m := ClusterRate([]float64{0.5, 1.5}, 0.95); m.Value.OK {
		t.Errorf("1.5 is no rate: got %+v", m)
	}
	if m := ClusterRate([]float64{0.5}, 0.95); !m.Value.OK || m.Error.OK || m.Interval.OK {
		t.Errorf("one cluster: got %+v", m)
	}
}
