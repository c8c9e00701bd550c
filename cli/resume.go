package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/engine"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/store"
)

// past is a stored eval that is gone on with.
type past struct {
	dir    string
	header tooleval.Eval
	stored map[string]storedRun // by identity
	bad    []string
	runner *engine.Runner
	retry  []string

	reused, again, done int
	kept                map[string]int // classes of stored runs that --retry would have done again
}

type storedRun struct {
	path     string
	class    string // the class for --retry; empty for a run that stands
	attempts int    // the records that this one replaced
}

// openPast reads the eval that --resume names and takes over its options, unless they are given anew.
func (a *App) openPast(cmd *cobra.Command, f *runFlags) (*past, error) {
	dir, err := store.Find(f.results, f.resume)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	reader, err := store.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	p := &past{dir: dir, header: reader.Header(), stored: map[string]storedRun{}, kept: map[string]int{}}
	if err := p.takeOver(cmd, f); err != nil {
		return nil, err
	}
	return p, nil
}

// takeOver sets the flags that were not given to what the eval was started with. What would make its stored runs
// meaningless can't be changed.
func (p *past) takeOver(cmd *cobra.Command, f *runFlags) error {
	h := p.header
	given := cmd.Flags().Changed
	differs := func(flag string, was any) error {
		return fmt.Errorf("--%s: the eval %s was started with %v; leave the flag out, or start a new eval without --resume", flag, h.ID, was)
	}
	suite := h.Suite
	if path := h.Options["suite"]; isSuitePath(path) {
		suite = path
	}
	if given("suite") && f.suite != h.Suite && f.suite != suite {
		return differs("suite", suite)
	}
	if given("live") && f.live != (h.World == engine.Live) {
		return differs("live", h.World)
	}
	if given("seed") && f.seed != h.Seed {
		return differs("seed", h.Seed)
	}
	if given("agent") && !slices.Equal(f.agents, h.Minds) {
		return differs("agent", strings.Join(h.Minds, ", "))
	}
	for _, flag := range []string{"world", "faults"} {
		if given(flag) && cmd.Flags().Lookup(flag).Value.String() != h.Options[flag] {
			return differs(flag, cmp.Or(h.Options[flag], "none"))
		}
	}
	if isSuitePath(suite) { // kept as a flag, for the next time that the eval is resumed
		if err := cmd.Flags().Set("suite", suite); err != nil {
			return err
		}
	}
	f.suite, f.live, f.seed, f.agents = suite, h.World == engine.Live, h.Seed, h.Minds
	if !given("runs") {
		f.runs = h.Runs
	}
	for name, value := range h.Options {
		flag := cmd.Flags().Lookup(name)
		if flag == nil || flag.Changed || slices.Contains(notTakenOver, name) {
			continue
		}
		if err := setFlag(flag, value); err != nil {
			return fmt.Errorf("the stored option --%s %s: %w", name, strconv.Quote(value), err)
		}
		flag.Changed = true // the next resume must find it again
	}
	return nil
}

// ofOneCall are the flags that say nothing about the eval; those of gates are of their kind.
var ofOneCall = append([]string{"results", "resume", "retry", "format", "verbose", "watch"}, gateFlagNames...)

// notTakenOver are the flags that the header has by itself, or that belong to one call.
var notTakenOver = append([]string{"suite", "live", "seed", "agent", "runs"}, ofOneCall...)

// options are the flags that were given, now or when the eval was started, as the header keeps them.
func options(cmd *cobra.Command) map[string]string {
	o := map[string]string{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && !slices.Contains(ofOneCall, f.Name) {
			o[f.Name] = flagText(f)
		}
	})
	return o
}

// flagText is the value of a flag as text; a list is a JSON list.
func flagText(f *pflag.Flag) string {
	list, ok := f.Value.(pflag.SliceValue)
	if !ok {
		return f.Value.String()
	}
	b, err := json.Marshal(list.GetSlice())
	if err != nil { // a list of strings always has an encoding
		return f.Value.String()
	}
	return string(b)
}

// setFlag is the reverse of flagText.
func setFlag(f *pflag.Flag, text string) error {
	list, ok := f.Value.(pflag.SliceValue)
	if !ok {
		return f.Value.Set(text)
	}
	var values []string
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return err
	}
	return list.Replace(values)
}

// index reads the stored runs. It keeps a path and a class for each, and of several attempts at one run the last.
func (p *past) index() error {
	reader, err := store.Open(p.dir)
	if err != nil {
		return err
	}
	for f, err := range reader.Files() {
		if err != nil {
			p.bad = append(p.bad, err.Error())
			continue
		}
		p.stored[f.Run.Identity] = storedRun{path: f.Path, class: class(f.Run), attempts: f.Run.Provenance.Attempts}
	}
	return nil
}

// class says which --retry would do a stored run again. A failure of the agent is a result: it has no class.
func class(run *tooleval.Run) string {
	switch {
	case run.Ending == tooleval.Cancelled:
		return retryCancelled
	case run.Score.Verdict != tooleval.Unscored:
		return ""
	case run.ErrorOwner == tooleval.OwnerInfra:
		return retryInfra
	}
	return retryUnscored
}

// reuse is the stored run of a job, or nil when it has to be done.
func (p *past) reuse(job engine.Job) *tooleval.Run {
	s, ok := p.stored[p.runner.Identity(job)]
	if !ok {
		p.done++
		return nil
	}
	if s.class != "" && slices.Contains(p.retry, s.class) {
		p.again++
		return nil
	}
	run, err := store.ReadRun(s.path)
	if err != nil {
		p.bad = append(p.bad, err.Error())
		p.done++
		return nil
	}
	p.reused++
	if s.class != "" {
		p.kept[s.class]++
	}
	return run
}

// count says in a new record how many earlier ones it replaces. A retried run stays one sample.
func (p *past) count(run *tooleval.Run) {
	if s, ok := p.stored[run.Identity]; ok {
		run.Provenance.Attempts = s.attempts + 1
	}
}

// summary says what was reused and what was not.
func (p *past) summary() string {
	s := fmt.Sprintf("resumed %s: %d runs reused, %d new", p.header.ID, p.reused, p.done)
	if p.again > 0 {
		s += fmt.Sprintf(", %d tried again", p.again)
	}
	for _, class := range slices.Sorted(maps.Keys(p.kept)) {
		s += fmt.Sprintf("\n%d of the reused runs are %s: add --retry %s to try them again", p.kept[class], classWords[class], class)
	}
	for _, b := range p.bad {
		s += "\nset aside: " + plain.Text(b)
	}
	return s
}

var classWords = map[string]string{
	retryCancelled: "cancelled", retryInfra: "errors of the infrastructure", retryUnscored: "unscored for another reason",
}
