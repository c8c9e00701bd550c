package ingest

import (
	"errors"
	"fmt"
	"io"

	"github.com/tooleval/tooleval"
)

func fitsTau2(p *probe) bool { return p.first().get("simulations").kind() == '[' }

// readTau2 reads the results of τ²-bench: an object with a list of simulations. Tools may be called by the simulated user
// too; such calls are not the agent's and are left out, with a warning that counts them.
func readTau2(s *source, yield func(*Recording, error) bool) {
	sc := newScanner(s.in, s.opts.MaxRecord)
	agent, stopped := "", false
	err := sc.object(func(key string) error {
		switch key {
		case "info":
			v, err := sc.value()
			agent = v.path("agent_info", "llm").str()
			return err
		case "simulations":
			return sc.array(func(i int) error {
				v, err := sc.value()
				if err != nil {
					return err
				}
				if !s.simulation(v, agent, fmt.Sprintf("simulation %d", i+1), yield) {
					stopped = true
					return io.EOF
				}
				return nil
			})
		}
		return sc.skip()
	})
	if err != nil && !stopped {
		yield(nil, s.fatal(err))
	}
}

func (s *source) simulation(v value, agent, position string, yield func(*Recording, error) bool) bool {
	b := newBuilder(s, position)
	b.rec.TaskID = v.get("task_id").name()
	b.rec.Source.Agent = agent
	b.trial(v.get("trial"))
	b.given(v.path("reward_info", "reward"), nil)
	messages := v.get("messages")
	if messages.none() {
		return yield(nil, s.bad(position, errors.New("it has no list of messages")))
	}
	users := 0
	for _, m := range messages.list() {
		users += b.tau2Message(m)
	}
	if users > 0 {
		b.warn("%d calls of the simulated user are left out: they are not the agent's", users)
	}
	if c, ok := v.get("agent_cost").number(); ok && c >= 0 {
		b.usage.cost = &c
	}
	b.termination(v.get("termination_reason").str())
	return yield(s.done(b, position))
}

// tau2Message adds a message and returns the number of calls in it that the user made.
func (b *builder) tau2Message(m value) (users int) {
	text := contentText(m.get("content"))
	switch role := m.get("role").str(); role {
	case "assistant":
		u := m.get("usage")
		b.usage.add("", u, openAI(u))
		b.assistant(text, b.tau2Calls(m.get("tool_calls")))
	case "user":
		b.user()
		return len(m.get("tool_calls").list())
	case "tool":
		list := m.get("tool_messages").list() // several results in one message
		if list == nil {
			list = []value{m}
		}
		for _, r := range list {
			if !r.get("requestor").is("user") {
				b.result(r.get("id").name(), "", contentText(r.get("content")), r.get("error").kind() == 't')
			}
		}
	case "system":
	default:
		b.warn("a message of the role %.50q is left out", role)
	}
	return 0
}

func (b *builder) tau2Calls(v value) []found {
	var list []found
	for _, e := range v.list() {
		f := found{id: e.get("id").name(), tool: e.get("name").str(), args: e.get("arguments")}
		if e.kind() != '{' {
			f = found{args: e, malformed: "it is " + e.what() + ", want an object"}
		} else if f.tool == "" {
			f.args, f.malformed = e, "it names no tool"
		}
		list = append(list, f)
	}
	return list
}

// termination takes τ²-bench's own word for how a simulation ended. A word that is not known leaves it unknown.
func (b *builder) termination(reason string) {
	switch why := tooleval.Text("τ²-bench ended the run: " + reason); reason {
	case "user_stop", "agent_stop":
		b.rec.Ending = tooleval.Completed
	case "max_steps", "too_many_errors":
		b.broke(tooleval.LimitReached, tooleval.OwnerAgent, why)
	case "timeout":
		b.broke(tooleval.TimedOut, tooleval.OwnerAgent, why)
	case "agent_error", "invalid_agent_message":
		b.broke(tooleval.Errored, tooleval.OwnerAgent, why)
	case "user_error", "invalid_user_message":
		b.broke(tooleval.Errored, tooleval.OwnerWorld, why)
	case "infrastructure_error", "unexpected_error":
		b.broke(tooleval.Errored, tooleval.OwnerInfra, why)
	case "":
	default:
		b.warn("termination reason %.50q is not known", reason)
	}
}
