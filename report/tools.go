package report

import (
	"cmp"
	"slices"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/plain"
	"github.com/tooleval/tooleval/stats"
)

// A toolSum gathers how the calls of one tool went.
type toolSum struct {
	name                              string
	calls, errors, refused, cancelled int
	took                              stats.Sample
}

func (s *section) addCalls(calls []tooleval.Call) {
	for i := range calls {
		c := &calls[i]
		t := s.tool(c.Tool)
		t.calls++
		switch c.Status {
		case tooleval.CallToolError, tooleval.CallProtocolError, tooleval.CallTimeout:
			t.errors++
		case tooleval.CallRefused:
			t.refused++
		case tooleval.CallCancelled:
			t.cancelled++
		}
		if c.Status != tooleval.CallRefused {
			t.took.Add(c.TookMS)
		}
	}
}

func (s *section) tool(name string) *toolSum {
	for i, t := range s.lastTool {
		if t == nil {
			break
		}
		if t.name == name {
			if i > 0 {
				s.lastTool[i-1], s.lastTool[i] = s.lastTool[i], s.lastTool[i-1]
			}
			return t
		}
	}
	if len(name) > maxName {
		name = plain.Clip(name, maxName)
	}
	t := s.tools[name]
	if t == nil && len(s.tools) >= maxTools {
		name = Others
		t = s.tools[name]
	}
	if t == nil {
		t = &toolSum{name: name}
		s.tools[name] = t
	}
	for i := range s.lastTool {
		if s.lastTool[i] == nil || i == len(s.lastTool)-1 {
			s.lastTool[i] = t
			break
		}
	}
	return t
}

// sortedTools are the tools by name.
func (s *section) sortedTools() []Tool {
	tools := make([]Tool, 0, len(s.tools))
	for _, t := range s.tools {
		tools = append(tools, Tool{Name: t.name, Calls: t.calls, Errors: t.errors, Refused: t.refused, Cancelled: t.cancelled,
			ErrorShare: share(t.errors, t.calls), MeanMS: t.took.Mean(), MaxMS: t.took.Max()})
	}
	slices.SortFunc(tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools
}

// A usageSum gathers what runs consumed.
type usageSum struct {
	reported                     int
	models                       tally[string]
	input, output, cached, turns sum[int64]
	cost                         sum[float64]
}

func (u *usageSum) add(r *tooleval.Usage) {
	if r == nil {
		return
	}
	u.reported++
	if r.Model != "" {
		u.models.add(plain.Clip(r.Model, maxName))
	}
	u.input.add(r.InputTokens)
	u.output.add(r.OutputTokens)
	u.cached.add(r.CachedTokens)
	u.turns.add(r.Turns)
	u.cost.add(r.CostUSD)
}

// A sum adds up what may be unknown. Whole numbers stay exact up to 2^53.
type sum[T int64 | float64] struct {
	total float64
	n     int
}

// add leaves out what is unknown and what can't be an amount.
func (s *sum[T]) add(v *T) {
	if v == nil || !(*v >= 0) || !stats.Number(float64(*v)).OK {
		return
	}
	s.total += float64(*v)
	s.n++
}

func (s *sum[T]) Total() Total {
	if s.n == 0 {
		return Total{Sum: stats.Undefined("no run reported it")}
	}
	return Total{Sum: stats.Number(s.total), N: s.n}
}

func (u *usageSum) usage(runs int) Usage {
	return Usage{Runs: runs, Reported: u.reported, Models: u.models.sorted(), InputTokens: u.input.Total(),
		OutputTokens: u.output.Total(), CachedTokens: u.cached.Total(), Turns: u.turns.Total(), CostUSD: u.cost.Total()}
}

// share is part / whole.
func share(part, whole int) stats.Estimate {
	if whole == 0 {
		return stats.Undefined("there is nothing to take a share of")
	}
	return stats.Number(float64(part) / float64(whole))
}
