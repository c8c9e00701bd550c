package report

import (
	"fmt"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/stats"
)

// Faults says how the runs coped with faults that were made on purpose.
type Faults struct {
	// Runs is the number of runs with a record whose task had faults, Calls that of the calls that one befell.
	Runs  int `json:"runs"`
	Calls int `json:"calls"`
	// Recovered is the pass rate of the scored runs in which at least one fault landed, Without that of the scored runs in
	// which none did, over the same eval. Over one task the interval is Wilson's, over several it respects the tasks.
	Recovered Rate `json:"recovered"`
	Without   Rate `json:"without"`
	// Unscored counts the runs in which a fault landed and that have no verdict.
	Unscored int `json:"unscored"`
	// Undelivered are the faults that were to befall a run and befell none of its calls; they are in no other number. Those
	// with a probability are not among them.
	Undelivered []Count `json:"undelivered,omitempty"`
}

// faultRow gathers what the runs of one task say about faults.
type faultRow struct {
	runs, calls, unscored int
	with, without         stats.Count
	undelivered           tally[tooleval.Text]
}

func (f *faultRow) add(run *tooleval.Run) {
	if len(run.Task.Faults) > 0 {
		f.runs++
	}
	landed := run.LandedFaults()
	f.calls += landed
	for _, label := range run.UndeliveredFaults() {
		f.undelivered.add(short(tooleval.Text(label)))
	}
	group := &f.without
	if landed > 0 {
		group = &f.with
	}
	switch run.Score.Verdict {
	case tooleval.Passed:
		group.Successes++
		group.Trials++
	case tooleval.Failed:
		group.Trials++
	default:
		if landed > 0 {
			f.unscored++
		}
	}
}

// faults is what the runs of a mind say; nil when there were no faults.
func (s *section) faults() *Faults {
	out := &Faults{}
	var with, without []stats.Count
	var undelivered tally[tooleval.Text]
	for _, r := range s.rows {
		f := &r.faults
		out.Runs += f.runs
		out.Calls += f.calls
		out.Unscored += f.unscored
		with, without = append(with, f.with), append(without, f.without)
		for _, label := range f.undelivered.order {
			for range f.undelivered.n[label] {
				undelivered.add(label)
			}
		}
		undelivered.rest += f.undelivered.rest
	}
	if out.Runs == 0 && out.Calls == 0 {
		return nil
	}
	out.Recovered, out.Without = rateOf(with, "a fault landed in no scored run"), rateOf(without, "a fault landed in every scored run")
	out.Undelivered = counts(&undelivered)
	return out
}

// rateOf is the pass rate of the runs of several tasks.
func rateOf(tasks []stats.Count, none string) Rate {
	r, k := Rate{}, 0
	for _, c := range tasks {
		r.Passed += c.Successes
		r.N += c.Trials
		if c.Trials > 0 {
			k++
		}
	}
	r.Value, r.Interval = share(r.Passed, r.N), stats.Wilson(r.Passed, r.N, level)
	if r.N == 0 {
		r.Value = stats.Undefined("%s", none)
	}
	if k > 1 {
		r.Interval = stats.ClusterCounts(tasks, level).Pooled.Interval
	}
	return r
}

// undelivered is the number of faults that landed nowhere.
func (f *Faults) undelivered() int {
	n := 0
	for _, c := range f.Undelivered {
		n += c.N
	}
	return n
}

// faultLines are the faults in words; what is from outside is made safe by the argument.
func faultLines(f *Faults, safe func(tooleval.Text) string) []string {
	rate := func(r *Rate) string {
		v, ok := r.Value.Get()
		if !ok {
			return notComputed + ": " + r.Value.Why
		}
		return fmt.Sprintf("%d/%d %s [%s]", r.Passed, r.N, percent(v), ends(r.Interval))
	}
	first := fmt.Sprintf("recovery rate %s over the runs in which a fault landed (%s)", rate(&f.Recovered), plural(f.Calls, "call"))
	if f.Unscored > 0 {
		first += fmt.Sprintf("; %d more unscored", f.Unscored)
	}
	lines := []string{first, "without a landed fault: pass rate " + rate(&f.Without)}
	if n := f.undelivered(); n > 0 {
		verb := "are"
		if n == 1 {
			verb = "is"
		}
		text := fmt.Sprintf("%s never landed and %s not counted:", plural(n, "fault"), verb)
		for i, c := range f.Undelivered {
			if i == mostNotes {
				text += " …"
				break
			}
			if i > 0 {
				text += ";"
			}
			text += fmt.Sprintf(" %d × %s", c.N, safe(c.What))
		}
		lines = append(lines, text)
	}
	return lines
}
