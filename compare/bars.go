package compare

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval/stats"
)

// Bars are what an eval has to reach. Rates are exact fractions: 2 of 3 is at least 2/3. A nil field asks for nothing.
type Bars struct {
	// PassRate is the least mean over tasks of the share of runs that passed.
	PassRate *big.Rat
	// PassHatK are the least means over tasks of the chance that K runs all pass.
	PassHatK []KBar
	// Process is the least mean over tasks of the process score.
	Process *big.Rat
	// MaxUnscored is the largest share of planned runs without a verdict, records that are missing included. Up to it such
	// runs are left out. Nil means that every result they might have had has to lead to the same answer.
	MaxUnscored *big.Rat
	// Margin is by how much the pass rate of a task may fall below the baseline's; nil stands for 0.
	Margin *big.Rat
	// Evidence asks of a number that its 95 % interval, and not only its value, lies on the right side of the bar.
	Evidence bool
}

// A KBar is a bar for pass^K.
type KBar struct {
	K    int
	Rate *big.Rat
}

// Empty reports whether nothing is asked for.
func (b *Bars) Empty() bool {
	return b.PassRate == nil && len(b.PassHatK) == 0 && b.Process == nil && b.MaxUnscored == nil
}

// ParseKBar reads K=RATE, such as 3=0.8 or 3=4/5.
func ParseKBar(text string) (KBar, error) {
	k, rate, ok := strings.Cut(text, "=")
	n, err := strconv.Atoi(strings.TrimSpace(k))
	if !ok || err != nil || n < 1 {
		return KBar{}, fmt.Errorf("%q is not K=RATE, such as 3=0.8: at least 4 of 5 times 3 runs all pass", text)
	}
	r, err := stats.ParseRate(strings.TrimSpace(rate))
	if err != nil {
		return KBar{}, err
	}
	return KBar{n, r}, nil
}

// Check reports what is wrong with the bars by themselves; runs is how many runs of each task there are to be, 0 when
// that is not known, and baseline whether there is one.
func (b *Bars) Check(runs int, baseline bool) error {
	var errs []error
	for _, k := range b.PassHatK {
		if runs > 0 && k.K > runs {
			errs = append(errs, fmt.Errorf("pass^%d can't be known from %d runs of each task: give at least %d", k.K, runs, k.K))
		}
	}
	if !baseline && b.Margin != nil {
		errs = append(errs, errors.New("a margin does nothing without a baseline"))
	}
	if baseline && b.Evidence && (b.Margin == nil || b.Margin.Sign() == 0) {
		errs = append(errs, errors.New("evidence that nothing got worse at all can't be had from any number of runs: give a margin above 0"))
	}
	if b.Evidence && b.PassRate == nil && len(b.PassHatK) == 0 && b.Process == nil && !baseline {
		errs = append(errs, errors.New("evidence is asked for, but there is no bar that it could be for"))
	}
	return errors.Join(errs...)
}

// near is how far below a bar a mean of scores still reaches it. Scores are binary fractions: the mean of three times 0.7
// is not seven tenths, and must not fail a bar of 0.7 for that. Pass rates are fractions and need no such thing.
const near = 1e-9

// reaches is the one comparison of a score with a bar.
func reaches(v float64, bar *big.Rat) bool {
	r := new(big.Rat).SetFloat64(v + near)
	return r != nil && r.Cmp(bar) >= 0
}

// rateText is a bar as a person writes it.
func rateText(r *big.Rat) string {
	percent := new(big.Rat).Mul(r, big.NewRat(100, 1))
	for digits := range 4 {
		text := percent.FloatString(digits)
		if back, ok := new(big.Rat).SetString(text); ok && back.Cmp(percent) == 0 {
			return text + " %"
		}
	}
	return r.RatString()
}

// measuredText is a rate that was measured: cut and not rounded, so that it never seems to have reached a bar that it
// hasn't.
func measuredText(r *big.Rat) string {
	thousands := new(big.Rat).Mul(r, big.NewRat(10_000, 1))
	whole := new(big.Int).Quo(thousands.Num(), thousands.Denom())
	text := new(big.Rat).SetFrac(whole, big.NewInt(100)).FloatString(2)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if !thousands.IsInt() {
		text += "…"
	}
	return text + " %"
}

// scoreText is measuredText of a mean of scores.
func scoreText(v float64) string {
	const steps = 10_000
	cut := math.Floor((v + near) * steps)
	r := new(big.Rat).SetFrac64(int64(cut), steps)
	if v-cut/steps > near {
		r.Add(r, big.NewRat(1, 10*steps)) // something was cut off
	}
	return measuredText(r)
}
