package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/internal/process"
)

// The exit codes.
const (
	exitDone       = 0
	exitGateFailed = 1
	exitUsage      = 2
	exitNotEnough  = 3
	exitCancelled  = 130
)

// errInterrupted is the cause of a context that the user ended.
var errInterrupted = errors.New("interrupted")

// An App is one call of the command.
type App struct {
	Suites []*tooleval.Suite
	// Folders are suites that are named by the path of their folder.
	Folders []Folder
	Args    []string  // without the program's name
	Env     []string  // NAME=value
	Stdin   io.Reader // nil stands for an empty one
	Stdout  io.Writer
	Stderr  io.Writer
}

// Main runs the command with the process's arguments, environment and streams, and exits.
//
// The first SIGINT, SIGTERM or SIGHUP ends the eval cleanly: runs in flight are recorded as cancelled. The second one exits at
// once; what was finished is on disk by then.
func Main(suites ...*tooleval.Suite) { App{Suites: suites}.Main() }

// Main is the function Main for an App that has more than suites.
func (a App) Main() {
	process.Shield() // agents run as the same user and must not read our keys
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		cancel(errInterrupted)
		<-signals
		os.Exit(exitCancelled)
	}()
	a.Args, a.Env, a.Stdin, a.Stdout, a.Stderr = os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr
	os.Exit(a.Run(ctx))
}

// Run runs the command and returns its exit code.
func (a *App) Run(ctx context.Context) int {
	defer a.guard()()
	if err := a.distinctSuites(); err != nil {
		a.complain(err)
		return exitUsage
	}
	root := a.root()
	root.SetArgs(a.Args)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := root.ExecuteContext(ctx)
	code := exitCode(ctx, err)
	if code == exitUsage {
		a.complain(err)
	}
	return code
}

// exitCode is the exit code of a command that ended with err. What is not a usage error is printed by then.
func exitCode(ctx context.Context, err error) int {
	var gate *gateError
	switch {
	case err == nil:
		return exitDone
	case ctx.Err() != nil: // not: err is a cancellation, which may be one inside an agent
		return exitCancelled
	case errors.As(err, &gate):
		return gate.code()
	}
	if check, ok := errors.AsType[*checkError](err); ok {
		return check.exit
	}
	return exitUsage
}

// complain prints an error, each of its lines as one of the command's.
func (a *App) complain(err error) {
	fmt.Fprintln(a.Stderr, plain.Block("tooleval: "+strings.ReplaceAll(err.Error(), "\n", "\ntooleval: ")))
}

func (a *App) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tooleval",
		Short: "Score how well an LLM agent uses tools",
		Long: `ToolEval scores how well an LLM agent uses tools to finish multi-step tasks. It answers four questions
side by side: was the goal reached, was the path sane, is the agent consistent or lucky, and when it
fails, whose fault is it. Every run is kept as a readable file.`,
		Example:       "  tooleval run --suite calc --runs 3\n  tooleval init my-suite\n  tooleval run ./my-suite\n  tooleval list\n  tooleval show latest",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w (see: %s --help)", err, cmd.CommandPath())
	})
	root.AddCommand(a.runCommand(), a.listCommand(), a.showCommand(), a.scoreCommand(), a.rescoreCommand(), a.agentsCommand(), a.versionCommand())
	root.AddCommand(a.recordCommand())
	root.AddCommand(a.compareCommand(), a.gateCommand(), a.planCommand(), a.judgeCommand())
	root.AddCommand(a.initCommand(), a.schemaCommand(), a.checkCommand())
	root.AddCommand(a.helperCommands()...)
	return root
}

// getenv looks up an environment variable of this call.
func (a *App) getenv(name string) string {
	for i := len(a.Env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(a.Env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// suite finds a suite by its name or by the path of its folder.
func (a *App) suite(name string) (*tooleval.Suite, error) { return a.loadSuite(name) }

// distinctSuites fails when two suites of this binary have one name: only the first could ever be run.
func (a *App) distinctSuites() error {
	seen := map[string]bool{}
	for _, s := range a.Suites {
		if seen[s.Name] {
			return fmt.Errorf("two suites of this binary are named %q: rename one in the list that main writes down", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// suiteNames are the suites of this binary.
func (a *App) suiteNames() []string {
	var names []string
	for _, s := range a.Suites {
		names = append(names, s.Name)
	}
	return names
}

// terminal is the width of a terminal; ok is false when w is none.
func terminal(w io.Writer) (width int, ok bool) {
	f, isFile := w.(*os.File)
	if !isFile || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width <= 0 {
		width = defaultWidth
	}
	return width, true
}

const defaultWidth = 100
