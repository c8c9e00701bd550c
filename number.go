package tooleval

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// number is the JSON spelling of a number, Go's own included; NaN and the infinities have none.
func number(v any) (string, bool) {
	switch n := v.(type) {
	case json.Number:
		if n == "" { // as encoding/json reads it
			return "0", true
		}
		return string(n), true
	case float64:
		return float(n, 64)
	case float32:
		return float(float64(n), 32)
	case int:
		return strconv.Itoa(n), true
	case int8:
		return strconv.Itoa(int(n)), true
	case int16:
		return strconv.Itoa(int(n)), true
	case int32:
		return strconv.Itoa(int(n)), true
	case int64:
		return strconv.FormatInt(n, 10), true
	case uint:
		return strconv.FormatUint(uint64(n), 10), true
	case uint8:
		return strconv.Itoa(int(n)), true
	case uint16:
		return strconv.Itoa(int(n)), true
	case uint32:
		return strconv.FormatUint(uint64(n), 10), true
	case uint64:
		return strconv.FormatUint(n, 10), true
	}
	return "", false
}

func float(f float64, bits int) (string, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", false
	}
	return strconv.FormatFloat(f, 'g', -1, bits), true
}

func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	if plainInteger(a) && plainInteger(b) { // the usual case, without allocating
		return false
	}
	return canonicalNumber(a) == canonicalNumber(b)
}

// plainInteger reports whether s is spelt as canonicalNumber would spell it: a short run of digits that is not -0.
func plainInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > 20 || digits[0] == '0' && len(s) > 1 {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// canonicalNumber spells a JSON number as its digits without outer zeros and an exponent, so that equal values have one
// spelling. Nothing is computed with the exponent but a sum, so 1e999999999 costs no more than 1.
func canonicalNumber(s string) string {
	if plainInteger(s) {
		return s
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	mantissa, exponent := s, ""
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa, exponent = s[:i], strings.TrimPrefix(s[i+1:], "+")
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return "0"
	}
	shift := int64(len(digits) - len(trimmed) - len(fraction))
	if exponent != "" {
		e, err := strconv.ParseInt(exponent, 10, 63)
		if err != nil { // beyond 2^62
			return sign + trimmed + "e" + longSum(exponent, shift)
		}
		shift += e
	}
	if shift == 0 || shift > 0 && shift <= 20-int64(len(trimmed)) {
		return sign + trimmed + strings.Repeat("0", int(shift))
	}
	return sign + trimmed + "e" + strconv.FormatInt(shift, 10)
}

// longSum is the decimal sum of an exponent beyond 2^62 and a shift that is far smaller. A big.Int would do, but turning
// a megabyte of digits into one takes minutes.
func longSum(exponent string, shift int64) string {
	sign, digits := "", []byte(exponent)
	if digits[0] == '-' {
		sign, digits, shift = "-", digits[1:], -shift
	}
	for i := len(digits) - 1; i >= 0 && shift != 0; i-- {
		sum := int64(digits[i]-'0') + shift
		digit := (sum%10 + 10) % 10
		digits[i], shift = byte('0'+digit), (sum-digit)/10
	}
	if shift > 0 {
		return sign + strconv.FormatInt(shift, 10) + string(digits)
	}
	return sign + strings.TrimLeft(string(digits), "0")
}

// within reports whether two numbers differ by at most tolerance. It is exact in decimal, so that 0.4 is within 0.1 of
// 0.3 although their float64 difference is larger; only numbers with hundreds of digits are compared as float64.
func within(got, want, tolerance string) bool {
	g, err := strconv.ParseFloat(got, 64)
	if err != nil {
		return false
	}
	w, _ := strconv.ParseFloat(want, 64)
	t, _ := strconv.ParseFloat(tolerance, 64)
	diff := math.Abs(g - w)
	// Each of the four roundings loses at most half a unit in the last place.
	slack := (math.Abs(g) + math.Abs(w) + t) * 0x1p-51
	switch {
	case diff < t-slack:
		return true
	case diff > t+slack:
		return false
	}
	x, okX := exact(got)
	y, okY := exact(want)
	z, okZ := exact(tolerance)
	if !okX || !okY || !okZ {
		return diff <= t
	}
	x.Sub(x, y)
	return x.Abs(x).Cmp(z) <= 0
}

// exact is a number as a fraction; ok is false when its decimal form is too long to compute with.
func exact(s string) (*big.Rat, bool) {
	const most = 400 // a float64 reaches from 1e-324 to 1e308
	if len(s) > most {
		return nil, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(strings.TrimPrefix(s[i+1:], "+")); err != nil || e < -most || e > most {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}
