package matching

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/tooleval/tooleval"
)

// beyond are the places where v has something that all does not have: another value, or a key that is not there. Keys that
// v lacks are none. Lists have the same length, and their elements are compared one by one.
func beyond(path string, all, v any) []tooleval.Difference {
	var diff []tooleval.Difference
	switch x := v.(type) {
	case map[string]any:
		if y, ok := all.(map[string]any); ok {
			for _, k := range sortedKeys(x) {
				at := child(path, k)
				if want, there := y[k]; there {
					diff = append(diff, beyond(at, want, x[k])...)
				} else {
					diff = append(diff, tooleval.Difference{Path: at, Got: raw(x[k])})
				}
			}
			return diff
		}
	case []any:
		if y, ok := all.([]any); ok && len(x) == len(y) {
			for i := range x {
				diff = append(diff, beyond(path+"["+strconv.Itoa(i)+"]", y[i], x[i])...)
			}
			return diff
		}
	}
	if !tooleval.Equal(all, v) {
		diff = append(diff, tooleval.Difference{Path: path, Want: raw(all), Got: raw(v)})
	}
	return diff
}

func raw(v any) tooleval.Raw {
	b, err := json.Marshal(v)
	if err != nil { // what DecodeValue gives has a JSON form
		return tooleval.Raw("null")
	}
	return b
}

var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// child is the path of a key, as the root package writes it.
func child(path, key string) string {
	if plainKey.MatchString(key) {
		return path + "." + key
	}
	return path + "[" + strconv.Quote(key) + "]"
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
