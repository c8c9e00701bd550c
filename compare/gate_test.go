package compare_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/compare"
	"github.com/tooleval/tooleval/stats"
)

func rat(t testing.TB, text string) *big.Rat {
	t.Helper()
	r, err := stats.ParseRate(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func kbar(t testing.TB, text string) []compare.KBar {
	t.Helper()
	k, err := compare.ParseKBar(text)
	if err != nil {
		t.Fatal(err)
	}
	return []compare.KBar{k}
}

// TestR01Gate is the table of docs/how-to/gate-in-ci.md: when a gate passes, fails, or can't tell.
func TestR01Gate(t *testing.T) {
	r := func(text string) *big.Rat { return rat(t, text) }
	hundred := func(bad int, c string) string { return "A=" + strings.Repeat(c, bad) + strings.Repeat("p", 100-bad) }
	for _, c := range []struct {
		name  string
		tasks []string
		bars  compare.Bars
		want  compare.Answer
		why   string
	}{
		{"all fail", []string{"A=fff", "B=fff"}, compare.Bars{PassRate: r("0.9")}, compare.Fail, "0 % is below 90 %"},
		{"1 of 100 fails", []string{hundred(1, "f")}, compare.Bars{PassRate: r("0.9")}, compare.Pass, "99 % is at least 90 %"},
		{"exactly the bar", []string{hundred(10, "f")}, compare.Bars{PassRate: r("90%")}, compare.Pass, "90 % is at least 90 %"},
		{"just below", []string{hundred(11, "f")}, compare.Bars{PassRate: r("0.9")}, compare.Fail, "89 % is below 90 %"},
		{"two thirds", []string{"A=ppf"}, compare.Bars{PassRate: r("2/3")}, compare.Pass, "66.66… % is at least 2/3"},
		{"two thirds of three tasks", []string{"A=p", "B=p", "C=f"}, compare.Bars{PassRate: r("2/3")}, compare.Pass, ""},
		{"just above two thirds", []string{"A=ppf"}, compare.Bars{PassRate: r("66.67%")}, compare.Fail, ""},
		{"the task is the unit", []string{"A=pppppppp", "B=f       "}, compare.Bars{PassRate: r("0.6"), MaxUnscored: r("0.5")}, compare.Fail, "50 % is below 60 %"},
		{"infra only", []string{"A=uuu"}, compare.Bars{PassRate: r("0.9")}, compare.NotEnough, "fewer than 1 scored"},
		{"no run at all", []string{"A=   "}, compare.Bars{PassRate: r("0.9")}, compare.NotEnough, "fewer than 1 scored"},
		{"no task", nil, compare.Bars{PassRate: r("0.9")}, compare.NotEnough, "no task"},
		{"unscored can't save it", []string{"A=fffu"}, compare.Bars{PassRate: r("0.5")}, compare.Fail, "25 % even if every run without a verdict had passed"},
		{"unscored can't spoil it", []string{"A=pppu"}, compare.Bars{PassRate: r("0.75")}, compare.Pass, "75 % even if every run without a verdict had failed"},
		{"unscored decides", []string{"A=pppu"}, compare.Bars{PassRate: r("0.9")}, compare.NotEnough, "1 of 4 planned runs have no verdict"},
		{"missing decides", []string{"A=ppp "}, compare.Bars{PassRate: r("0.9")}, compare.NotEnough, "1 of 4 planned runs have no verdict"},
		{"unscored within the limit", []string{"A=pppu"}, compare.Bars{PassRate: r("0.9"), MaxUnscored: r("1/4")}, compare.Pass, ""},
		{"J09 unscored over the limit", []string{"A=puuuuuuuuu"}, compare.Bars{PassRate: r("0.05"), MaxUnscored: r("0.2")}, compare.NotEnough, "9 of 10 planned runs have no verdict, more than 20 %"},
		{"failed whatever the unscored are", []string{"A=fffffuuuuu"}, compare.Bars{PassRate: r("0.9"), MaxUnscored: r("0.2")}, compare.Fail, "50 % even if"},
		{"T05 one survivor", []string{"A=puuu", "B=uuuu", "C=uuuu", "D=uuuu", "E=uuuu"}, compare.Bars{PassRate: r("0.5"), MaxUnscored: r("0.95")}, compare.NotEnough, "4 of 5 tasks"},
		{"only unscored", []string{"A=ppppu"}, compare.Bars{MaxUnscored: r("0.2")}, compare.Pass, "1 of 5"},
		{"pass^k", []string{"A=pppf"}, compare.Bars{PassHatK: kbar(t, "2=1/2")}, compare.Pass, "50 % is at least 50 %"},
		{"pass^k below", []string{"A=pppf"}, compare.Bars{PassHatK: kbar(t, "3=1/2")}, compare.Fail, "25 % is below"},
		{"too few runs for pass^k", []string{"A=ppp", "B=pp "}, compare.Bars{PassHatK: kbar(t, "4=0.1"), MaxUnscored: r("1")}, compare.NotEnough, "fewer than 4 scored runs"},
		{"process at the bar", []string{"A=ppp", "B=ppp", "C=ppp"}, compare.Bars{Process: r("0.7")}, compare.Pass, "70 % is at least 70 %"},
		{"process below", []string{"A=ppp"}, compare.Bars{Process: r("0.7001")}, compare.Fail, "is below 70.01 %"},
		{"evidence: too few to tell", []string{"A=ppppp"}, compare.Bars{PassRate: r("0.9"), Evidence: true}, compare.NotEnough, "both sides of 90 %"},
		{"evidence: enough", []string{hundred(0, "f")}, compare.Bars{PassRate: r("0.9"), Evidence: true}, compare.Pass, "all of it at least"},
		{"evidence: shown to be below", []string{hundred(60, "f")}, compare.Bars{PassRate: r("0.9"), Evidence: true}, compare.Fail, "all of it below"},
		{"fail beats not enough", []string{"A=ffu"}, compare.Bars{PassRate: r("0.9"), PassHatK: kbar(t, "3=0")}, compare.Fail, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			runs := 0
			for _, s := range c.tasks {
				runs = max(runs, len(s)-2)
			}
			got := compare.Gate(evalOf{id: "e", tasks: c.tasks, runs: runs}.sides(t), nil, c.bars)
			text := strings.Join(got.Explain(), "\n")
			if got.Answer != c.want || !strings.Contains(text, c.why) {
				t.Errorf("got %s:\n%s\nwant %s with %q", got.Answer, text, c.want, c.why)
			}
			if _, err := json.Marshal(got); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestR04Baseline: no task may regress, and none may vanish.
func TestR04Baseline(t *testing.T) {
	for _, c := range []struct {
		name      string
		base, now []string
		margin    string
		evidence  bool
		digests   map[string]string
		want      compare.Answer
		why       string
	}{
		{name: "equal", base: []string{"A=pppp", "B=pffp"}, now: []string{"A=pppp", "B=fppf"}, want: compare.Pass, why: "none of 2 tasks fell"},
		{name: "better", base: []string{"A=ffff"}, now: []string{"A=pppp"}, want: compare.Pass},
		{name: "fell", base: []string{"A=pppp", "B=pppp"}, now: []string{"A=pppp", "B=pppf"}, want: compare.Fail, why: "B: 4 of 4 passed before, 3 of 4 now: -25 points"},
		{name: "fell within the margin", base: []string{"A=pppp"}, now: []string{"A=pppf"}, margin: "1/4", want: compare.Pass},
		{name: "fell by a third exactly", base: []string{"A=ppp"}, now: []string{"A=ppf"}, margin: "1/3", want: compare.Pass},
		{name: "the mean hides nothing", base: []string{"A=pppp", "B=ffff"}, now: []string{"A=ffff", "B=pppp"}, want: compare.Fail},
		{name: "vanished", base: []string{"A=pppp", "B=pppp", "C=pppp"}, now: []string{"A=pppp", "B=pppp", "D=pppp"}, want: compare.Fail, why: "C: it vanished"},
		{name: "vanished, though it never passed", base: []string{"A=pp", "C=ff"}, now: []string{"A=pp"}, want: compare.Fail},
		{name: "unmeasured now", base: []string{"A=pp", "C=pp"}, now: []string{"A=pp", "C=uu"}, want: compare.NotEnough, why: "C: no run of this eval is scored"},
		{name: "unmeasured then", base: []string{"A=pp", "C=uu"}, now: []string{"A=pp", "C=pp"}, want: compare.NotEnough, why: "C: no run of the baseline is scored"},
		{name: "changed", base: []string{"A=pp"}, now: []string{"A=pp"}, digests: map[string]string{"A": "x"}, want: compare.NotEnough, why: "definition has changed"},
		{name: "R05 single runs", base: []string{"A=p"}, now: []string{"A=f"}, want: compare.NotEnough, why: "can't tell a fall from chance"},
		{name: "an unscored run decides", base: []string{"A=pppp"}, now: []string{"A=pppu"}, want: compare.NotEnough, why: "1 have no verdict"},
		{name: "empty baseline", base: nil, now: []string{"A=pp"}, want: compare.NotEnough, why: "no task"},
		{name: "evidence: noise", base: []string{"A=pppf", "B=pppf", "C=pppp"}, now: []string{"A=ppff", "B=pppp", "C=pppf"}, margin: "0.05", evidence: true, want: compare.NotEnough},
		{name: "evidence: a task fell", base: []string{"A=pppppppppp", "B=pppppppppp"}, now: []string{"A=ffffffffff", "B=pppppppppp"}, margin: "0.05", evidence: true, want: compare.Fail, why: "is shown"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bars := compare.Bars{Evidence: c.evidence}
			if c.margin != "" {
				bars.Margin = rat(t, c.margin)
			}
			got := compare.Gate(evalOf{id: "now", tasks: c.now, digests: c.digests}.sides(t), evalOf{id: "base", tasks: c.base}.sides(t), bars)
			text := strings.Join(got.Explain(), "\n")
			if got.Answer != c.want || !strings.Contains(text, c.why) {
				t.Errorf("got %s:\n%s\nwant %s with %q", got.Answer, text, c.want, c.why)
			}
		})
	}
}

// TestR05EvidencePasses: with enough unchanged tasks a fall by more than the margin is ruled out.
func TestR05EvidencePasses(t *testing.T) {
	var tasks []string
	for i := range 60 {
		tasks = append(tasks, fmt.Sprintf("t%d=pp", i))
	}
	got := compare.Gate(evalOf{id: "now", tasks: tasks}.sides(t), evalOf{id: "base", tasks: tasks}.sides(t), compare.Bars{Evidence: true, Margin: rat(t, "0.05")})
	if got.Answer != compare.Pass {
		t.Errorf("got %s: %q", got.Answer, got.Explain())
	}
}

// TestR04GateSeesChecks: a check that breaks fails the gate although the task's rate is as it was; one that counts for
// nothing doesn't.
func TestR04GateSeesChecks(t *testing.T) {
	for _, c := range []struct {
		then, now bool // whether they count for nothing
		want      compare.Answer
	}{{false, false, compare.Fail}, {true, true, compare.Pass}, {true, false, compare.Pass}, {false, true, compare.Pass}} {
		checks := func(broken string, info bool) func(*tooleval.Run) {
			return func(r *tooleval.Run) {
				for _, name := range []string{"alpha", "beta"} {
					v := tooleval.Passed
					if name == broken {
						v = tooleval.Failed
					}
					r.Score.Outcome.Checks = append(r.Score.Outcome.Checks, tooleval.Check{Name: name, Verdict: v, Info: info})
				}
			}
		}
		base := evalOf{id: "base", tasks: []string{"A=ffff"}, change: checks("alpha", c.then)}
		now := evalOf{id: "now", tasks: []string{"A=ffff"}, change: checks("beta", c.now)}
		got := compare.Gate(now.sides(t), base.sides(t), compare.Bars{})
		if got.Answer != c.want {
			t.Errorf("%+v: got %s: %q", c, got.Answer, got.Explain())
		}
	}
}

// TestGateExplainIsSafe: the names of tasks can't print escape sequences.
func TestGateExplainIsSafe(t *testing.T) {
	got := compare.Gate(evalOf{id: "now", tasks: []string{"A=pp"}}.sides(t), evalOf{id: "b\x1b[2K", tasks: []string{"x\x1b[2K\r\nPASS=pp"}}.sides(t), compare.Bars{})
	if text := strings.Join(got.Explain(), ""); strings.ContainsAny(text, "\x1b\r\n") {
		t.Errorf("%q", text)
	}
}

func TestParseKBar(t *testing.T) {
	for _, bad := range []string{"", "3", "=0.5", "0=0.5", "-1=0.5", "x=0.5", "3=", "3=1.5", "3=-1", "3=0.5=0.5"} {
		if k, err := compare.ParseKBar(bad); err == nil {
			t.Errorf("%q became %v", bad, k)
		}
	}
	if k, err := compare.ParseKBar("3=4/5"); err != nil || k.K != 3 || k.Rate.Cmp(big.NewRat(4, 5)) != 0 {
		t.Errorf("got %v, %v", k, err)
	}
}

func TestBarsCheck(t *testing.T) {
	for _, c := range []struct {
		bars     compare.Bars
		runs     int
		baseline bool
		want     string
	}{
		{compare.Bars{PassRate: rat(t, "1")}, 5, false, ""},
		{compare.Bars{PassHatK: kbar(t, "3=1")}, 2, false, "give at least 3"},
		{compare.Bars{PassHatK: kbar(t, "3=1")}, 0, false, ""},
		{compare.Bars{Margin: rat(t, "0.1")}, 5, false, "without a baseline"},
		{compare.Bars{Evidence: true}, 5, true, "margin above 0"},
		{compare.Bars{Evidence: true}, 5, false, "no bar"},
		{compare.Bars{Evidence: true, Margin: rat(t, "0.1")}, 5, true, ""},
	} {
		err := c.bars.Check(c.runs, c.baseline)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.bars, err, c.want)
		}
	}
}

// TestT13RetriesAreSaid: runs that were tried again are counted once, and the gate says how many there are.
func TestT13RetriesAreSaid(t *testing.T) {
	retried := func(r *tooleval.Run) { r.Provenance.Attempts = r.Index % 2 }
	got := compare.Gate(evalOf{id: "e", tasks: []string{"A=pppp"}, change: retried}.sides(t), nil, compare.Bars{PassRate: rat(t, "1")})
	if text := strings.Join(got.Explain(), "\n"); got.Answer != compare.Pass || !strings.Contains(text, "warning: m: 2 of 4 runs took more than one attempt") {
		t.Errorf("%s: %s", got.Answer, text)
	}
}
