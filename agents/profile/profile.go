package profile

import (
	"regexp"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
)

// A Profile says how one command-line agent is run. Load makes it; its texts may hold ${variables}, see docs/agents.md.
type Profile struct {
	// Name is what --agent takes: lower-case letters, digits and hyphens.
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
	// Tested is the agent's version that the profile was tried with; empty when it never was.
	Tested string `yaml:"tested"`
	// Notes are for people: what is odd about this agent.
	Notes string `yaml:"notes"`

	// Command is the program and its arguments. The program is looked up in PATH.
	Command []string `yaml:"command"`
	// Version is the command that prints the agent's version; empty when there is none.
	Version []string `yaml:"version"`
	// Variables are the settings that a user may choose.
	Variables map[string]Variable `yaml:"variables"`
	Env       Env                 `yaml:"env"`
	// Files are written before the program starts, into its private folders.
	Files   []File  `yaml:"files"`
	MCP     MCP     `yaml:"mcp"`
	Prompt  Prompt  `yaml:"prompt"`
	Output  Output  `yaml:"output"`
	Exit    Exit    `yaml:"exit"`
	Faults  []Fault `yaml:"faults"`
	Limits  Limits  `yaml:"limits"`
	Sandbox Reach   `yaml:"sandbox"`
	// Concurrency is the most runs at a time that a machine of two processors bears; 0 states none.
	Concurrency int `yaml:"concurrency"`
	// Incomplete says why the agent may have acted without a tool call; empty when it can't. It becomes part of the
	// evidence of every run.
	Incomplete string `yaml:"incomplete"`

	// Source is the file that the profile came from, or "built in".
	Source string `yaml:"-"`
	text   []byte
}

// A Variable is a setting: the value that was set by hand, else that of the environment variable, else the default.
type Variable struct {
	Env         string  `yaml:"env"`
	Default     *string `yaml:"default"` // nil makes the variable required
	Description string  `yaml:"description"`
}

// Env is what the program finds in its environment besides PATH, HOME, TMPDIR, LANG and TERM.
type Env struct {
	// Pass names the user's own variables that are handed over where they are set, such as keys.
	Pass []string          `yaml:"pass"`
	Set  map[string]string `yaml:"set"`
}

// A File is a file of the agent's configuration. In a .json or .toml file, values of variables are escaped as a string
// literal of that format needs it.
type File struct {
	Path    string `yaml:"path"`
	Content string `yaml:"content"`
}

// MCP says how the agent gets its tools.
type MCP struct {
	// Transport is http (the default) or stdio.
	Transport string `yaml:"transport"`
	// Prefixes are what the agent puts in front of a tool's name, such as mcp__world__.
	Prefixes []string `yaml:"prefixes"`
	// PlainNames offers tools with odd or long names under plain ones.
	PlainNames bool `yaml:"plain_names"`
}

// Prompt says how the task reaches the agent.
type Prompt struct {
	// By is argument (the default), stdin or file.
	By string `yaml:"by"`
	// File is where the prompt is written with By file.
	File     string `yaml:"file"`
	Template string `yaml:"template"`
}

// Output says where the final answer is.
type Output struct {
	// Format is text (the default), json or jsonl.
	Format string `yaml:"format"`
	// File is read instead of the standard output.
	File   string    `yaml:"file"`
	Answer Pick      `yaml:"answer"`
	Error  Pick      `yaml:"error"`
	Usage  UsagePick `yaml:"usage"`
}

// A Pick is a place in JSON output: a path such as message.content.*.text, in the lines whose members are as Where says.
// Of several lines the last one counts.
type Pick struct {
	Where map[string]string `yaml:"where"`
	Path  string            `yaml:"path"`
}

// A UsagePick says where token counts are.
type UsagePick struct {
	Where map[string]string `yaml:"where"`
	// Sum adds the counts of all such lines, instead of taking the last.
	Sum    bool   `yaml:"sum"`
	Input  string `yaml:"input_tokens"`
	Output string `yaml:"output_tokens"`
	Cached string `yaml:"cached_tokens"`
	Turns  string `yaml:"turns"`
	Cost   string `yaml:"cost_usd"`
}

// Exit says what exit codes mean. Those in no list are the agent's fault.
type Exit struct {
	OK    []int `yaml:"ok"`    // nil stands for 0
	Limit []int `yaml:"limit"` // the agent stopped at a limit of its own: what it did counts
	Infra []int `yaml:"infra"`
}

// A Fault is a text by which trouble outside of the agent is known when a run failed.
type Fault struct {
	Text  string         `yaml:"text"` // a regular expression, in the syntax of Go
	Owner tooleval.Owner `yaml:"owner"`

	pattern *regexp.Regexp
}

// Limits bound one run. A run's own limit holds besides.
type Limits struct {
	// Timeout bounds the run; 0 leaves it to the run's own limit.
	Timeout Duration `yaml:"timeout"`
	// Start bounds the time until the agent has asked for its tools; 0 stands for 60 s.
	Start Duration `yaml:"start"`
	// Idle bounds the time without any output or request; 0 is no bound.
	Idle Duration `yaml:"idle"`
}

// A Duration is a time span such as 90s or 3m. What is none is told by Load, with its place.
type Duration struct {
	time.Duration
	err error
}

// UnmarshalYAML keeps the error for Load, since one from here would be told without its place.
func (d *Duration) UnmarshalYAML(text []byte) error {
	d.Duration, d.err = time.ParseDuration(strings.Trim(strings.TrimSpace(string(text)), `"'`))
	return nil
}

// Reach is what a sandboxed agent can reach besides its tools and its private folders.
type Reach struct {
	// Network are addresses as URLs or HOST:PORT.
	Network []string `yaml:"network"`
	// Read are files and folders inside those that the sandbox hides.
	Read []string `yaml:"read"`
}

// Text is the profile's file as it was read.
func (p *Profile) Text() string { return string(p.text) }

func (p *Profile) transport() string { return or(p.MCP.Transport, "http") }
func (p *Profile) by() string        { return or(p.Prompt.By, "argument") }
func (p *Profile) format() string    { return or(p.Output.Format, "text") }
func (p *Profile) template() string  { return or(p.Prompt.Template, "${task}") }

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
