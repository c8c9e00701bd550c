package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// A Script answers the requests of a run. It may be called concurrently when an agent asks in parallel. What it needs to
// know is in the Request: N counts the requests before, the messages tell how far the conversation is.
type Script func(Request) Reply

// A Turn is one step of [Turns]: a Reply, or a [Func] of the request.
type Turn interface{ turn(Request) Reply }

// Func is a Turn that looks at the request first.
type Func func(Request) Reply

func (f Func) turn(r Request) Reply { return f(r) }
func (r Reply) turn(Request) Reply  { return r }

// Turns answers the first request of a run by the first turn, and so on; a repeated request takes a turn too. A request
// after the last turn is an error of status 400, which no client repeats.
func Turns(turns ...Turn) Script {
	return func(r Request) Reply {
		if r.N >= len(turns) {
			return Fail(http.StatusBadRequest, "invalid_request_error",
				fmt.Sprintf("fake llm: the script has %d turns and this is request %d", len(turns), r.N+1))
		}
		return turns[r.N].turn(r)
	}
}

// Always answers every request by the same turn.
func Always(turn Turn) Script { return turn.turn }

// Authorized refuses requests that don't carry the key, and leaves the others to next.
func Authorized(key string, next Script) Script {
	return func(r Request) Reply {
		if r.Key != key {
			return Fail(http.StatusUnauthorized, "authentication_error", "invalid api key")
		}
		return next(r)
	}
}

// UnforcedOnly refuses a forced tool choice as Claude's models of the 5.5 generation do, and leaves other requests to
// next.
func UnforcedOnly(next Script) Script {
	return func(r Request) Reply {
		if r.Choice.Mode == "tool" || r.Choice.Mode == "any" {
			return Fail(http.StatusBadRequest, "invalid_request_error",
				`tool_choice: type "tool" and "any" are not supported for this model.`)
		}
		return next(r)
	}
}

// Stops of a Reply. The zero Stop is the one that fits: a tool call or the end of the turn.
const (
	StopMaxTokens = "max_tokens"
	StopRefusal   = "refusal"
)

// A Reply is one answer, in words that all dialects share. The zero Reply is an empty text.
type Reply struct {
	// Thinking is sent before the text where the dialect has a place for it.
	Thinking string
	Text     string
	// Calls are tool calls, in parallel when there are several. An empty ID is filled in.
	Calls []Call
	Stop  string
	// Usage is made up from the sizes when it is zero.
	Usage Usage

	// Status from 400 on makes the reply an error in the dialect's shape, with ErrorType and Text as its message.
	Status    int
	ErrorType string
	Header    map[string]string
	// Body, when not empty, is sent as it is, whatever the dialect.
	Body        string
	ContentType string
	// Drop ends the connection in the middle of the body.
	Drop bool
	// Delay is waited before the answer; Hang never answers.
	Delay time.Duration
	Hang  bool
}

// Usage counts tokens. Input includes what was read from and written to a cache.
type Usage struct{ Input, Output, CacheRead, CacheWrite int }

// Text answers in words.
func Text(s string) Reply { return Reply{Text: s} }

// CallTool asks for one tool call. The arguments are the bytes as a model would stream them; they need not be JSON. The
// name may be the end of a tool's name in the request (see [Request.Tool]).
func CallTool(name, args string) Reply { return CallTools(Call{Name: name, Args: args}) }

// CallTools asks for several tool calls in one turn.
func CallTools(calls ...Call) Reply { return Reply{Calls: calls} }

// Fail is an HTTP error in the dialect's shape.
func Fail(status int, errorType, message string) Reply {
	return Reply{Status: status, ErrorType: errorType, Text: message}
}

// RateLimited is status 429 with a Retry-After in seconds and in milliseconds; a negative one sends neither.
func RateLimited(retryAfter time.Duration) Reply {
	r := Fail(http.StatusTooManyRequests, "rate_limit_error", "too many requests")
	if retryAfter >= 0 {
		r.Header = map[string]string{
			"Retry-After":    strconv.FormatFloat(retryAfter.Seconds(), 'f', -1, 64),
			"Retry-After-Ms": strconv.FormatInt(retryAfter.Milliseconds(), 10),
		}
	}
	return r
}

// Overloaded is status 529. It asks for a repetition after a millisecond, to keep tests short.
func Overloaded() Reply {
	r := Fail(529, "overloaded_error", "overloaded")
	r.Header = map[string]string{"Retry-After-Ms": "1"}
	return r
}

// ServerError is status 500. It asks for a repetition after a millisecond, to keep tests short.
func ServerError() Reply {
	r := Fail(http.StatusInternalServerError, "api_error", "internal server error")
	r.Header = map[string]string{"Retry-After-Ms": "1"}
	return r
}

// BadGateway is the HTML page of a proxy in front of the model.
func BadGateway() Reply {
	return Reply{
		Status: http.StatusBadGateway, ContentType: "text/html", Header: map[string]string{"Retry-After-Ms": "1"},
		Body: "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>",
	}
}

// Garbage is status 200 with a body that is no JSON.
func Garbage() Reply { return Reply{Body: "{\"id\": \"msg_1\", \"content\": [{\x00\xff"} }

// Truncated is r with the connection dropped in the middle of the body.
func Truncated(r Reply) Reply { r.Drop = true; return r }

// Refusal is a turn that the model's safety stopped.
func Refusal(text string) Reply { return Reply{Text: text, Stop: StopRefusal} }

// MaxTokens is r, stopped by the limit of output tokens.
func MaxTokens(r Reply) Reply { r.Stop = StopMaxTokens; return r }

// Delayed is r after a while.
func Delayed(d time.Duration, r Reply) Reply { r.Delay = d; return r }

// Hang never answers.
func Hang() Reply { return Reply{Hang: true} }

// complete fills in what the script left open.
func (r Reply) complete(d *dialect, req *Request) Reply {
	calls := make([]Call, len(r.Calls))
	for i, c := range r.Calls {
		if t, ok := req.Tool(c.Name); ok && c.Namespace == "" {
			c.Name, c.Namespace = t.Name, t.Namespace
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("%s%s_%d_%d", d.callID, req.Run, req.N, i)
		}
		calls[i] = c
	}
	r.Calls = calls
	if r.Usage == (Usage{}) {
		out := len(r.Text) + len(r.Thinking)
		for _, c := range calls {
			out += len(c.Args) + len(c.Name)
		}
		r.Usage = Usage{Input: len(req.Raw)/4 + 1, Output: out/4 + 1}
	}
	return r
}

// rawArgs are the arguments as a JSON value: themselves, or a string when they are no JSON.
func rawArgs(args string) json.RawMessage {
	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	return encode(args)
}
