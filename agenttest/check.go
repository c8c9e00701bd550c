package agenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/wire"
)

// bigFrame is the size of a message that must not trouble an agent, in bytes.
const bigFrame = 5 << 20

// promises are all checks in the order of the report.
var promises = []struct{ name, promise string }{
	{"start", "the program starts"},
	{"initialize", "initialize is answered with protocol_version 1, a name and perhaps entry points"},
	{"unknown_notification", "an unknown notification is ignored"},
	{"unknown_request", "an unknown request is answered with error -32601"},
	{"big_message", "a message of 5 MiB is read"},
	{"unknown_entry_point", "a run of an entry point that is not served is answered with an error"},
	{"run", "a run is answered with a result or an error"},
	{"tool_call", "a tool call has a tool and arguments that are an object"},
	{"big_integers", "integers in arguments keep every digit"},
	{"second_run", "a second run in the same process is answered"},
	{"tool_error", "a tool's refusal does not end the agent"},
	{"parallel_calls", "answers to parallel calls may come in any order"},
	{"big_result", "a tool result of 5 MiB is read"},
	{"cancel", "a cancelled run is answered within the grace"},
	{"shutdown", "the program exits with status 0 after the notification shutdown"},
	{"shutdown_request", "the request shutdown is answered, and the program exits with status 0"},
	{"eof", "the program exits with status 0 when its input ends"},
	{"eof_in_run", "the program exits when its input ends during a run"},
	{"only_messages", "standard output carries messages only"},
	{"answers", "every request is answered once, and nothing else is"},
}

func (o Options) start() time.Duration { return orDefault(o.StartTimeout, 30*time.Second) }
func (o Options) run() time.Duration   { return orDefault(o.RunTimeout, time.Minute) }
func (o Options) grace() time.Duration { return orDefault(o.Grace, 5*time.Second) }

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}

// checker runs the checks. Each conversation is used as long as it is sound.
type checker struct {
	Options
	ctx    context.Context
	launch launcher
	found  map[string]Finding
	conn   *conn // nil when the last one has ended
	broken error // why no further conversation can be had
	init   initialized
	runs   int // answered in this conversation
	noise  []string
	wrong  []string
}

type initialized struct {
	ProtocolVersion json.Number    `json:"protocol_version"`
	Name            *tooleval.Text `json:"name"`
	Version         tooleval.Text  `json:"version"`
	EntryPoints     *[]string      `json:"entry_points"`
	SingleRun       bool           `json:"single_run"`
}

func check(ctx context.Context, launch launcher, o Options) Report {
	c := &checker{Options: o, ctx: ctx, launch: launch, found: map[string]Finding{}}
	if c.open() {
		c.checkRequests()
		c.checkRuns()
		c.checkEnds()
	}
	c.end()
	c.record("only_messages", told(c.noise))
	c.record("answers", told(c.wrong))
	r := Report{}
	if c.init.Name != nil {
		r.Agent = *c.init.Name
		if c.init.Version != "" {
			r.Agent += " " + c.init.Version
		}
	}
	for _, p := range promises {
		f, ok := c.found[p.name]
		if !ok {
			f = Finding{Status: NotExercised, Note: "an earlier check failed"}
			if c.NoRuns {
				f.Note = "runs were left out"
			}
		}
		f.Name, f.Promise = p.name, p.promise
		r.Findings = append(r.Findings, f)
	}
	return r
}

func told(list []string) error {
	if len(list) == 0 {
		return nil
	}
	return errors.New(strings.Join(list, "; "))
}

// record keeps what a check found. A check that fails once has failed; the end of ctx is no failure of the agent.
func (c *checker) record(name string, err error) {
	if old, ok := c.found[name]; ok && old.Status == Failed {
		return
	}
	switch {
	case err == nil:
		c.found[name] = Finding{Status: Passed}
	case c.ctx.Err() != nil:
		c.skip(name, "the checks were stopped: %v", context.Cause(c.ctx))
	default:
		note := err.Error()
		if c.conn != nil && errors.Is(err, errEnded) {
			note += c.conn.tail()
		}
		c.found[name] = Finding{Status: Failed, Note: tooleval.Text(note)}
	}
}

func (c *checker) skip(name, format string, args ...any) {
	if _, ok := c.found[name]; !ok {
		c.found[name] = Finding{Status: NotExercised, Note: tooleval.Text(fmt.Sprintf(format, args...))}
	}
}

// open begins a conversation, unless one is going on, and reports whether there is one.
func (c *checker) open() bool {
	if c.conn != nil {
		return true
	}
	if c.broken != nil || c.ctx.Err() != nil {
		return false
	}
	l, err := c.launch()
	if err != nil {
		c.broken = err
		c.record("start", err)
		return false
	}
	c.record("start", nil)
	c.conn, c.runs = dial(c.ctx, l), 0
	id := c.conn.request("initialize", map[string]any{"protocol_version": 1,
		"harness": map[string]string{"name": "agenttest"}, "a_member_of_the_future": true})
	m, err := c.conn.await(id, c.start(), nil)
	if err == nil {
		err = c.initialized(m)
	}
	c.record("initialize", err)
	if err != nil {
		c.broken = err
		c.end()
	}
	return err == nil
}

func (c *checker) initialized(m wire.Message) error {
	if m.Error != nil {
		return fmt.Errorf("it answered with an error: %w", m.Error)
	}
	var r initialized
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return fmt.Errorf("the answer is malformed: %w: %s", err, clip(string(m.Result)))
	}
	switch {
	case r.ProtocolVersion != "1":
		return fmt.Errorf("protocol_version is %q, want 1", r.ProtocolVersion)
	case r.Name == nil || *r.Name == "":
		return errors.New("the name is missing")
	case r.EntryPoints != nil && len(*r.EntryPoints) == 0:
		return errors.New("entry_points is an empty list: leave it out to serve any")
	}
	c.init = r
	return nil
}

// end ends the conversation and keeps what was wrong in it.
func (c *checker) end() {
	if c.conn == nil {
		return
	}
	c.conn.close()
	c.noise = append(c.noise, c.conn.noise...)
	c.wrong = append(c.wrong, c.conn.wrong...)
	c.conn = nil
}

func (c *checker) entryPoint() string {
	switch {
	case c.EntryPoint != "":
		return c.EntryPoint
	case c.init.EntryPoints != nil:
		return (*c.init.EntryPoints)[0]
	}
	return "agenttest"
}

// checkRequests are the checks that need no run.
func (c *checker) checkRequests() {
	unknown := func() error {
		m, err := c.conn.await(c.conn.request("agenttest/unknown", map[string]any{}), c.start(), nil)
		switch {
		case err != nil:
			return err
		case m.Error == nil:
			return fmt.Errorf("it was answered with a result: %s", clip(string(m.Result)))
		case m.Error.Code != wire.MethodNotFound:
			return fmt.Errorf("it was answered with %w", m.Error)
		}
		return nil
	}
	err := unknown()
	c.record("unknown_request", err)
	if lost(err) {
		c.end()
	}
	for _, n := range []struct {
		check  string
		params any
	}{
		{"unknown_notification", map[string]any{}},
		{"big_message", map[string]any{"padding": strings.Repeat("x", bigFrame)}},
	} {
		if !c.open() {
			return
		}
		c.conn.notify("agenttest/unknown", n.params)
		err := unknown() // whatever the answer, there is one as long as the agent lives
		if !lost(err) {
			err = nil
		}
		c.record(n.check, err)
		if err != nil {
			c.end()
		}
	}
	switch {
	case c.init.EntryPoints == nil:
		c.skip("unknown_entry_point", "the agent serves any")
	case c.open():
		a := Probe("agenttest/no such entry point", 0, false)
		m, err := c.conn.await(c.conn.request("run", a), c.run(), nil)
		if err == nil && m.Error == nil {
			err = fmt.Errorf("it was answered with a result: %s", clip(string(m.Result)))
		}
		c.record("unknown_entry_point", err)
		if lost(err) {
			c.end()
		}
	}
}

// lost reports whether a conversation is of no use after an error.
func lost(err error) bool {
	return errors.Is(err, errEnded) || errors.Is(err, errSlow) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// checkEnds are the ways in which an agent is told to stop.
func (c *checker) checkEnds() {
	for _, e := range []struct {
		check string
		tell  func() error
	}{
		{"shutdown", func() error { c.conn.notify("shutdown", nil); return nil }},
		{"shutdown_request", func() error {
			m, err := c.conn.await(c.conn.request("shutdown", map[string]any{}), c.grace(), nil)
			if err == nil && m.Error != nil {
				err = fmt.Errorf("it was answered with an error: %w", m.Error)
			}
			return err
		}},
		{"eof", func() error { return c.conn.in.Close() }},
	} {
		if !c.open() {
			return
		}
		err := e.tell()
		if err == nil {
			err = c.conn.exits(c.grace())
		}
		c.record(e.check, err)
		c.end()
	}
}

// checkCall checks one tools/call and gives its arguments.
func (c *checker) checkCall(m wire.Message) {
	var p struct {
		Tool *tooleval.Text             `json:"tool"`
		Args map[string]json.RawMessage `json:"args"`
	}
	switch err := json.Unmarshal(m.Params, &p); {
	case err != nil:
		c.record("tool_call", fmt.Errorf("%w: %s", err, clip(string(m.Params))))
		return
	case p.Tool == nil:
		c.record("tool_call", fmt.Errorf("there is no tool: %s", clip(string(m.Params))))
		return
	}
	c.record("tool_call", nil)
	if n, ok := p.Args["n"]; ok {
		n = bytes.Trim(n, `"`) // a model may make a string of it, which keeps the digits
		got, err := strconv.ParseFloat(string(n), 64)
		switch want, _ := strconv.ParseFloat(bigNumber, 64); {
		case err != nil || math.Abs(got-want) > want*1e-6:
			return // another number, which was meant
		case string(n) != bigNumber:
			err = fmt.Errorf("%s arrived as %s", bigNumber, clip(string(n)))
		}
		c.record("big_integers", err)
	}
}
