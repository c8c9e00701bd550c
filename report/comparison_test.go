package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
)

// comparison is a base and a candidate with every kind of task in them.
func comparison(t testing.TB) compare.Comparison {
	t.Helper()
	side := func(id string, tasks ...string) *compare.Side {
		h := header(10)
		h.ID = id
		for _, spec := range tasks {
			name, _, _ := strings.Cut(spec, "=")
			digest := "d"
			if name == "changed" {
				digest = id
			}
			h.Tasks = append(h.Tasks, tooleval.EvalTask{ID: name, Digest: digest})
		}
		g := compare.NewGatherer(h)
		for _, spec := range tasks {
			name, verdicts, _ := strings.Cut(spec, "=")
			for i, c := range verdicts {
				run := passedRun(name, i)
				switch c {
				case 'f':
					run = failedRun(name, i)
					run.Index, run.TaskID = i, name
				case 'u':
					run.Score.Verdict, run.Score.Why = tooleval.Unscored, "429"
				}
				run.Eval = id
				g.Add(run, fmt.Sprint(id, "/", name, i))
			}
		}
		return g.Sides()[0]
	}
	base := side("base", "better=ffffffffff", "worse=pppppppppp", "flaky=pfpfpfpfpf", "same=pppppppppp", "few=p", "unscored=pppppppppp", "changed=pppppppppp", "gone=pppppppppp")
	now := side("now", "better=pppppppppp", "worse=ffffffffff", "flaky=ppffpfppff", "same=pppppppppp", "few=f", "unscored=uuuuuuuuuu", "changed=ffffffffff", "evil \x1b[2K|`<b>\u202e::error::=pf")
	load := func(ref string) (*tooleval.Run, error) {
		if strings.HasSuffix(ref, "0") {
			return passedRun("x", 0), nil
		}
		return failedRun("x", 0), nil
	}
	return compare.Comparison{SchemaVersion: 1, Pairs: []compare.Pair{compare.Compare(base, now, compare.Options{Seed: 1, Load: load, MaxDivergences: 1})}}
}

func gateResult(t testing.TB) compare.Result {
	t.Helper()
	h := header(3, "a")
	h.ID = "now"
	g := compare.NewGatherer(h)
	b := h
	b.ID, b.Tasks = "base", []tooleval.EvalTask{{ID: "a", Digest: "d-a"}, {ID: "gone \x1b[2K]]><x>|\xff", Digest: "d"}}
	base := compare.NewGatherer(b)
	for i, run := range []*tooleval.Run{passedRun("a", 0), passedRun("a", 1), failedRun("a", 2)} {
		run.TaskID, run.Index = "a", i
		g.Add(run, "")
	}
	return compare.Gate(g.Sides(), base.Sides(), compare.Bars{PassRate: big.NewRat(2, 3), MaxUnscored: new(big.Rat), PassHatK: []compare.KBar{{K: 4, Rate: big.NewRat(1, 2)}}})
}

func TestGoldenComparison(t *testing.T) {
	c := comparison(t)
	for _, width := range []int{40, 80, 120} {
		var b bytes.Buffer
		if err := ComparisonTerminal(&b, c, TermOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		golden(t, fmt.Sprintf("comparison-%d.txt", width), b.Bytes())
		for _, l := range strings.Split(b.String(), "\n") {
			if strings.ContainsAny(l, "\x1b\r") || strings.Contains(l, "\u202e") {
				t.Errorf("%q", l)
			}
		}
	}
	var md, js bytes.Buffer
	if err := ComparisonMarkdown(&md, c); err != nil {
		t.Fatal(err)
	}
	golden(t, "comparison.md", md.Bytes())
	if err := ComparisonJSON(&js, c); err != nil || !json.Valid(js.Bytes()) || bytes.Contains(js.Bytes(), []byte("NaN")) {
		t.Errorf("%v", err)
	}
}

func TestGoldenGate(t *testing.T) {
	r := gateResult(t)
	if r.Answer != compare.Fail {
		t.Fatalf("got %s", r.Answer)
	}
	var term, md bytes.Buffer
	if err := GateTerminal(&term, r, TermOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "gate.txt", term.Bytes())
	if err := GateMarkdown(&md, r); err != nil {
		t.Fatal(err)
	}
	golden(t, "gate.md", md.Bytes())
}

// TestJUnit: the document is well-formed whatever is in it, and its counts are those of its cases.
func TestJUnit(t *testing.T) {
	gate := gateResult(t)
	for name, r := range map[string]Report{"calc": calc(Options{}), "troubled": troubled(Options{}), "hostile": hostileReport()} {
		var b bytes.Buffer
		if err := JUnit(&b, r, &gate); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".junit.xml", b.Bytes())
		cases, problems := wellFormed(t, b.Bytes())
		var doc struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Errors   int `xml:"errors,attr"`
			Skipped  int `xml:"skipped,attr"`
		}
		if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Tests != cases || doc.Failures+doc.Errors+doc.Skipped != problems || cases == 0 {
			t.Errorf("%s: %+v, but there are %d cases and %d problems", name, doc, cases, problems)
		}
	}
	var b bytes.Buffer
	if err := JUnitError(&b, "broke \x00\x1b]]>\xff</testsuites>"); err != nil {
		t.Fatal(err)
	}
	if cases, problems := wellFormed(t, b.Bytes()); cases != 1 || problems != 1 {
		t.Errorf("%d cases, %d problems: %s", cases, problems, b.String())
	}
}

func wellFormed(t *testing.T, b []byte) (cases, problems int) {
	t.Helper()
	for _, r := range string(b) {
		if r < 0x20 && r != '\n' || r == 0xFFFE || r == 0xFFFF || r == 0xFFFD {
			t.Fatalf("%U is in the XML", r)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return cases, problems
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "testcase":
				cases++
			case "failure", "error", "skipped":
				problems++
			case "testsuites", "testsuite", "properties", "property":
			default:
				t.Errorf("element %s", e.Name.Local)
			}
		}
	}
}

// TestReplan: where runs are added until something is known, those that were not wanted are not missing, and the interval
// is one that may be looked at on the way.
func TestReplan(t *testing.T) {
	h := header(40, "a")
	h.Options = map[string]string{Until: "0.3"}
	b := NewBuilder(h, Options{})
	for i := range 3 {
		b.Add(passedRun("a", i))
	}
	if got := b.Report().Sections[0].Tasks[0]; got.Missing != 37 || got.PassRate.Interval.Method != "beta_binomial_confidence_sequence" {
		t.Errorf("%d missing, interval by %s", got.Missing, got.PassRate.Interval.Method)
	}
	b.Replan([]tooleval.EvalTask{{ID: "a", Runs: 3}})
	if got := b.Report().Sections[0].Tasks[0]; got.Missing != 0 || got.Planned != 3 {
		t.Errorf("planned %d, %d missing", got.Planned, got.Missing)
	}
}
