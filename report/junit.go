package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
)

// JUnit writes a Report as JUnit XML: a test suite for each mind with a test case for each task, and, where there is a
// gate, a test suite "gate" with a test case for each condition. A task with a failed run is a failure, one without any
// verdict is skipped; a condition that can't be told is an error. Only the gate says what that means for the whole.
//
// Text from outside can't end an element or add one, and what XML can't hold (control characters, bytes that are not
// UTF-8) is shown as something visible.
func JUnit(w io.Writer, r Report, gate *compare.Result) error {
	doc := junitSuites{Name: visible(r.Eval.Suite)}
	for i := range r.Sections {
		doc.Suites = append(doc.Suites, junitSection(&r, &r.Sections[i]))
	}
	if gate != nil {
		doc.Suites = append(doc.Suites, junitGate(gate))
	}
	return writeJUnit(w, doc)
}

func writeJUnit(w io.Writer, doc junitSuites) error {
	for _, s := range doc.Suites {
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Skipped += s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// JUnitError writes JUnit XML for a command that failed before it had a result: one test case in error. A file without a
// test case would look as if all was well.
func JUnitError(w io.Writer, message string) error {
	s := junitSuite{Name: "tooleval"}
	s.add(junitCase{Name: "tooleval", Class: "tooleval", Error: &junitProblem{Message: visible(message), Type: "error"}})
	return writeJUnit(w, junitSuites{Name: "tooleval", Suites: []junitSuite{s}})
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr"`
	Skipped    int              `xml:"skipped,attr"`
	Timestamp  string           `xml:"timestamp,attr,omitempty"`
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	List []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name       string           `xml:"name,attr"`
	Class      string           `xml:"classname,attr"`
	Time       string           `xml:"time,attr,omitempty"`
	Properties *junitProperties `xml:"properties"`
	Failure    *junitProblem    `xml:"failure"`
	Error      *junitProblem    `xml:"error"`
	Skipped    *junitProblem    `xml:"skipped"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// add puts a case into the suite and counts it.
func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

// visible is a text from outside that XML can hold.
func visible[T ~string](s T) string { return plain.Text(plain.Clip(string(s), maxPrinted)) }

func properties(pairs ...string) *junitProperties {
	p := &junitProperties{}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			p.List = append(p.List, junitProperty{pairs[i], pairs[i+1]})
		}
	}
	return p
}

func exactText(e stats.Estimate) string {
	if v, ok := e.Get(); ok {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

func junitSection(r *Report, s *Section) junitSuite {
	name := visible(r.Eval.Suite) + "." + visible(s.Mind)
	out := junitSuite{Name: name, Properties: properties("eval", visible(r.Eval.ID), "world", visible(s.World),
		"seed", strconv.FormatUint(r.Eval.Seed, 10), "runs", strconv.Itoa(r.Eval.Runs), "tooleval", visible(r.Eval.Provenance.Tool),
		"pass_rate", exactText(s.Summary.PassRate.Value), "coverage", exactText(s.Summary.Coverage))}
	if !r.Eval.Started.IsZero() {
		out.Timestamp = r.Eval.Started.UTC().Format("2006-01-02T15:04:05")
	}
	runs := map[string][]*Run{}
	for i := range s.Runs {
		runs[s.Runs[i].TaskID] = append(runs[s.Runs[i].TaskID], &s.Runs[i])
	}
	for i := range s.Tasks {
		out.add(junitTask(&s.Tasks[i], name, runs[s.Tasks[i].ID]))
	}
	return out
}

func junitTask(t *Task, class string, runs []*Run) junitCase {
	c := junitCase{Name: visible(t.ID), Class: class, Properties: properties("planned", strconv.Itoa(t.Planned), "scored", strconv.Itoa(t.Scored),
		"passed", strconv.Itoa(t.Passed), "pass_rate", exactText(t.PassRate.Value), "pass_rate_95", intervalText(t.PassRate.Interval),
		"outcome_mean", exactText(t.Outcome.Mean), "process_mean", exactText(t.Process.Mean), "variance", t.Variance)}
	for _, f := range t.Failures {
		c.Properties.List = append(c.Properties.List, junitProperty{"failure." + visible(f.Category) + "." + visible(f.Owner), strconv.Itoa(f.N)})
	}
	total, known := 0.0, false
	var lines []string
	for _, run := range runs {
		if v, ok := run.WallMS.Get(); ok && v >= 0 {
			total, known = total+v, true
		}
		if run.Verdict != tooleval.Passed && len(lines) < mostLines {
			lines = append(lines, junitRun(run))
		}
	}
	if known {
		c.Time = strconv.FormatFloat(total/1000, 'f', 3, 64)
	}
	problem := &junitProblem{Text: strings.Join(lines, "\n")}
	counts := fmt.Sprintf("passed %d/%d scored, %d unscored of %d planned", t.Passed, t.Scored, t.Planned-t.Scored, t.Planned)
	switch {
	case t.Failed > 0:
		problem.Message, problem.Type = counts, "failed"
		if len(t.Failures) > 0 {
			problem.Type = visible(t.Failures[0].Category)
		}
		c.Failure = problem
	case t.Scored == 0:
		problem.Message = counts + ": " + strings.Join(reasons(t, 3, visible[tooleval.Text]), "; ")
		c.Skipped = problem
	}
	return c
}

func intervalText(iv stats.Interval) string {
	if !iv.OK {
		return ""
	}
	return fmt.Sprintf("%.4f..%.4f", iv.Low, iv.High)
}

// junitRun is a run that did not pass, in a line.
func junitRun(run *Run) string {
	line := fmt.Sprintf("run %d: %s", run.Index+1, run.Verdict)
	switch {
	case run.Failure != nil:
		line += ": " + visible(run.Failure.Category) + " (" + visible(run.Failure.Owner) + "): " + visible(run.Failure.Why)
	case run.Why != "":
		line += ": " + visible(run.Why)
	}
	if run.File != "" {
		line += " [" + visible(run.File) + "]"
	}
	return line
}

func junitGate(g *compare.Result) junitSuite {
	s := junitSuite{Name: "gate", Properties: properties("eval", visible(g.Eval), "baseline", visible(g.Baseline), "answer", string(g.Answer))}
	for _, c := range g.Conditions {
		out := junitCase{Name: visible(c.Name), Class: "gate." + visible(c.Mind), Properties: properties("bar", visible(c.Bar), "measured", visible(c.Measured))}
		var lines []string
		for _, t := range c.Tasks {
			line := visible(t.TaskID)
			if t.Check != "" {
				line += ", check " + visible(t.Check)
			}
			lines = append(lines, line+": "+visible(t.Why))
		}
		p := &junitProblem{Message: visible(c.Why), Type: string(c.Answer), Text: strings.Join(lines, "\n")}
		switch c.Answer {
		case compare.Fail:
			out.Failure = p
		case compare.NotEnough:
			out.Error = p
		}
		s.add(out)
	}
	return s
}
