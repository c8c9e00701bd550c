package worlds_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

// handler answers by the tool's name.
func handler(f func(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error)) tooleval.ToolHandler {
	return tooleval.ToolHandlerFunc(f)
}

func echo() tooleval.ToolHandler {
	return handler(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		return tooleval.TextResult(string(c.Args)), nil
	})
}

// only is the single call of a recorder.
func only(t *testing.T, r *worlds.Recorder) tooleval.Call {
	t.Helper()
	calls := r.Trajectory().Calls
	if len(calls) != 1 {
		t.Fatalf("got %d calls, want 1", len(calls))
	}
	return calls[0]
}

// M19, M18: broken arguments are kept as they came, and neither become {} nor reach the world.
func TestM19BrokenArgumentsAreKept(t *testing.T) {
	for _, c := range []struct{ raw, args, text, problem string }{
		{`{"q":"a "b""}`, ``, `{"q":"a "b""}`, "arguments are not JSON"},
		{`{"q":"abc`, ``, `{"q":"abc`, "arguments are not JSON"},
		{`{} {}`, ``, `{} {}`, "arguments are not JSON"},
		{"{\"q\":\"\xff\"}", ``, "{\"q\":\"\xff\"}", "arguments are not JSON"},
		{strings.Repeat("[", 20000), ``, strings.Repeat("[", 20000), "arguments are not JSON"},
		{`[1, 2]`, `[1,2]`, `[1, 2]`, "arguments are an array, want an object"},
		{`"{}"`, `"{}"`, ``, "arguments are a string, want an object"},
		{` null`, `null`, ` null`, "arguments are null, want an object"},
		{`true`, `true`, ``, "arguments are a boolean, want an object"},
		{`-1.50`, `-1.50`, ``, "arguments are a number, want an object"},
		{``, `{}`, ``, ""},
		{" \n", `{}`, " \n", ""},
		{`{}`, `{}`, ``, ""},
		{`{ "a" : 12.0, "b":"\ud83d <&>" }`, `{"a":12.0,"b":"\ud83d <&>"}`, `{ "a" : 12.0, "b":"\ud83d <&>" }`, ""},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`, ``, ""},
	} {
		reached := false
		r := worlds.Record(handler(func(_ context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
			reached = true
			if string(call.Args) != c.args {
				t.Errorf("%.40q: the world sees %s, want %s", c.raw, call.Args, c.args)
			}
			return tooleval.ToolResult{}, nil
		}), worlds.RecordOptions{})
		res, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "x", Args: tooleval.Raw(c.raw)})
		got := only(t, r)
		if string(got.Args) != c.args || string(got.ArgsText) != c.text || !strings.HasPrefix(got.ArgsError, c.problem) {
			t.Errorf("%.40q: got args %s, text %.40q, error %q\nwant %s, %.40q, %q",
				c.raw, got.Args, got.ArgsText, got.ArgsError, c.args, c.text, c.problem)
		}
		broken := c.problem != ""
		if broken != (got.ArgsError != "") || broken == reached || broken != res.IsError || err != nil {
			t.Errorf("%.40q: broken %v, but reached the world: %v, answer %+v, %v", c.raw, broken, reached, res, err)
		}
		if broken && (got.Status != tooleval.CallToolError || !strings.Contains(string(res.Text), c.problem)) {
			t.Errorf("%.40q: got %s %q", c.raw, got.Status, res.Text)
		}
	}
}

func TestRecordKeepsItsOwnBytes(t *testing.T) {
	answer := tooleval.Raw(`{"v":1}`)
	r := worlds.Record(handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		return tooleval.ToolResult{Structured: answer}, nil
	}), worlds.RecordOptions{})
	args := tooleval.Raw(`{"a":1}`)
	res, _ := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "x", Args: args})
	args[5], res.Structured[5] = '2', '2' // an agent that goes on using its buffers
	if got := only(t, r); string(got.Args) != `{"a":1}` || string(got.Result.Structured) != `{"v":1}` {
		t.Errorf("the record changed to %s, %s", got.Args, got.Result.Structured)
	}
}

// L07: odd bytes in arguments and results survive the recorder and its JSON form.
func TestL07OddBytesSurvive(t *testing.T) {
	big := strings.Repeat("QUJD", 5<<20) // 20 MB of base64
	texts := []string{"\xff\x00a", "\xed\xa0\xbd", "\x1b[31m", big}
	r := worlds.Record(handler(func(_ context.Context, c tooleval.ToolCall) (tooleval.ToolResult, error) {
		i, err := strconv.Atoi(c.Tool)
		return tooleval.ToolResult{Text: tooleval.Text(texts[i]), Structured: tooleval.Raw(texts[i])}, err
	}), worlds.RecordOptions{})
	for i, s := range texts {
		// A structured result that is not JSON is the world's fault, and the evidence is kept all the same.
		if _, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: strconv.Itoa(i), Args: tooleval.Raw(`{}`)}); err == nil {
			t.Errorf("%.10q: a structured result that is not JSON was taken as one", s)
		} else if owner, _ := tooleval.BlamedOn(err); owner != tooleval.OwnerWorld {
			t.Errorf("%.10q: blamed on %q, want the world", s, owner)
		}
		say(t, r, strconv.Itoa(i), s)
	}
	check := func(what string, calls []tooleval.Call) {
		for i := 0; i < len(calls); i += 2 {
			ok, broken, s := calls[i], calls[i+1], texts[i/2]
			if string(ok.Result.Text) != s || string(ok.Result.Structured) != s {
				t.Errorf("%s: %.10q: the result is %.20q, %.20q", what, s, ok.Result.Text, ok.Result.Structured)
			}
			if string(broken.ArgsText) != s {
				t.Errorf("%s: %.10q: the arguments are %.20q", what, s, broken.ArgsText)
			}
		}
	}
	calls := r.Trajectory().Calls
	check("record", calls)
	small := tooleval.Trajectory{Calls: calls[:6]} // the JSON of megabytes is slow under the race detector
	b, err := json.Marshal(small)
	if err != nil {
		t.Fatal(err)
	}
	var back tooleval.Trajectory
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	check("JSON", back.Calls)
}

// H02: each way in which a call ends has its own status, and an error is never a success.
func TestH02Statuses(t *testing.T) {
	gone := errors.New("gone")
	for _, c := range []struct {
		name   string
		result tooleval.ToolResult
		err    error
		want   tooleval.Call // Status, Error, FixtureGap, Fault and Result.Text
		owner  tooleval.Owner
	}{
		{"ok", tooleval.TextResult("fine"), nil,
			tooleval.Call{Status: tooleval.CallOK, Result: tooleval.TextResult("fine")}, ""},
		{"error prose without the flag", tooleval.TextResult("Error: no"), nil,
			tooleval.Call{Status: tooleval.CallOK, Result: tooleval.TextResult("Error: no")}, ""},
		{"is_error", tooleval.ErrorResult("no"), nil,
			tooleval.Call{Status: tooleval.CallToolError, Result: tooleval.ErrorResult("no")}, ""},
		{"gap", tooleval.ToolResult{}, fmt.Errorf("world: %w", &tooleval.Gap{Message: "no fixture", Nearest: "fixture 1"}),
			tooleval.Call{Status: tooleval.CallToolError, Result: tooleval.ErrorResult("no fixture"),
				FixtureGap: "fixture 1"}, ""},
		{"gap without a nearest", tooleval.ToolResult{}, &tooleval.Gap{Message: "no fixture"},
			tooleval.Call{Status: tooleval.CallToolError, Result: tooleval.ErrorResult("no fixture"),
				FixtureGap: "no fixture"}, ""},
		{"refusal", tooleval.ToolResult{}, &worlds.Refusal{Tool: "t", Message: "not yours"},
			tooleval.Call{Status: tooleval.CallRefused, Error: "not yours", Result: tooleval.ErrorResult("not yours")}, ""},
		{"broken", tooleval.TextResult("dropped"), gone,
			tooleval.Call{Status: tooleval.CallProtocolError, Error: "gone"}, tooleval.OwnerWorld},
		{"blamed", tooleval.ToolResult{}, tooleval.Blame(tooleval.OwnerInfra, gone),
			tooleval.Call{Status: tooleval.CallProtocolError, Error: "gone"}, tooleval.OwnerInfra},
		{"the tool's own timeout", tooleval.ToolResult{}, context.DeadlineExceeded,
			tooleval.Call{Status: tooleval.CallProtocolError, Error: "context deadline exceeded"}, tooleval.OwnerWorld},
		{"fault with a result", tooleval.ToolResult{}, &worlds.Faulted{Fault: "flaky", Result: tooleval.ErrorResult("503")},
			tooleval.Call{Status: tooleval.CallToolError, Result: tooleval.ErrorResult("503"), Fault: "flaky"}, ""},
		{"fault with an error", tooleval.ToolResult{}, &worlds.Faulted{Fault: "cut", Err: gone},
			tooleval.Call{Status: tooleval.CallProtocolError, Error: "gone", Fault: "cut"}, tooleval.OwnerWorld},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := worlds.Record(handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
				return c.result, c.err
			}), worlds.RecordOptions{})
			res, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "t", ID: "7"})
			got := only(t, r)
			if got.Status != c.want.Status || got.Error != c.want.Error || got.FixtureGap != c.want.FixtureGap ||
				got.Fault != c.want.Fault || got.Result.Text != c.want.Result.Text || got.Result.IsError != c.want.Result.IsError {
				t.Errorf("record\n got %+v\nwant %+v", got, c.want)
			}
			if res.Text != got.Result.Text || res.IsError != got.Result.IsError {
				t.Errorf("the agent got %+v, the record says %+v", res, got.Result)
			}
			owner, _ := tooleval.BlamedOn(err)
			if (err != nil) != (got.Status == tooleval.CallProtocolError) || owner != c.owner {
				t.Errorf("the caller got %v of %q, want owner %q", err, owner, c.owner)
			}
			if err != nil && !errors.Is(err, gone) && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the caller's error %v has lost its cause", err)
			}
			if got.ID != "7" || got.Tool != "t" || got.Began != 1 || got.Ended != 2 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// nasty is an error whose methods panic when they are used.
type nasty struct{}

func (*nasty) Error() string   { panic("in Error") }
func (*nasty) Is(error) bool   { panic("in Is") }
func (*nasty) As(any) bool     { panic("in As") }
func (*nasty) Timeout() bool   { panic("in Timeout") }
func (*nasty) Temporary() bool { panic("in Temporary") }

func TestRecordPanicsNeverCross(t *testing.T) {
	for name, f := range map[string]func() error{
		"panic":         func() error { panic("boom") },
		"out of range":  func() error { return []error{}[len(t.Name()):][0] },
		"panic(nil)":    func() error { panic(nil) },
		"nasty error":   func() error { return &nasty{} },
		"nil *Refusal":  func() error { return (*worlds.Refusal)(nil) },
		"nil *Gap":      func() error { return (*tooleval.Gap)(nil) },
		"panic(&nasty)": func() error { panic(&nasty{}) },
	} {
		r := worlds.Record(handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			return tooleval.ToolResult{}, f()
		}), worlds.RecordOptions{})
		_, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "t"})
		if got := only(t, r); got.Status != tooleval.CallProtocolError || !strings.Contains(string(got.Error), "goroutine ") {
			t.Errorf("%s: got %s %q, want protocol_error with a stack", name, got.Status, got.Error)
		}
		if err == nil || strings.Contains(err.Error(), "goroutine ") {
			t.Errorf("%s: the caller got %v, want an error without the stack", name, err)
		}
	}
	r := worlds.Record(nil, worlds.RecordOptions{})
	if _, err := r.CallTool(nil, tooleval.ToolCall{}); err == nil {
		t.Error("no handler: got no error")
	}
}

var errSlow error = timeout{}

type timeout struct{}

func (timeout) Error() string { return "too slow" }
func (timeout) Timeout() bool { return true }

func TestRecordTellsTimeoutFromCancel(t *testing.T) {
	over := errors.New("run timeout")
	stopped := errors.New("stopped")
	for _, c := range []struct {
		name string
		ctx  func(context.Context) (context.Context, context.CancelFunc)
		want tooleval.CallStatus
		why  error
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, tooleval.CallTimeout, context.DeadlineExceeded},
		{"deadline with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Second, over)
		}, tooleval.CallTimeout, over},
		{"cancel because of a timeout", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(errSlow) })
			return ctx, func() { cancel(nil) }
		}, tooleval.CallTimeout, errSlow},
		{"cancel", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(stopped) })
			return ctx, func() { cancel(nil) }
		}, tooleval.CallCancelled, stopped},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				r := worlds.Record(handler(func(ctx context.Context, _ tooleval.ToolCall) (tooleval.ToolResult, error) {
					calls++
					<-ctx.Done()
					return tooleval.ToolResult{}, context.Cause(ctx)
				}), worlds.RecordOptions{})
				ctx, cancel := c.ctx(t.Context())
				defer cancel()
				_, err := r.CallTool(ctx, tooleval.ToolCall{Tool: "slow"})
				got := only(t, r)
				if got.Status != c.want || string(got.Error) != c.why.Error() || !errors.Is(err, c.why) || got.TookMS != 1000 {
					t.Errorf("got %s %q after %v ms and %v; want %s %q after 1000 ms",
						got.Status, got.Error, got.TookMS, err, c.want, c.why)
				}
				if _, err := r.CallTool(ctx, tooleval.ToolCall{Tool: "slow"}); err == nil || calls != 1 {
					t.Errorf("a call after the end of its context reached the world: %d calls, %v", calls, err)
				}
				if got := r.Trajectory().Calls[1].Status; got != c.want {
					t.Errorf("a call after the end of its context: got %s, want %s", got, c.want)
				}
			})
		})
	}
}

// E04: a call that is in flight when the run is closed, and one that comes later.
func TestE04CallInFlightAtClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		world := 0
		r := worlds.Record(handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			world++
			<-release // deaf to its context
			return tooleval.TextResult("too late"), nil
		}), worlds.RecordOptions{})
		timed, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		answers := make(chan tooleval.ToolResult, 2)
		for _, ctx := range []context.Context{timed, t.Context()} {
			go func() {
				res, err := r.CallTool(ctx, tooleval.ToolCall{Tool: "slow"})
				if err != nil {
					t.Error(err)
				}
				answers <- res
			}()
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		running := r.Trajectory()
		r.Close() // returns at once
		r.Close()
		closed := r.Trajectory()
		for _, calls := range [][]tooleval.Call{running.Calls, closed.Calls} {
			if len(calls) != 2 || calls[0].Status != tooleval.CallTimeout || calls[1].Status != tooleval.CallCancelled {
				t.Fatalf("got %+v, want a timeout and a cancelled call", calls)
			}
			if calls[0].Ended != 3 || calls[1].Ended != 4 || calls[0].TookMS != 2000 ||
				calls[0].Error != "context deadline exceeded" || calls[1].Error != "the run ended before the answer" {
				t.Errorf("got %+v", calls)
			}
		}
		late, err := r.CallTool(t.Context(), tooleval.ToolCall{Tool: "slow"})
		if !late.IsError || late.Text != "the run is over" || err != nil || world != 2 || r.Late() != 1 {
			t.Errorf("late call: got %+v, %v; %d calls reached the world, %d counted as late", late, err, world, r.Late())
		}
		close(release)
		for range 2 {
			if res := <-answers; res.Text != "the run is over" {
				t.Errorf("an answer got out after the end: %+v", res)
			}
		}
		if after := r.Trajectory(); fmt.Sprint(after) != fmt.Sprint(closed) {
			t.Errorf("the record changed after Close:\n%+v\n%+v", closed, after)
		}
	})
}

// E18: closing ends the record at once, whatever late goroutines do; -race watches.
func TestE18CloseUnderFire(t *testing.T) {
	r := worlds.Record(echo(), worlds.RecordOptions{MaxCalls: 1e6})
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for !stop.Load() {
				say(t, r, "t", `{"a":1}`)
			}
		})
	}
	for len(r.Trajectory().Calls) < 10 {
		time.Sleep(time.Millisecond)
	}
	r.Close()
	first, _ := json.Marshal(r.Trajectory())
	for r.Late() < 10 {
		time.Sleep(time.Millisecond)
	}
	second, _ := json.Marshal(r.Trajectory())
	stop.Store(true)
	wg.Wait()
	if string(first) != string(second) {
		t.Error("the trajectory changed after Close")
	}
}

func TestRecordLimitsCalls(t *testing.T) {
	var reached []error
	r := worlds.Record(echo(), worlds.RecordOptions{
		MaxCalls: 2, OnLimit: func(err error) { reached = append(reached, err) }})
	var got []string
	for range 5 {
		got = append(got, say(t, r, "t", ``))
	}
	over := "error: limit reached: 2 tool calls in one run"
	if want := []string{"{}", "{}", over, over, over}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(reached) != 1 || !errors.Is(reached[0], worlds.ErrLimit) {
		t.Errorf("OnLimit got %v, want one ErrLimit", reached)
	}
	calls := r.Trajectory().Calls
	if len(calls) != 3 || calls[2].Status != tooleval.CallRefused || calls[2].Began != 5 ||
		calls[2].Ended != 6 || r.Late() != 2 {
		t.Errorf("got %+v and %d late, want the first refused call recorded and 2 late", calls, r.Late())
	}
}

func TestRecordLimitsBytes(t *testing.T) {
	big := strings.Repeat("x", 1000)
	for _, c := range []struct{ name, args, answer string }{
		{"arguments", `{"a":"` + big + `"}`, ""},
		{"broken arguments", big, ""},
		{"a result", `{}`, big},
	} {
		limits, called := 0, 0
		r := worlds.Record(handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			called++
			return tooleval.TextResult(c.answer), nil
		}), worlds.RecordOptions{MaxBytes: 500, OnLimit: func(error) { limits++ }})
		for range 3 {
			if got := say(t, r, "t", c.args); got != "error: limit reached: 500 bytes of tool calls and results in one run" {
				t.Errorf("%s: got %.100q", c.name, got)
			}
		}
		call := only(t, r)
		if b, _ := json.Marshal(call); len(b) > 500 || call.Status != tooleval.CallRefused || limits != 1 || r.Late() != 2 {
			t.Errorf("%s: %d bytes kept of a %s call, %d limits, %d late", c.name, len(b), call.Status, limits, r.Late())
		}
		if want := len(c.answer) / 1000; called != want {
			t.Errorf("%s: the world saw %d calls, want %d", c.name, called, want)
		}
	}
}

func TestRecordLimitsBytesOfAllCallsTogether(t *testing.T) {
	for _, c := range []struct{ args, answer string }{
		{`{"a":"` + strings.Repeat("x", 200) + `"}`, ""},
		{`{}`, strings.Repeat("x", 200)},
	} {
		r := worlds.Record(handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
			return tooleval.TextResult(c.answer), nil
		}), worlds.RecordOptions{MaxBytes: 500})
		var got []tooleval.CallStatus
		for range 3 {
			say(t, r, "t", c.args)
		}
		for _, call := range r.Trajectory().Calls {
			got = append(got, call.Status)
		}
		if fmt.Sprint(got) != "[ok ok refused]" {
			t.Errorf("%.10s, %.3s: got %v, want the third call refused", c.args, c.answer, got)
		}
	}
}

func TestRecordManyParallelCalls(t *testing.T) {
	const n = 10_000
	r := worlds.Record(echo(), worlds.RecordOptions{MaxCalls: n - 100})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			say(t, r, "t", fmt.Sprintf(`{"i":%d}`, i))
		})
	}
	wg.Wait()
	r.Close()
	calls := r.Trajectory().Calls
	if len(calls) != n-100+1 || r.Late() != 99 {
		t.Fatalf("got %d calls and %d late, want %d and 99", len(calls), r.Late(), n-100+1)
	}
	seen := map[int]bool{}
	for i, c := range calls {
		if i > 0 && c.Began <= calls[i-1].Began || c.Ended <= c.Began || seen[c.Began] || seen[c.Ended] {
			t.Fatalf("call %d: Began %d, Ended %d after %d", i, c.Began, c.Ended, calls[max(0, i-1)].Began)
		}
		seen[c.Began], seen[c.Ended] = true, true
		if c.Status == tooleval.CallOK && string(c.Result.Text) != string(c.Args) {
			t.Fatalf("call %d: %s was answered %s", i, c.Args, c.Result.Text)
		}
	}
}

func TestRecordClock(t *testing.T) {
	start := time.Unix(1000, 0)
	now := start
	r := worlds.Record(handler(func(context.Context, tooleval.ToolCall) (tooleval.ToolResult, error) {
		now = now.Add(1500 * time.Microsecond)
		return tooleval.ToolResult{}, nil
	}), worlds.RecordOptions{Start: start, Now: func() time.Time { return now }})
	now = now.Add(2 * time.Second)
	say(t, r, "t", ``)
	if got := only(t, r); got.StartMS != 2000 || got.TookMS != 1.5 {
		t.Errorf("got start %v, took %v; want 2000 and 1.5", got.StartMS, got.TookMS)
	}
}
