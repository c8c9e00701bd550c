package tooleval

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// worldOf is a world factory that may complain.
type worldOf struct{ err error }

func (worldOf) NewWorld(context.Context, WorldSpec) (World, error) {
	return nil, errors.New("not made in this test")
}
func (w worldOf) Check(*Suite) error { return w.err }

type scorerOf struct{ err error }

func (scorerOf) Score(context.Context, *Run) (Outcome, error) { return Outcome{}, nil }
func (s scorerOf) Check(*Suite) error                         { return s.err }

// sound is a suite with nothing wrong, changed by the test.
func sound(changes ...func(*Suite)) *Suite {
	s := &Suite{
		Name: "shop",
		Tools: []Tool{
			{Name: "search", Schema: Raw(`{"type":"object","properties":{"q":{"type":"string"}}}`)},
			{Name: "pay"},
			{Name: "refund"},
		},
		EntryPoints: []EntryPoint{{Name: "shop.pipeline"}},
		Tasks: []Task{{
			ID: "shop.buy", EntryPoint: "shop.pipeline", Toolset: []string{"search", "pay"},
			Required: []CallPattern{
				{ID: "look", Tool: "search", Args: Match(map[string]any{"q": Contains("boots")})},
				{Tool: "pay", After: []string{"look"}},
			},
			Forbidden:     []CallPattern{{Tool: "refund"}},
			MinimalCalls:  Minimum(2),
			ExpectedState: Match(map[string]any{"paid": true}),
		}},
		MockWorld: worldOf{},
		Minds:     []Mind{{Name: "scripted", New: func(context.Context, func(string) string) (Agent, error) { return nil, nil }}},
	}
	for _, c := range changes {
		c(s)
	}
	return s
}

// task is a change of the one task.
func task(change func(*Task)) func(*Suite) { return func(s *Suite) { change(&s.Tasks[0]) } }

func TestValidateSound(t *testing.T) {
	if err := sound().Validate(nil); err != nil {
		t.Errorf("a sound suite is refused: %v", err)
	}
	scored := sound(task(func(t *Task) { t.ExpectedState = Pattern{} }), func(s *Suite) { s.Scorers = map[string]Scorer{"shop.buy": scorerOf{}} })
	if err := scored.Validate(nil); err != nil {
		t.Errorf("a task with a scorer of its own needs no expected state: %v", err)
	}
}

// TestR02EveryMistakeIsNamed has one suite a message; most stand for a misspelling that would otherwise pass unnoticed.
func TestR02EveryMistakeIsNamed(t *testing.T) {
	for _, c := range []struct {
		change func(*Suite)
		want   string
	}{
		{func(s *Suite) { s.Name = " " }, `the suite has no name`},
		{func(s *Suite) { s.Tasks = nil }, `the suite has no tasks`},
		{func(s *Suite) { s.MockWorld = nil }, `the suite has neither a mock nor a live world`},
		{func(s *Suite) { s.LiveTasks = func(func(string) string) []Task { return s.Tasks } }, `the suite has live tasks but no live world`},
		{func(s *Suite) { s.Tools[1].Name = "search" }, `tool "search" is used twice, as number 1 and number 2`},
		{func(s *Suite) { s.Tools[2].Name = "" }, `tool 3 of 3 is empty`},
		{func(s *Suite) { s.Tools[2].Schema = Raw(`{`) }, `tool "refund": its schema is not JSON`},
		{func(s *Suite) { s.Tools[2].Schema = Raw(`[]`) }, `tool "refund": its schema must be a JSON object with "type": "object"`},
		{func(s *Suite) { s.Tools[2].Schema = Raw(`{"type":"string"}`) }, `tool "refund": its schema must be a JSON object`},
		{func(s *Suite) { s.EntryPoints = append(s.EntryPoints, EntryPoint{Name: "Shop.Pipeline"}) },
			`entry point "shop.pipeline" (number 1) and "Shop.Pipeline" (number 2) differ only in case or Unicode form`},
		{func(s *Suite) { s.Minds = append(s.Minds, s.Minds[0]) }, `mind "scripted" is used twice`},
		{func(s *Suite) { s.Minds[0].New = nil }, `mind "scripted" has no New function`},
		{func(s *Suite) { s.Minds[0].Aliases = map[string]string{"shop.pipelin": "x"} },
			`mind "scripted": alias for unknown entry point "shop.pipelin" (did you mean "shop.pipeline"?)`},
		{func(s *Suite) { s.Scorers = map[string]Scorer{"shop.by": scorerOf{}} }, `scorers: unknown task "shop.by" (did you mean "shop.buy"?)`},
		{func(s *Suite) { s.Scorers = map[string]Scorer{"shop.buy": nil} }, `scorers: the scorer of task "shop.buy" is nil`},
		{func(s *Suite) { s.Scorers = map[string]Scorer{"shop.buy": scorerOf{errors.New("no rubric")}} }, `scorer of task "shop.buy": no rubric`},
		{func(s *Suite) { s.MockWorld = worldOf{errors.Join(errors.New("no fixture"), errors.New("no seed"))} }, "suite \"shop\": no fixture\nsuite \"shop\": no seed"},
		{func(s *Suite) { s.LiveWorld = worldOf{errors.New("no key")} }, `no key`},
		{task(func(t *Task) { t.EntryPoint = "shop.pipe" }), `task "shop.buy": unknown entry point "shop.pipe" (did you mean "shop.pipeline"?)`},
		{task(func(t *Task) { t.Toolset[0] = "serch" }), `task "shop.buy": unknown tool "serch" (did you mean "search"?)`},
		{task(func(t *Task) { t.Toolset = append(t.Toolset, "pay") }), `task "shop.buy": its toolset names "pay" twice`},
		{task(func(t *Task) { t.Input = Raw(`{`) }), `task "shop.buy": its input: not JSON`},
		{task(func(t *Task) { t.Required[0].Tool = "serch" }), `task "shop.buy": required call 1: unknown tool "serch" (did you mean "search"?)`},
		{task(func(t *Task) { t.Required[0].Tool = "refund"; t.Forbidden = nil }), `required call 1: tool "refund" is not in the task's toolset`},
		{task(func(t *Task) { t.Required[0].Args = ParsePattern([]byte(`{"a":{"$anny":true},"b":{"$regx":""}}`)) }),
			"suite \"shop\": task \"shop.buy\": required call 1: args: $.a: unknown matcher \"$anny\" (did you mean \"$any\"?); a key that begins with $ is written {\"$literal\": …}\n" +
				"suite \"shop\": task \"shop.buy\": required call 1: args: $.b: unknown matcher \"$regx\" (did you mean \"$regex\"?)"},
		{task(func(t *Task) { t.Required[0].Args = Match("boots") }), `required call 1: args: arguments are an object, which "boots" never fits`},
		{task(func(t *Task) { t.Required[0].Args = Match(OneOf(1, Absent())) }), `arguments are an object, which {"$one_of":[1,{"$absent":true}]} never fits`},
		{task(func(t *Task) { t.Required[1].After = []string{"lok"} }), `task "shop.buy": required call 2 comes after unknown call "lok" (did you mean "look"?)`},
		{task(func(t *Task) { t.Required[1].ID = "LOOK" }), `task "shop.buy": id of a required call "look" (number 1) and "LOOK" (number 2) differ only in case`},
		{task(func(t *Task) { t.Required[1].ID = "buy"; t.Required[0].After = []string{"buy"} }),
			`the order of the required calls has a cycle: buy, look, buy`},
		{task(func(t *Task) { t.Required[0].After = []string{"look"} }), `has a cycle: look, look`},
		{task(func(t *Task) { t.Forbidden[0].Tool = "refnd" }), `forbidden call 1: unknown tool "refnd" (did you mean "refund"?)`},
		{task(func(t *Task) { t.Forbidden[0].Args = Match(5) }), `forbidden call 1: args: arguments are an object, which 5 never fits`},
		{task(func(t *Task) { t.Forbidden[0].ID = "x" }), `forbidden call 1: id and after are for required calls`},
		{task(func(t *Task) { t.Forbidden[0].After = []string{"look"} }), `forbidden call 1: id and after are for required calls`},
		{task(func(t *Task) { t.Forbidden[0].Tool = "pay" }), `a call of "pay" is required (number 2) and forbidden (number 1) at once`},
		{task(func(t *Task) {
			t.Forbidden[0] = CallPattern{Tool: "search", Args: ParsePattern([]byte(`{"q": {"$contains": "boots"}}`))}
		}), `a call of "search" is required (number 1) and forbidden (number 1) at once`},
		{task(func(t *Task) { t.ExpectedState = ParsePattern([]byte(`{"paid":{"$regex":"("}}`)) }), `expected_state: $.paid: $regex: error parsing regexp`},
		{task(func(t *Task) { t.ExpectedState = Pattern{} }), `nothing is checked: give it an expected_state that can differ, or a scorer`},
		{task(func(t *Task) { t.ExpectedState = Match(Subset(map[string]any{})) }), `nothing is checked`},
		{task(func(t *Task) { t.Threshold = 1.01 }), `threshold 1.01 is not in 0..1`},
		{task(func(t *Task) { t.Threshold = math.NaN() }), `threshold NaN is not in 0..1`},
		{task(func(t *Task) {
			t.Trajectory = &TrajectoryMatch{Mode: "exakt", Calls: []ExpectedCall{{Tool: "search"}}}
		}), `task "shop.buy": trajectory: mode is "exakt" (did you mean "exact"?)`},
		{task(func(t *Task) {
			t.Trajectory = &TrajectoryMatch{Mode: MatchExact, Calls: []ExpectedCall{{Tool: "refund"}}}
		}), `trajectory: expected call 1: tool "refund" is not in the task's toolset`},
		{task(func(t *Task) { t.MinimalCalls = Minimum(-1) }), `minimal_necessary_calls is negative`},
		{task(func(t *Task) { t.MinimalCalls = Minimum(1) }), `minimal_necessary_calls is 1, but 2 calls are required`},
		{task(func(t *Task) { t.Toolset, t.Required = nil, nil }), `minimal_necessary_calls is 2, but the toolset is empty`},
		{task(func(t *Task) { t.Limits.Calls = -1 }), `limits must not be negative`},
		{task(func(t *Task) { t.Limits.Timeout = -time.Second }), `limits must not be negative`},
		{task(func(t *Task) { t.Limits.Calls = 1 }), `minimal_necessary_calls is 2, but only 1 calls are allowed`},
		{task(func(t *Task) { t.Limits.Calls, t.MinimalCalls = 1, nil }), `2 calls are required, but only 1 are allowed`},
	} {
		err := sound(c.change).Validate(nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want an error with\n%s\ngot\n%v", c.want, err)
		}
	}
}

func TestValidateTellsEverythingAtOnce(t *testing.T) {
	s := sound(func(s *Suite) { s.Tools[2].Schema = Raw(`{`); s.Minds[0].New = nil }, task(func(t *Task) {
		t.EntryPoint, t.Threshold, t.Forbidden[0].Tool = "nowhere", 7, "refnd"
		t.ExpectedState = ParsePattern([]byte(`[{"$any":0},{"$number":"x"},{"$one_of":[]}]`))
	}))
	err := s.Validate(nil)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 8 {
		t.Errorf("got %d errors, want 8:\n%v", len(lines), err)
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, `suite "shop": `) {
			t.Errorf("a line without its suite: %s", l)
		}
	}
}

// TestM24NothingToLookAt: a forbidden tool that the suite doesn't have, and a task that checks nothing (S04), are errors and
// not checks that always hold.
func TestM24NothingToLookAt(t *testing.T) {
	for _, expected := range []string{`{"$any":true}`, `{"$subset":{}}`, `{"$one_of":[{"paid":true},{"$any":true}]}`, `{"$exact":{"$any":true}}`} {
		err := sound(task(func(t *Task) { t.ExpectedState = ParsePattern([]byte(expected)) })).Validate(nil)
		if err == nil || !strings.Contains(err.Error(), "nothing is checked") {
			t.Errorf("%s: %v", expected, err)
		}
	}
	err := sound(task(func(t *Task) { t.Forbidden = []CallPattern{{Tool: "delete_all"}} })).Validate(nil)
	if err == nil || !strings.Contains(err.Error(), `forbidden call 1: unknown tool "delete_all"`) {
		t.Errorf("an unknown forbidden tool: %v", err)
	}
}

func TestL05SameIDTwice(t *testing.T) {
	for second, want := range map[string]string{
		"shop.buy": `task id "shop.buy" is used twice, as number 1 and number 2`,
		"SHOP.buy": `task id "shop.buy" (number 1) and "SHOP.buy" (number 2) differ only in case or Unicode form`,
		"ｓhop.buy": `differ only in case or Unicode form`,
		"":         `task id 2 of 2 is empty`,
	} {
		s := sound(func(s *Suite) {
			s.Tasks = append(s.Tasks, s.Tasks[0])
			s.Tasks[1].ID = second
		})
		if err := s.Validate(nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", second, err, want)
		}
	}
}

func TestValidateLiveTasks(t *testing.T) {
	s := sound(func(s *Suite) {
		s.LiveWorld = worldOf{}
		s.LiveTasks = func(getenv func(string) string) []Task {
			live := s.Tasks[0]
			live.ID, live.Threshold = getenv("ID"), 2
			return []Task{live, live}
		}
	})
	err := s.Validate(func(name string) string { return map[string]string{"ID": "shop.buyy"}[name] })
	for _, want := range []string{`live task "shop.buyy": threshold 2`, `live task id "shop.buyy" is used twice`, `live tasks: unknown task "shop.buyy" (did you mean "shop.buy"?)`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := s.Validate(nil); err == nil { // getenv may be nil
		t.Error("a live task with an empty id is accepted")
	}
}

func TestSuiteLookups(t *testing.T) {
	s := sound()
	if _, ok := s.Tool("nope"); ok {
		t.Error("found a tool that is not there")
	}
	if m, ok := s.Mind("scripted"); !ok || m.New == nil {
		t.Error("the mind is not found")
	}
	if _, ok := s.Mind("nope"); ok {
		t.Error("found a mind that is not there")
	}
	if s.World(true) != nil || s.World(false) == nil || len(s.TasksIn(true, nil)) != 1 {
		t.Error("without live tasks and world there should be the mock ones and none")
	}
	s.LiveTasks = func(func(string) string) []Task { return nil }
	if len(s.TasksIn(true, nil)) != 0 || len(s.TasksIn(false, nil)) != 1 {
		t.Error("live tasks are not told from the others")
	}
	s.Tasks[0].Input = Raw(`{"a":1}`)
	s.Tasks[0].Toolset = []string{"pay", "nope", "search"}
	a := s.Assignment(&s.Tasks[0], &Mind{Aliases: map[string]string{"shop.pipeline": "main"}})
	if a.EntryPoint != "main" || len(a.Tools) != 2 || a.Tools[0].Name != "pay" || a.Tools[1].Name != "search" {
		t.Errorf("got %+v", a)
	}
	a.Input[0], a.Tools[1].Schema[0] = 'x', 'x'
	if string(s.Tasks[0].Input) != `{"a":1}` || s.Tools[0].Schema[0] != '{' {
		t.Error("an assignment shares memory with its suite")
	}
	if b := s.Assignment(&s.Tasks[0], nil); b.EntryPoint != "shop.pipeline" {
		t.Errorf("without a mind the entry point is %q", b.EntryPoint)
	}
	if (&Task{}).PassMark() != 1 || (&Task{Threshold: 0.5}).PassMark() != 0.5 {
		t.Error("wrong pass mark")
	}
}

func TestDidYouMean(t *testing.T) {
	names := []string{"search", "book_flight", "pay"}
	for in, want := range map[string]string{"serch": "search", "SEARCH": "search", "pya": "", "payy": "pay", "bookflight": "book_flight", "": "", "xyz": "", "zzzzzzzzz": ""} {
		if got := Nearest(in, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
	if got := DidYouMean("serch", names); got != ` (did you mean "search"?)` || DidYouMean("xyz", nil) != "" {
		t.Errorf("got %q", got)
	}
	long := strings.Repeat("a", 1<<20)
	if got := Nearest(long, []string{long[1:]}); got == "" {
		t.Error("two long names that are alike are not near")
	}
}
