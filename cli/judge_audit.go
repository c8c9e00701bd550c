package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/scorers/judge"
	"github.com/tooleval/tooleval/stats"
)

// A judgeAudit says how far a judge agrees with people, and what that means; it is what --format json prints. A pass is
// the positive verdict, and people are right by definition.
type judgeAudit struct {
	SchemaVersion int      `json:"schema_version"`
	Labels        string   `json:"labels"`
	Stored        bool     `json:"stored"`
	Judges        []string `json:"judges"`
	Rubrics       []string `json:"rubrics"`
	// Labelled are the labelled runs, of which Judged have a verdict of the judge and Unscored have none.
	Labelled int             `json:"labelled"`
	Judged   int             `json:"judged"`
	Unscored []unscoredCount `json:"unscored"`

	Confusion   stats.Confusion `json:"confusion"`
	Agreement   stats.Agreement `json:"agreement"`
	Sensitivity stats.Mean      `json:"sensitivity"`
	Specificity stats.Mean      `json:"specificity"`
	// Consistency is nil when the judge was asked once.
	Consistency *consistency `json:"self_consistency"`

	// Observed is the judge's pass rate over all runs of Evals, and Corrected the true one behind it.
	Evals        []string   `json:"evals"`
	EvalUnscored int        `json:"eval_unscored"`
	Observed     stats.Mean `json:"observed_pass_rate"`
	Corrected    stats.Mean `json:"corrected_pass_rate"`

	Disagreements []disagreement `json:"disagreements"`
	Warnings      []string       `json:"warnings"`
}

type unscoredCount struct {
	Why  string `json:"why"`
	Runs int    `json:"runs"`
}

// A consistency says whether a judge that is asked several times about one run says the same. No verdict is an answer of
// its own.
type consistency struct {
	// Asked is how often it was asked about a run, at most.
	Asked int `json:"asked"`
	// Same is the share of the runs on which all answers were the same.
	Same stats.Mean `json:"same"`
	// Pairs is the mean share of pairs of answers that are the same, over runs.
	Pairs stats.Estimate `json:"pairs"`
}

type disagreement struct {
	Line   int           `json:"line"`
	TaskID string        `json:"task_id"`
	Index  int           `json:"index"`
	Mind   string        `json:"mind"`
	Human  judge.Verdict `json:"human"`
	Judge  judge.Verdict `json:"judge"`
}

const auditLevel = 0.95

func newAudit(path string, labels []*label, stored bool) (*judgeAudit, error) {
	r := &judgeAudit{SchemaVersion: 1, Labels: path, Stored: stored, Labelled: len(labels), Judges: []string{}, Rubrics: []string{},
		Unscored: []unscoredCount{}, Evals: []string{}, Disagreements: []disagreement{}, Warnings: []string{}}
	table := [][]int{{0, 0}, {0, 0}} // by human and judge, pass first
	why := map[string]int{}
	families := map[string]bool{}
	for _, l := range labels {
		for _, x := range []struct {
			list *[]string
			name string
		}{{&r.Judges, l.model}, {&r.Rubrics, l.rubric}} {
			if x.name != "" && !slices.Contains(*x.list, x.name) {
				*x.list = append(*x.list, x.name)
			}
		}
		r.related(l, families)
		first := judge.Verdict("")
		if len(l.verdict) > 0 {
			first = l.verdict[0]
		}
		if first != judge.Pass && first != judge.Fail {
			reason := "the judge was not asked"
			if len(l.why) > 0 {
				reason = plain.Clip(string(l.why[0]), 200)
			}
			why[reason]++
			continue
		}
		r.Judged++
		table[side(l.human)][side(first)]++
		if l.human != first {
			r.Disagreements = append(r.Disagreements, disagreement{l.line, l.run.TaskID, l.run.Index, l.run.Mind, l.human, first})
		}
	}
	for _, reason := range sortedKeys(why) {
		r.Unscored = append(r.Unscored, unscoredCount{reason, why[reason]})
	}
	slices.SortStableFunc(r.Unscored, func(a, b unscoredCount) int { return cmp.Compare(b.Runs, a.Runs) })
	if r.Judged == 0 {
		return nil, fmt.Errorf("none of the %d labelled runs has a verdict of the judge, so there is nothing to compare: %s",
			r.Labelled, r.Unscored[0].Why)
	}
	r.Confusion = stats.Confusion{TruePositives: table[0][0], FalseNegatives: table[0][1], FalsePositives: table[1][0], TrueNegatives: table[1][1]}
	r.Agreement = stats.Kappa(table, auditLevel)
	r.Sensitivity, r.Specificity = r.Confusion.Sensitivity(auditLevel), r.Confusion.Specificity(auditLevel)
	r.consistent(labels, stored)
	slices.Sort(r.Judges)
	slices.Sort(r.Rubrics)
	if len(r.Judges) > 1 {
		r.warn("the verdicts are of %d judges, which are mixed here: %s", len(r.Judges), strings.Join(r.Judges, ", "))
	}
	if len(r.Rubrics) > 1 {
		r.warn("the verdicts are by %d rubrics, which are mixed here; a judge may be good at one and bad at another: %s", len(r.Rubrics), strings.Join(r.Rubrics, ", "))
	}
	if n := r.Labelled - r.Judged; n > 0 {
		r.warn("%d of %d labelled runs have no verdict of the judge and are left out of all rates", n, r.Labelled)
	}
	return r, nil
}

func side(v judge.Verdict) int {
	if v == judge.Pass {
		return 0
	}
	return 1
}

func (r *judgeAudit) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(r.Warnings, w) {
		r.Warnings = append(r.Warnings, w)
	}
}

// related warns once for each pair of a judge and an agent of one family.
func (r *judgeAudit) related(l *label, seen map[string]bool) {
	agent := l.run.Mind
	if u := l.run.Result.Usage; u != nil && u.Model != "" {
		agent = u.Model
	}
	pair := l.model + "\n" + agent
	family := judge.Family(l.model)
	if family == "" || seen[pair] || judge.Family(agent) != family {
		return
	}
	seen[pair] = true
	r.warn("judge %s and agent %s are both of the family %s: a judge tends to favour what its own family wrote; audit another judge too",
		l.model, agent, family)
}

func (r *judgeAudit) consistent(labels []*label, stored bool) {
	c := consistency{}
	same, runs, sum := 0, 0, 0.0
	for _, l := range labels {
		answers := l.verdict
		if stored { // the first is what the votes after it were counted to
			answers = answers[1:]
		}
		n := len(answers)
		if n < 2 {
			continue
		}
		counts := map[judge.Verdict]int{}
		for _, v := range answers {
			counts[v]++
		}
		pairs := 0
		for _, k := range counts {
			pairs += k * (k - 1)
		}
		runs++
		sum += float64(pairs) / float64(n*(n-1))
		if c.Asked = max(c.Asked, n); len(counts) == 1 {
			same++
		}
	}
	if runs == 0 {
		return
	}
	c.Same, c.Pairs = stats.Rate(same, runs, auditLevel), stats.Number(sum/float64(runs))
	r.Consistency = &c
}

// rates fills in the pass rates.
func (r *judgeAudit) rates(positives, trials int) {
	r.Observed = stats.Rate(positives, trials, auditLevel)
	r.Corrected = stats.CorrectedRate(positives, trials, r.Confusion, auditLevel)
	if trials == 0 {
		why := "no eval of the labelled runs holds verdicts of this judge and rubric; run the eval with it, and label some of its runs"
		r.Observed.Value, r.Corrected.Value = stats.Undefined("%s", why), stats.Undefined("%s", why)
	}
}

func (r *judgeAudit) print(w io.Writer, format string, verbose bool) error {
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	var b strings.Builder
	p := auditPrinter{&b, format == "markdown"}
	source := "asked now"
	if r.Stored {
		source = "as stored"
	}
	p.title("Judge %s, %s, held against %d labels", strings.Join(r.Judges, ", "), source, r.Labelled)
	c := r.Confusion
	p.table([]string{"", "judge: pass", "judge: fail"}, [][]string{
		{"human: pass", fmt.Sprint(c.TruePositives), fmt.Sprint(c.FalseNegatives)},
		{"human: fail", fmt.Sprint(c.FalsePositives), fmt.Sprint(c.TrueNegatives)},
	})
	rows := [][]string{
		rateRow("agreement", "same verdict", r.Agreement.Observed),
		rateRow("Cohen's κ", "agreement beyond chance, 1 at most", r.Agreement.Kappa),
		rateRow("sensitivity", "judge passes what people pass", r.Sensitivity),
		rateRow("specificity", "judge fails what people fail", r.Specificity),
	}
	if s := r.Consistency; s != nil {
		rows = append(rows, rateRow("self-consistency", fmt.Sprintf("all of up to %d answers the same", s.Asked), s.Same))
	}
	rows = append(rows, rateRow("pass rate, judge", "of "+cmp.Or(strings.Join(r.Evals, ", "), "no eval"), r.Observed),
		rateRow("pass rate, corrected", "Rogan–Gladen", r.Corrected))
	p.table([]string{"", "value", "95 % interval", "n", "means"}, rows)
	for _, u := range r.Unscored {
		p.item("unscored, %d of %d: %s", u.Runs, r.Labelled, u.Why)
	}
	if r.EvalUnscored > 0 {
		p.item("runs of the evals that the judge left unscored, and that are in no pass rate: %d", r.EvalUnscored)
	}
	most := 10
	if verbose {
		most = len(r.Disagreements)
	}
	for i, d := range r.Disagreements {
		if i == most {
			p.item("and %d more disagreements (--verbose)", len(r.Disagreements)-most)
			break
		}
		p.item("line %d: %s run %d · %s: people say %s, the judge says %s", d.Line, d.TaskID, d.Index+1, d.Mind, d.Human, d.Judge)
	}
	for _, warning := range slices.Concat(r.Warnings, r.Agreement.Warnings, r.Corrected.Warnings) {
		p.item("warning: %s", warning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func rateRow(name, means string, m stats.Mean) []string {
	v, ok := m.Value.Get()
	if !ok {
		return []string{name, "—", "", fmt.Sprint(m.N), "not computed: " + m.Value.Why}
	}
	iv := "— (" + m.Interval.Why + ")"
	if m.Interval.OK {
		iv = fmt.Sprintf("%.3f–%.3f", m.Interval.Low, m.Interval.High)
	}
	return []string{name, fmt.Sprintf("%.3f", v), iv, fmt.Sprint(m.N), means}
}

// An auditPrinter writes for a terminal or as Markdown. Everything that it prints may come from outside.
type auditPrinter struct {
	out      *strings.Builder
	markdown bool
}

func (p *auditPrinter) clean(s string) string {
	s = plain.Text(s)
	if p.markdown {
		s = markdownEscapes.Replace(s)
	}
	return s
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", "&lt;", ">", "&gt;", "[", `\[`, "]", `\]`)

func (p *auditPrinter) title(format string, args ...any) {
	s := p.clean(fmt.Sprintf(format, args...))
	if p.markdown {
		s = "## " + s
	}
	fmt.Fprintf(p.out, "%s\n\n", s)
}

func (p *auditPrinter) item(format string, args ...any) {
	s := p.clean(fmt.Sprintf(format, args...))
	if p.markdown {
		s = "- " + s
	}
	fmt.Fprintln(p.out, s)
}

func (p *auditPrinter) table(header []string, rows [][]string) {
	widths := make([]int, len(header))
	all := append([][]string{header}, rows...)
	for _, row := range all {
		for i := range row {
			row[i] = p.clean(row[i])
			widths[i] = max(widths[i], len([]rune(row[i])))
		}
	}
	for k, row := range all {
		if p.markdown {
			fmt.Fprintf(p.out, "| %s |\n", strings.Join(row, " | "))
			if k == 0 {
				fmt.Fprintf(p.out, "|%s\n", strings.Repeat("---|", len(header)))
			}
			continue
		}
		line := ""
		for i, cell := range row {
			line += cell + strings.Repeat(" ", widths[i]-len([]rune(cell))+2)
		}
		fmt.Fprintln(p.out, strings.TrimRight(line, " "))
	}
	fmt.Fprintln(p.out)
}
