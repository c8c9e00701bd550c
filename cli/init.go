package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
)

// initFlags are what tooleval init is told, by flags or by answers.
type initFlags struct {
	dir         string
	name        string
	description string
	template    string
	golang      bool
	module      string
}

func (a *App) initCommand() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Make a suite to start from",
		Long: `Makes a suite that runs at once: a folder with a suite.yaml and what belongs to it, or with --go a module with a
suite in Go. Nothing is overwritten. Without FOLDER, at a terminal, it asks.`,
		Example: `  tooleval init my-suite && tooleval run ./my-suite
  tooleval init my-suite --template starlark
  tooleval init my-suite --go --module example.com/my-suite`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.dir = args[0]
			} else if err := a.askInit(cmd.Context(), &f); err != nil {
				return err
			}
			if err := f.check(cmd); err != nil {
				return err
			}
			return a.init(&f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "the suite's name (default: that of the folder)")
	flags.StringVar(&f.description, "description", "", "what the suite is about")
	flags.StringVar(&f.template, "template", "mock", "mock (canned answers) or starlark (tools that compute and keep a state)")
	flags.BoolVar(&f.golang, "go", false, "a Go module with a suite in Go")
	flags.StringVar(&f.module, "module", "", "with --go: the module's path (default: example.com/NAME)")
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("template",
		cobra.FixedCompletions(templates(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// suiteName is what a name may be made of, so that it needs no quotes in YAML, Go, a shell or a path.
var (
	suiteName  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	modulePath = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._~/-]*$`)
)

// yamlWords would not be text if they stood alone in YAML.
var yamlWords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// check fills in what was left out, and reports everything that is wrong.
func (f *initFlags) check(cmd *cobra.Command) error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if f.name == "" {
		abs, err := filepath.Abs(f.dir)
		if err != nil {
			return err
		}
		f.name = filepath.Base(abs)
	}
	if !suiteName.MatchString(f.name) || slices.Contains(yamlWords, strings.ToLower(f.name)) {
		fail("--name %q: want a name of letters, digits, - and _ that begins with a letter, as in my-suite", f.name)
	}
	if f.description == "" {
		f.description = "questions about orders"
	}
	if strings.ContainsFunc(f.description, func(r rune) bool { return r < ' ' || r == 0x7f }) || f.description != strings.ToValidUTF8(f.description, "") {
		fail("--description: want a line of text")
	}
	if !slices.Contains(templates(), f.template) {
		fail("--template %q: it is %s%s", f.template, strings.Join(templates(), " or "), tooleval.DidYouMean(f.template, templates()))
	}
	if f.golang && cmd.Flags().Changed("template") {
		fail("--template is for a folder; leave it out with --go")
	}
	if !f.golang && f.module != "" {
		fail("--module goes with --go")
	}
	if f.module == "" {
		f.module = "example.com/" + f.name
	}
	if !modulePath.MatchString(f.module) {
		fail("--module %q: want the path of a module, as in example.com/my-suite", f.module)
	}
	return errors.Join(errs...)
}

// init writes the files and says what comes next.
func (a *App) init(f *initFlags) error {
	written, err := f.write()
	if err != nil {
		return err
	}
	dir := filepath.ToSlash(filepath.Clean(f.dir))
	fmt.Fprintf(a.Stdout, "%s:\n", plain.Text(dir))
	for _, name := range written {
		fmt.Fprintf(a.Stdout, "  %s\n", plain.Text(name))
	}
	if f.golang {
		fmt.Fprintf(a.Stdout, "\nRun it with: cd %s && go mod tidy && go run . run --suite %s\n", plain.Text(dir), f.name)
		return nil
	}
	if !filepath.IsAbs(f.dir) && !strings.HasPrefix(dir, "../") && dir != "." {
		dir = "./" + dir
	}
	fmt.Fprintf(a.Stdout, "\nRun it with: tooleval run %s\n", plain.Text(dir))
	return nil
}

// askInit asks for everything, when there is a terminal to ask at.
func (a *App) askInit(ctx context.Context, f *initFlags) error {
	in, ok := a.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return errors.New("give the folder to make, as in: tooleval init my-suite")
	}
	q := questions{ctx: ctx, lines: make(chan string), out: a.Stdout}
	go q.read(in)
	f.dir = q.ask("Folder", "my-suite", nil)
	f.name = q.ask("Name of the suite", filepath.Base(f.dir), suiteName.MatchString)
	f.description = q.ask("What it is about", "questions about orders", nil)
	if kind := q.ask("Made of (mock: canned answers, starlark: tools with a state, go: a Go module)", f.template, func(s string) bool {
		return s == "go" || slices.Contains(templates(), s)
	}); kind == "go" {
		f.golang = true
		f.module = q.ask("Path of the module", "example.com/"+f.name, modulePath.MatchString)
	} else {
		f.template = kind
	}
	return q.err
}

// questions asks at a terminal. After an error nothing more is asked.
type questions struct {
	ctx   context.Context // only kept for the time of one askInit
	lines chan string
	out   io.Writer
	err   error
}

// read reads lines until the input ends. It stays behind in a read when the user interrupts; the process then ends.
func (q *questions) read(in io.Reader) {
	defer close(q.lines)
	for s := bufio.NewScanner(in); s.Scan(); {
		q.lines <- s.Text()
	}
}

// ask asks until the answer will do. No answer takes the default.
func (q *questions) ask(question, standard string, good func(string) bool) string {
	for q.err == nil {
		fmt.Fprintf(q.out, "%s [%s]: ", question, plain.Text(standard))
		select {
		case <-q.ctx.Done():
			q.err = context.Cause(q.ctx)
		case line, ok := <-q.lines:
			if !ok {
				q.err = errors.New("the input ended before the last question; nothing was made")
				break
			}
			if line = strings.TrimSpace(line); line == "" {
				line = standard
			}
			if good == nil || good(line) {
				return line
			}
			fmt.Fprintf(q.out, "%s will not do.\n", plain.Text(line))
		}
	}
	return standard
}
