package tooleval

// A Binder is a Scorer that needs something chosen at run time, such as a judge. A Suite is a value that is fixed when it
// is built, while the judge is chosen by a flag and the environment; a Binder brings the two together.
//
// The engine calls Bind once per eval, before any run, and uses the Scorer that it returns. An error is one of
// configuration, such as a misspelt judge, and stops the eval before it starts. What may still be missing when a run is
// scored, such as a key, is no error of Bind: the bound Scorer reports it then, blamed on [OwnerInfra], so that all other
// tasks are evaluated. Score of a Binder that was never bound is an error blamed on [OwnerHarness].
type Binder interface {
	Scorer
	Bind(r Resources) (Scorer, error)
}

// Resources are what the command line chose for scorers.
type Resources struct {
	// Judge is none, anthropic:MODEL or openai:MODEL; empty stands for the default judge.
	Judge string
	// Getenv looks up an environment variable, such as the judge's key. Nil stands for an empty environment.
	Getenv func(string) string
}
