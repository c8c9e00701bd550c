package tooleval

import (
	"fmt"
	"strings"
)

// DidYouMean is ` (did you mean "x"?)` for the name that is nearest to a misspelt one, or nothing when none is near.
func DidYouMean(name string, names []string) string {
	if n := Nearest(name, names); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	return ""
}

// Nearest is the name with the smallest edit distance to a misspelt one, the first of several; empty when even that one
// shares too little with it (more than half of the longer one's letters differ).
func Nearest(name string, names []string) string {
	best, at := 0, ""
	for _, n := range names {
		d := distance(strings.ToLower(name), strings.ToLower(n))
		if d*2 <= max(len([]rune(name)), len([]rune(n))) && (at == "" || d < best) {
			best, at = d, n
		}
	}
	return at
}

// distance is the Levenshtein distance in runes.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	const most = 200 // names are short; a hostile one is not worth its square
	x, y = x[:min(len(x), most)], y[:min(len(y), most)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}
