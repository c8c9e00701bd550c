package profile

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"github.com/tooleval/tooleval"
)

// A checker finds what is wrong with a profile that is well-formed.
type checker struct {
	p      *Profile
	source string
	file   *ast.File
	errs   []error
}

// fail adds an error about the value at a path such as $.files[0].path.
func (c *checker) fail(path, format string, args ...any) {
	where := c.source
	if yp, err := yaml.PathString(path); err == nil {
		if node, err := yp.FilterFile(c.file); err == nil && node != nil {
			where = at(c.source, node.GetToken())
		}
	}
	c.errs = append(c.errs, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
}

func (c *checker) oneOf(path, what, value string, known ...string) {
	if value != "" && !slices.Contains(known, value) {
		c.fail(path, "%s is %s, not %q%s", what, strings.Join(known, " or "), value, tooleval.DidYouMean(value, known))
	}
}

var (
	goodName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,40}$`)
	envName  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	varName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// taken are words that --agent gives another meaning.
var taken = []string{"cmd", "http", "https", "acp", "anthropic", "openai", "scripted", "real"}

func (c *checker) check() {
	p := c.p
	switch {
	case p.Name == "":
		c.fail("$", "name is missing")
	case !goodName.MatchString(p.Name):
		c.fail("$.name", "a name is made of lower-case letters, digits and hyphens, not %q", p.Name)
	case slices.Contains(taken, p.Name):
		c.fail("$.name", "the name %q means something else to --agent", p.Name)
	}
	if len(p.Command) == 0 || p.Command[0] == "" {
		c.fail("$", "command is missing: the program and its arguments")
	}
	c.oneOf("$.mcp.transport", "transport", p.MCP.Transport, "http", "stdio")
	c.oneOf("$.prompt.by", "by", p.Prompt.By, "argument", "stdin", "file")
	c.oneOf("$.output.format", "format", p.Output.Format, "text", "json", "jsonl")
	c.checkVariables()
	c.checkTexts()
	c.checkPrompt()
	c.checkOutput()
	for i := range p.Faults {
		f := &p.Faults[i]
		path := fmt.Sprintf("$.faults[%d]", i)
		var err error
		if f.pattern, err = regexp.Compile(f.Text); err != nil || f.Text == "" {
			c.fail(path+".text", "text is no regular expression: %v", err)
		} else if f.pattern.MatchString("") {
			c.fail(path+".text", "text fits everything")
		}
		f.Owner = or(f.Owner, tooleval.OwnerInfra)
		c.oneOf(path+".owner", "owner", string(f.Owner), "agent", "infra", "user")
	}
	for _, d := range []struct {
		name string
		Duration
	}{{"timeout", p.Limits.Timeout}, {"start", p.Limits.Start}, {"idle", p.Limits.Idle}} {
		switch {
		case d.err != nil:
			c.fail("$.limits."+d.name, "%s is a time such as 90s or 3m: %v", d.name, d.err)
		case d.Duration.Duration < 0:
			c.fail("$.limits."+d.name, "%s is negative", d.name)
		}
	}
	if p.Concurrency < 0 {
		c.fail("$.concurrency", "concurrency is negative")
	}
	seen := map[int]bool{}
	for _, list := range [][]int{p.Exit.OK, p.Exit.Limit, p.Exit.Infra} {
		for _, code := range list {
			if code < 0 || code > 255 || seen[code] {
				c.fail("$.exit", "%d is no exit code (0 to 255), or is listed twice", code)
			}
			seen[code] = true
		}
	}
}

func (c *checker) checkVariables() {
	for _, name := range slices.Sorted(maps.Keys(c.p.Variables)) {
		path := "$.variables." + name
		switch {
		case !varName.MatchString(name):
			c.fail(path, "a variable's name is made of lower-case letters, digits and underscores, not %q", name)
		case slices.Contains(given, name):
			c.fail(path, "variable %q is given by the harness; choose another name", name)
		}
		if v := c.p.Variables[name]; v.Env != "" && !envName.MatchString(v.Env) {
			c.fail(path+".env", "%q is no name of an environment variable", v.Env)
		}
	}
	for i, name := range c.p.Env.Pass {
		if !envName.MatchString(name) {
			c.fail(fmt.Sprintf("$.env.pass[%d]", i), "%q is no name of an environment variable", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.p.Env.Set)) {
		if !envName.MatchString(name) {
			c.fail("$.env.set", "%q is no name of an environment variable", name)
		}
	}
}

// checkTexts holds every template to the variables that there are.
func (c *checker) checkTexts() {
	p := c.p
	for i, s := range p.Command {
		c.text(fmt.Sprintf("$.command[%d]", i), s)
	}
	for i, s := range p.Version {
		c.text(fmt.Sprintf("$.version[%d]", i), s)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env.Set)) {
		c.text("$.env.set."+name, p.Env.Set[name])
	}
	for i, f := range p.Files {
		path := fmt.Sprintf("$.files[%d]", i)
		c.text(path+".path", f.Path)
		c.text(path+".content", f.Content)
		c.inside(path+".path", "path", f.Path)
	}
	for i, s := range p.Sandbox.Network {
		c.text(fmt.Sprintf("$.sandbox.network[%d]", i), s)
	}
	for i, s := range p.Sandbox.Read {
		c.text(fmt.Sprintf("$.sandbox.read[%d]", i), s)
	}
	c.text("$.prompt.file", p.Prompt.File)
	c.text("$.output.file", p.Output.File)
	c.text("$.prompt.template", p.Prompt.Template)
	if slices.Contains(used(p.Prompt.Template), "prompt") {
		c.fail("$.prompt.template", "the prompt can't hold itself")
	}
}

// inside holds a path to the run's own folders.
func (c *checker) inside(path, what, value string) {
	if value != "" && !strings.HasPrefix(value, "${home}/") && !strings.HasPrefix(value, "${work}/") && !strings.HasPrefix(value, "${tmp}/") {
		c.fail(path, "%s begins with ${home}/, ${work}/ or ${tmp}/: the run's own folders", what)
	}
}

func (c *checker) text(path, s string) {
	if _, err := expand(s, func(name string) (string, error) { return "", c.known(name) }, nil); err != nil {
		c.fail(path, "%v", err)
	}
}

// known says what is wrong with a variable's name.
func (c *checker) known(name string) error {
	if env, ok := strings.CutPrefix(name, "env."); ok {
		if slices.Contains(c.p.Env.Pass, env) {
			return nil
		}
		return fmt.Errorf("${env.%s} needs %q in env.pass", env, env)
	}
	names := append(slices.Sorted(maps.Keys(c.p.Variables)), given...)
	switch {
	case name == "mcp_shim" && c.p.transport() != "stdio":
		return errors.New("${mcp_shim} is there with mcp.transport: stdio alone")
	case name == "prompt_file" && c.p.by() != "file":
		return errors.New("${prompt_file} is there with prompt.by: file alone")
	case !slices.Contains(names, name):
		return fmt.Errorf("unknown variable ${%s}%s", name, tooleval.DidYouMean(name, names))
	}
	return nil
}

func (c *checker) checkPrompt() {
	p := c.p
	uses := func(name string) bool {
		return slices.ContainsFunc(p.Command, func(s string) bool { return slices.Contains(used(s), name) })
	}
	switch p.by() {
	case "argument":
		if len(p.Command) > 0 && !uses("prompt") {
			c.fail("$.command", "no argument holds ${prompt}; or say prompt.by: stdin or file")
		}
	case "stdin":
		if uses("prompt") {
			c.fail("$.command", "${prompt} is an argument, but prompt.by is stdin")
		}
	case "file":
		if p.Prompt.File == "" {
			c.fail("$.prompt", "prompt.by file needs prompt.file, such as ${work}/TASK.md")
		}
	}
	if p.Prompt.File != "" && p.by() != "file" {
		c.fail("$.prompt.file", "prompt.file does nothing without prompt.by: file")
	}
	c.inside("$.prompt.file", "prompt.file", p.Prompt.File)
	if t := p.template(); !slices.ContainsFunc(used(t), func(v string) bool { return v == "task" || v == "description" }) {
		c.fail("$.prompt.template", "the prompt holds neither ${task} nor ${description}")
	}
}

func (c *checker) checkOutput() {
	o := &c.p.Output
	c.inside("$.output.file", "output.file", o.File)
	picks := o.Answer.Path != "" || o.Error.Path != "" || !reflect.DeepEqual(o.Usage, UsagePick{})
	if c.p.format() == "text" {
		if picks {
			c.fail("$.output", "answer, error and usage do nothing with format text")
		}
		return
	}
	if o.Answer.Path == "" {
		c.fail("$.output", "format %s needs answer.path", o.Format)
	}
	if c.p.format() == "json" && (len(o.Answer.Where) > 0 || len(o.Error.Where) > 0 || len(o.Usage.Where) > 0 || o.Usage.Sum) {
		c.fail("$.output", "where and sum are for format jsonl")
	}
}
