package stats

import (
	"fmt"
	"math/big"
	"strings"
)

// maxRateText is how long the text of a rate may be.
const maxRateText = 40

// ParseRate reads a rate as an exact fraction in 0..1: "2/3", "0.9", "90%" or "1". Nothing is rounded, so 0.9 is nine
// tenths and not the nearest binary number.
func ParseRate(text string) (*big.Rat, error) {
	const hint = "write it like 2/3, 0.9 or 90%"
	s := strings.TrimSpace(text)
	if len(s) > maxRateText {
		return nil, fmt.Errorf("rate of %d characters: at most %d are possible; %s", len(s), maxRateText, hint)
	}
	number, percent := strings.CutSuffix(s, "%")
	ok := isDecimal(number)
	if over, under, found := strings.Cut(s, "/"); found {
		ok = isDigits(over) && isDigits(under)
		if ok && strings.Trim(under, "0") == "" {
			return nil, fmt.Errorf("rate %q divides by zero; %s", text, hint)
		}
	}
	if !ok {
		return nil, fmt.Errorf("rate %q is no number; %s", text, hint)
	}
	r, ok := new(big.Rat).SetString(number)
	if !ok {
		return nil, fmt.Errorf("rate %q is no number; %s", text, hint)
	}
	if percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	if r.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, fmt.Errorf("rate %q is more than 1; %s", text, hint)
	}
	return r, nil
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isDecimal takes digits with at most one point, and a digit on each side of it.
func isDecimal(s string) bool {
	whole, part, point := strings.Cut(s, ".")
	return isDigits(whole) && (!point || isDigits(part))
}

// AtLeast reports whether successes of trials is a rate of at least num/den, exactly: 2 of 3 is at least 2/3, and 9 of 10
// is at least 9/10. It is an error to ask without trials, with impossible counts or with a fraction that is not in 0..1.
func AtLeast(successes, trials, num, den int) (bool, error) {
	if den <= 0 || num < 0 || num > den {
		return false, fmt.Errorf("the fraction %d/%d is not in 0..1", num, den)
	}
	return AtLeastRate(successes, trials, big.NewRat(int64(num), int64(den)))
}

// AtLeastRate is [AtLeast] for a fraction such as [ParseRate] gives.
func AtLeastRate(successes, trials int, rate *big.Rat) (bool, error) {
	if why := checkCounts(successes, trials); why != "" {
		return false, fmt.Errorf("compare with a rate: %s", why)
	}
	if rate == nil || rate.Sign() < 0 || rate.Cmp(big.NewRat(1, 1)) > 0 {
		return false, fmt.Errorf("the rate %v is not in 0..1", rate)
	}
	return big.NewRat(int64(successes), int64(trials)).Cmp(rate) >= 0, nil
}
