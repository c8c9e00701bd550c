package baselines

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number is one between minimum and maximum, often a small one, sometimes one that was seen.
func (g *generator) number(s map[string]any, whole bool) any {
	step := bound(s, "multipleOf", 0)
	low, high := bound(s, "minimum", math.Inf(-1)), bound(s, "maximum", math.Inf(1))
	edge := 0.0 // how far an integer stays inside an exclusive bound
	if whole {
		edge = 1
	}
	low = max(low, bound(s, "exclusiveMinimum", math.Inf(-1))+edge)
	high = min(high, bound(s, "exclusiveMaximum", math.Inf(1))-edge)
	if g.r.IntN(4) == 0 && step == 0 {
		for range 3 {
			if len(g.seen.numbers) == 0 {
				break
			}
			n := g.seen.numbers[g.r.IntN(len(g.seen.numbers))]
			if f, err := n.Float64(); err == nil && f >= low && f <= high && (!whole || f == math.Trunc(f)) {
				return n
			}
		}
	}
	switch {
	case math.IsInf(low, -1) && math.IsInf(high, 1):
		low, high = 0, 100
	case math.IsInf(low, -1):
		low = high - 100
	case math.IsInf(high, 1):
		high = low + 100
	}
	var v float64
	switch {
	case step > 0:
		v = math.Ceil(low/step) * step
		if n := math.Floor((high - v) / step); n >= 1 {
			v += float64(g.r.IntN(int(min(n, 1000))+1)) * step
		}
	case whole:
		low, high = math.Ceil(low), math.Floor(high)
		v = min(low+math.Floor(g.r.Float64()*(high-low+1)), high)
	default:
		v = low + g.r.Float64()*(high-low)
		if short := math.Round(v*100) / 100; short > low && short < high {
			v = short
		}
	}
	if math.IsInf(v, 0) || math.IsNaN(v) { // the span is beyond a float64
		v = math.Trunc(low/2 + high/2)
	}
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return json.Number("0")
	}
	format := byte('f')
	if math.Abs(v) >= 1e21 {
		format = 'e'
	}
	return json.Number(strconv.FormatFloat(v, format, -1, 64))
}

// bound is a numeric keyword; the default when it is missing or no number. Beyond float64 it is what that gives.
func bound(s map[string]any, key string, otherwise float64) float64 {
	n, ok := s[key].(json.Number)
	if !ok {
		return otherwise
	}
	f, err := n.Float64()
	if err != nil {
		return otherwise
	}
	return f
}

// text is a string of the wanted length: one of the wanted format, one that was seen, or words.
func (g *generator) text(s map[string]any) string {
	least := int(max(0, min(bound(s, "minLength", 0), mostLetter)))
	most := int(max(float64(least), min(bound(s, "maxLength", mostLetter), mostLetter)))
	if n := len(g.seen.strings); n > 0 && s["format"] == nil && g.r.IntN(3) == 0 {
		v := g.seen.strings[g.r.IntN(n)]
		if l := utf8.RuneCountInString(v); l >= least && l <= most {
			return v
		}
	}
	var v string
	switch s["format"] {
	case "date":
		v = g.date()
	case "date-time":
		v = g.date() + "T" + g.digits(1, 1) + g.digits(1, 9) + ":00:00Z"
	case "time":
		v = "1" + g.digits(1, 9) + ":30:00Z"
	case "email":
		v = g.word() + "@example.com"
	case "uri", "url":
		v = "https://example.com/" + g.word()
	case "uuid":
		v = g.digits(8, 9) + "-" + g.digits(4, 9) + "-4" + g.digits(3, 9) + "-8" + g.digits(3, 9) + "-" + g.digits(12, 9)
	default:
		v = g.words()
	}
	for len(v) < least {
		v += " " + g.word()
	}
	return v[:min(len(v), most)] // all of it is ASCII
}

func (g *generator) date() string {
	return "202" + g.digits(1, 9) + "-0" + strconv.Itoa(1+g.r.IntN(9)) + "-1" + g.digits(1, 9)
}

func (g *generator) digits(n, highest int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + g.r.IntN(highest+1))
	}
	return string(b)
}

var vocabulary = strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike " +
	"november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu 1 7 42 100")

func (g *generator) word() string { return vocabulary[g.r.IntN(len(vocabulary))] }

func (g *generator) words() string {
	s := g.word()
	for range g.r.IntN(3) {
		s += " " + g.word()
	}
	return s
}

// any is a value that no schema describes.
func (g *generator) any(depth int) any {
	kinds := 6
	if depth >= mostDepth || g.budget <= 0 {
		kinds = 4 // nothing that nests
	}
	switch g.r.IntN(kinds) {
	case 0:
		return g.text(nil)
	case 1:
		return g.number(nil, true)
	case 2:
		return g.r.IntN(2) == 0
	case 3:
		return nil
	case 4:
		g.budget--
		return []any{g.any(depth + 1)}
	}
	g.budget--
	return map[string]any{g.word(): g.any(depth + 1)}
}
