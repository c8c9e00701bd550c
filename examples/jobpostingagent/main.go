package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/tooleval/tooleval/agents"
	"github.com/tooleval/tooleval/internal/plain"
)

const name = "jobpostingagent"

const help = `usage:
  jobpostingagent run URL --resume FILE [--out DIR]   judge a job posting for a candidate and save a report
  jobpostingagent serve                               serve a harness over ToolEval's stdio protocol

The model's key and address are taken from ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL, its name from --model,
JOBPOSTINGAGENT_MODEL or ANTHROPIC_MODEL. For the flags of a command: jobpostingagent COMMAND --help
`

func main() {
	args := os.Args[1:]
	if len(args) == 0 && !interactive(os.Stdin) {
		args = []string{"serve"}
	}
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "serve":
		serve(args[1:])
	case "run":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := run(ctx, args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	case "help", "-h", "-help", "--help":
		fmt.Print(help)
	default:
		fmt.Fprint(os.Stderr, help)
		os.Exit(2)
	}
}

// interactive reports whether a file is a terminal or another device, such as /dev/null.
func interactive(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// modelFlags are the flags that both commands have.
func modelFlags(f *flag.FlagSet) (model *string, turns *int) {
	chosen := cmp.Or(os.Getenv("JOBPOSTINGAGENT_MODEL"), os.Getenv("ANTHROPIC_MODEL"), defaultModel)
	model = f.String("model", chosen, "the model")
	turns = f.Int("max-turns", defaultTurns, "the most requests to the model in one step")
	return model, turns
}

func serve(args []string) {
	f := flag.NewFlagSet(name+" serve", flag.ExitOnError)
	model, turns := modelFlags(f)
	_ = f.Parse(args) // it exits by itself
	if f.NArg() > 0 || *turns < 1 {
		fmt.Fprintf(os.Stderr, "%s serve takes flags alone, and --max-turns is at least 1\n", name)
		os.Exit(2)
	}
	agent := newAgent(*model, *turns)
	agent.log = func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	agents.Main(agents.Server{Name: name, Version: "1", EntryPoints: agent.entryPoints()})
}

// runOptions are the flags of the command run.
type runOptions struct {
	url, resume, out, searchURL string
	model                       string
	turns                       int
	allowPrivate, asJSON        bool
}

// run judges one posting with the agent's own tools and returns the exit code: 0 for a report, 1 for none, 2 for a wrong
// call, 130 after an interruption.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseRun(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var tools *localTools
	if err == nil {
		tools, err = openLocal(o)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s run: %s\n", name, plain.Text(err.Error()))
		return 2
	}
	defer func() { _ = tools.out.Close() }()
	agent := newAgent(o.model, o.turns)
	agent.log = func(format string, args ...any) { fmt.Fprintln(stderr, plain.Text(fmt.Sprintf(format, args...))) }
	x := &session{agent: agent, tools: tools, specs: localSpecs}
	p, answer, err := pipeline(ctx, x, Posting{o.url})
	if u := x.usage; u.turns > 0 {
		fmt.Fprintf(stderr, "%d requests to %s: %d tokens in (%d from the cache), %d out\n",
			u.turns, plain.Text(u.model), u.input, u.cached, u.output)
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintf(stderr, "%s run: interrupted\n", name)
		return 130
	case err != nil:
		fmt.Fprintf(stderr, "%s run: %s\n", name, plain.Text(err.Error()))
		return 1
	}
	if o.asJSON {
		b, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			fmt.Fprintf(stderr, "%s run: %v\n", name, err)
			return 1
		}
		fmt.Fprintf(stdout, "%s\n", b)
	} else {
		fmt.Fprintln(stdout, plain.Block(answer))
	}
	if p.FitAnalysis == nil {
		return 1
	}
	fmt.Fprintf(stderr, "the report is in %s\n", filepath.Clean(o.out))
	return 0
}

// parseRun takes flags before and behind the address.
func parseRun(args []string, stderr io.Writer) (runOptions, error) {
	var o runOptions
	f := flag.NewFlagSet(name+" run URL", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.resume, "resume", "", "the candidate's résumé: a text file (required)")
	f.StringVar(&o.out, "out", ".", "the folder for report.md")
	f.StringVar(&o.searchURL, "search-url", "", "another server with DuckDuckGo's HTML page of results")
	f.BoolVar(&o.allowPrivate, "allow-private", false, "let the tools reach loopback and private addresses")
	f.BoolVar(&o.asJSON, "json", false, "print the typed result instead of the answer in words")
	model, turns := modelFlags(f)
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			return o, err
		}
		if args = f.Args(); len(args) > 0 {
			if o.url != "" {
				return o, fmt.Errorf("one URL at a time; %q is the second", args[0])
			}
			o.url, args = args[0], args[1:]
		}
	}
	o.model, o.turns = *model, *turns
	switch {
	case o.url == "":
		return o, errors.New("name the address of a job posting")
	case o.resume == "":
		return o, errors.New("--resume is required: name a text file with the candidate's résumé")
	case o.turns < 1:
		return o, errors.New("--max-turns is at least 1")
	}
	return o, nil
}
