// Package report turns finished runs into a [Report], which is plain data, and a Report into text for people and programs.
//
//	b := report.NewBuilder(eval, report.Options{})
//	for _, run := range runs { // in plan order
//		b.Add(run)
//	}
//	err := report.Terminal(os.Stdout, b.Report(), report.TermOptions{Width: 100, Color: true})
//
// The four answers of a run (outcome, process, variance, failure) are shown side by side and never blended, unless
// [Options.Combine] asks for it, and then the blend is labelled lossy. A number never travels alone: the count that it
// rests on, its interval and the unscored runs go with it, and one that is undefined is null with a reason. Numbers are
// rounded in print only, and never to 100 %, 1.00 or 0 when they are not exactly that.
//
// Whatever comes from outside is made harmless when it is printed; the JSON form keeps it as it is.
//
// # Limits
//
// A Builder's memory grows with minds and tasks, not with runs: of the runs at most [Options.MaxRuns] lines a mind are
// kept, those that did not pass first, and the rest is counted. Distinct reasons, tools and warnings are counted up to a
// limit; what is beyond goes under [Others].
package report
