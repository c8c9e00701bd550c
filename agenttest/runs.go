package agenttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/wire"
)

// hold is how long the first of two parallel calls waits for the second, and a cancel for the first call.
const hold = 500 * time.Millisecond

// checkRuns are the checks that need the agent to do something.
func (c *checker) checkRuns() {
	if c.NoRuns {
		return
	}
	text := tooleval.TextResult("pong")
	c.checkRun("tool_call", 2, false, func(m wire.Message) { c.give(m, text) })
	if c.init.SingleRun {
		c.skip("second_run", "the agent says that it serves a single run")
	}
	c.checkRun("tool_error", 2, false, func(m wire.Message) { c.give(m, tooleval.ErrorResult("refused, on purpose")) })
	c.checkParallel()
	c.checkRun("big_result", 1, false, func(m wire.Message) {
		c.give(m, tooleval.TextResult(strings.Repeat("x", bigFrame)))
	})
	c.checkStop("cancel", func(id int64, open []wire.Message) error {
		c.conn.notify("cancel", nil)
		for _, m := range open {
			c.refuse(m)
		}
		m, err := c.conn.await(id, c.grace(), c.refuse)
		if err == nil {
			c.runs++
			err = checkAnswer(m)
		}
		return err
	})
	c.checkStop("eof_in_run", func(int64, []wire.Message) error {
		_ = c.conn.in.Close()
		err := c.conn.exits(c.grace())
		if err != nil && strings.HasPrefix(err.Error(), "it ended badly") {
			err = nil // a run was cut; the status says nothing
		}
		c.end()
		return err
	})
	for _, name := range []string{"tool_call", "big_integers"} {
		c.skip(name, "the agent made no call with such arguments")
	}
}

func (c *checker) give(m wire.Message, r tooleval.ToolResult) {
	c.conn.answer(wire.Message{ID: m.ID, Result: wire.Marshal(r)})
}

// refuse answers a call as the harness does when the run is over.
func (c *checker) refuse(m wire.Message) {
	c.conn.answer(wire.Fail(m.ID, wire.NoRun, "the run has ended", nil))
}

// ready is a conversation in which a run may come.
func (c *checker) ready() bool {
	if c.init.SingleRun && c.runs > 0 {
		c.end()
	}
	return c.open()
}

// checkRun gives the agent a probe, serves its calls, and records the check that they exercised.
func (c *checker) checkRun(name string, calls int, parallel bool, onCall func(wire.Message)) {
	if !c.ready() {
		return
	}
	made := 0
	id := c.conn.request("run", Probe(c.entryPoint(), calls, parallel))
	m, err := c.conn.await(id, c.run(), func(m wire.Message) {
		made++
		c.checkCall(m)
		onCall(m)
	})
	if err == nil {
		err = checkAnswer(m)
	}
	c.record("run", err)
	if c.runs > 0 {
		c.record("second_run", err)
	}
	switch {
	case made == 0 && m.Error != nil:
		c.skip(name, "the agent made no call; it answered with %v", m.Error)
	case made == 0:
		c.skip(name, "the agent made no call")
	case name != "tool_call": // which each call records
		c.record(name, err)
	}
	c.runs++
	if lost(err) {
		c.end()
	}
}

// checkAnswer checks the form of the answer to a run.
func checkAnswer(m wire.Message) error {
	if m.Error != nil {
		return nil
	}
	var r *tooleval.AgentResult
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return fmt.Errorf("the result is malformed: %w: %s", err, clip(string(m.Result)))
	}
	if r == nil {
		return fmt.Errorf("the result is null: want an object")
	}
	return nil
}

// checkParallel holds the first call's answer back until the second call comes, and answers the second one first.
func (c *checker) checkParallel() {
	if !c.ready() {
		return
	}
	var held []wire.Message
	both := false
	release := func() {
		for len(held) > 0 {
			last := len(held) - 1
			c.give(held[last], tooleval.TextResult("pong"))
			held = held[:last]
		}
	}
	id := c.conn.request("run", Probe(c.entryPoint(), 2, true))
	deadline := time.After(c.run())
	var answer wire.Message
	var err error
	for {
		limit := deadline
		if len(held) > 0 {
			limit = time.After(hold)
		}
		m, nextErr := c.conn.next(limit)
		if errors.Is(nextErr, errSlow) && len(held) > 0 {
			release()
			continue
		}
		if err = nextErr; err != nil {
			break
		}
		if c.conn.take(m, id, func(m wire.Message) {
			c.checkCall(m)
			if held = append(held, m); len(held) > 1 {
				both = true
				release()
			}
		}) {
			answer = m
			break
		}
	}
	release()
	if err == nil {
		err = checkAnswer(answer)
	}
	if !both {
		c.skip("parallel_calls", "the agent never had two calls open at once")
	} else {
		c.record("parallel_calls", err)
	}
	c.record("run", err)
	c.runs++
	if lost(err) {
		c.end()
	}
}

// checkStop leaves the agent in the middle of a run, a call without an answer if it makes one, and then stops it. The
// function gets the run's id and that call.
func (c *checker) checkStop(name string, stop func(id int64, open []wire.Message) error) {
	if !c.ready() {
		return
	}
	id := c.conn.request("run", Probe(c.entryPoint(), 1, false))
	var open []wire.Message
	timer := time.After(hold)
	for len(open) == 0 {
		m, err := c.conn.next(timer)
		if errors.Is(err, errSlow) {
			break // it works on something, and can be stopped in that
		}
		if err != nil {
			c.record(name, err)
			c.end()
			return
		}
		if c.conn.take(m, id, func(m wire.Message) { open = append(open, m) }) {
			for _, m := range open {
				c.refuse(m)
			}
			c.runs++
			c.skip(name, "the run was answered before it could be stopped")
			return
		}
	}
	err := stop(id, open)
	c.record(name, err)
	if err != nil {
		c.end()
	}
}
