package report

import (
	"fmt"
	"strconv"

	"github.com/tooleval/tooleval/stats"
)

// PassK is pass^k and pass@k of one k over tasks: each estimated for a task and averaged over the tasks with at least k
// scored runs, whose number is in the means.
type PassK struct {
	K int `json:"k"`
	// Hat is the chance that k runs of a task all pass, At that at least one of them does.
	Hat stats.Mean `json:"pass_hat_k"`
	At  stats.Mean `json:"pass_at_k"`
	// Left counts the tasks that have too few scored runs and are in neither.
	Left int `json:"tasks_left_out"`
}

// passK computes both for k up to 10 and up to the most scored runs of a task.
func passK(tasks []Task) []PassK {
	most := 0
	counts := make([]stats.Count, len(tasks))
	for i := range tasks {
		counts[i] = stats.Count{Successes: tasks[i].Passed, Trials: tasks[i].Scored}
		most = max(most, tasks[i].Scored)
	}
	list := []PassK{}
	for k := 1; k <= min(most, mostK); k++ {
		hat, at := stats.MeanPassHatK(counts, k, level), stats.MeanPassAtK(counts, k, level)
		list = append(list, PassK{K: k, Hat: hat.Mean, At: at.Mean, Left: hat.Skipped})
	}
	return list
}

// allRuns is what the runs say when each counts the same, whatever its task.
func allRuns(tasks []Task) stats.Clusters {
	counts := make([]stats.Count, len(tasks))
	for i := range tasks {
		counts[i] = stats.Count{Successes: tasks[i].Passed, Trials: tasks[i].Scored}
	}
	return stats.ClusterCounts(counts, level)
}

// passK prints the table of pass^k and pass@k, where there is more than one k.
func (p *printer) passK(sum *Summary) {
	rows := sum.comparable()
	if len(rows) < 2 {
		return
	}
	g := grid{headers: []string{"k", "pass^k: all of k runs pass", "pass@k: one of k runs passes", "Tasks"}}
	short := grid{headers: []string{"k", "pass^k", "pass@k", "Tasks"}}
	for _, v := range rows {
		row := []cell{say(strconv.Itoa(v.K)), say(withError(&v.Hat)), say(withError(&v.At)), say(strconv.Itoa(v.Hat.N))}
		g.rows = append(g.rows, row)
		short.rows = append(short.rows, row)
	}
	p.table(g, short)
}

// comparable are the ks for which every task that has a scored run has enough of them: over fewer tasks the mean is of
// something else, and the row would look like a drop. One task needs no mean.
func (s *Summary) comparable() []PassK {
	var rows []PassK
	for _, v := range s.PassK {
		if v.Hat.N < 2 || v.Hat.N < s.TasksScored {
			break
		}
		rows = append(rows, v)
	}
	return rows
}

func (m *markdown) passK(sum *Summary, mind string) {
	rows := sum.comparable()
	if len(rows) < 2 {
		return
	}
	m.printf("## pass^k and pass@k · %s\n\n", escape(mind))
	m.table("k", "pass^k: all of k runs pass", "pass@k: one of k runs passes", "Tasks")
	for _, v := range rows {
		m.row(strconv.Itoa(v.K), lessThan(withError(&v.Hat)), lessThan(withError(&v.At)), strconv.Itoa(v.Hat.N))
	}
	m.printf("\n")
	if text := unclustered(sum); text != "" {
		m.printf("All runs: %s.\n\n", lessThan(text))
	}
}

// withError is a mean with its standard error: 0.420 ± 0.052.
func withError(m *stats.Mean) string {
	v, ok := m.Value.Get()
	if !ok {
		return notComputed
	}
	text := decimal3(v)
	if e, ok := m.Error.Get(); ok {
		text += " ± " + decimal3(e)
	}
	return text
}

// unclustered says what the error would be if runs were independent of one another, which those of one task are not; empty
// when it can't be told.
func unclustered(sum *Summary) string {
	e, ok := sum.Runs.Unclustered.Get()
	if !ok || len(sum.comparable()) < 2 {
		return ""
	}
	iv := stats.Wilson(sum.Passed, sum.Scored, level)
	text := fmt.Sprintf("%d of %d, standard error %s and 95 %% interval %s if they were independent", sum.Passed, sum.Scored, decimal4(e), ends(iv))
	if d, ok := sum.Runs.DesignEffect.Get(); ok {
		text += fmt.Sprintf("; design effect %.1f", d)
	}
	return text
}

// decimal4 is a small error with 4 decimals.
func decimal4(v float64) string { return honest(v, 4) }
