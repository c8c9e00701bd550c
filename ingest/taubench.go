package ingest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

func fitsTau(p *probe) bool { return p.first().has("task_id", "traj", "reward") }

// readTau reads the results of τ-bench: a list of runs with an OpenAI chat each. What holds for this format alone:
//
//   - A tool message whose text begins with Error is an error; the benchmark has no other mark.
//   - The run ended by itself when the user's last message has ###STOP### in it or the agent called
//     transfer_to_human_agents; when it did not and reward_info is null, it ran into the limit of steps, since the runner
//     computes the reward whenever an episode ends. A run with an error in its info crashed, through nobody's known fault.
//   - user_cost is what the simulated user cost. What the agent cost is not recorded.
func readTau(s *source, yield func(*Recording, error) bool) {
	n := 0
	s.values(func(v value, _ bool, err error) bool {
		n++
		position := fmt.Sprintf("recording %d", n)
		if err != nil {
			return yield(nil, s.wrap(position, err))
		}
		messages := v.get("traj")
		if v.kind() != '{' || messages.kind() != '[' {
			return yield(nil, s.bad(position, errNo("messages under traj", v)))
		}
		b := newBuilder(s, position)
		b.opts = &Options{Aliases: s.opts.Aliases, ErrorPrefix: "Error", Ending: s.opts.Ending}
		b.rec.TaskID = v.get("task_id").name()
		b.trial(v.get("trial"))
		b.given(v.get("reward"), nil)
		stopped := false
		for _, m := range messages.list() {
			if m.get("role").is("user") {
				text, _ := m.get("content").text()
				stopped = strings.Contains(string(text), "###STOP###")
			}
			b.chatMessage(m)
		}
		for i := range b.rec.Trajectory.Calls {
			stopped = stopped || b.rec.Trajectory.Calls[i].Tool == "transfer_to_human_agents"
		}
		info := v.get("info")
		switch {
		case !info.get("error").none():
			b.broke(tooleval.Errored, tooleval.OwnerInfra, "the recorded run crashed: "+contentText(info.get("error")))
		case stopped:
			b.rec.Ending = tooleval.Completed
		case info.get("reward_info").kind() == 'n':
			b.broke(tooleval.LimitReached, tooleval.OwnerAgent, "the run reached the limit of steps")
		}
		return yield(s.done(b, position))
	})
}

// wrap gives an error of values its place, unless it has one.
func (s *source) wrap(position string, err error) error {
	if _, ok := errors.AsType[*RecordError](err); ok {
		return err
	}
	return s.bad(position, err)
}
