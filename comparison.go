package tooleval

import "strconv"

// A Comparison counts the expectations in a pattern, and those that were met. Each scalar, matcher, empty list and empty
// object is one expectation, and so is each key or element that should not be there.
type Comparison struct {
	Met, Total int
	Diff       []Difference
}

// OK reports whether every expectation was met.
func (c Comparison) OK() bool { return c.Met == c.Total && len(c.Diff) == 0 }

// A Difference is one place where a value is not as expected.
type Difference struct {
	// Path is the place, as in $.orders[0].status.
	Path string `json:"path"`
	// Want is the expectation there; empty when nothing should be there.
	Want Raw `json:"want,omitempty"`
	// Got is what is there; empty when nothing is.
	Got Raw `json:"got,omitempty"`
	// Why says in words what Want and Got don't show by themselves.
	Why string `json:"why,omitempty"`
}

// String is the difference in one line. It may hold text from outside.
func (d Difference) String() string {
	s := d.Path + ": "
	switch {
	case d.Want == nil:
		s += "unexpected " + clip(string(d.Got))
	case d.Got == nil:
		s += "missing, want " + clip(string(d.Want))
	default:
		s += "want " + clip(string(d.Want)) + ", got " + clip(string(d.Got))
	}
	if d.Why != "" {
		s += " (" + d.Why + ")"
	}
	return s
}

// child is the path of a key in an object.
func child(path, key string) string {
	for i, r := range key {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return path + "[" + strconv.Quote(key) + "]"
		}
	}
	if key == "" {
		return path + `[""]`
	}
	return path + "." + key
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
