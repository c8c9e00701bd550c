package judge

import (
	"bytes"
	"encoding/json"

	"github.com/tooleval/tooleval"
)

// A Verdict is what a judge says of a criterion or of the whole.
type Verdict string

// The verdicts of a judge.
const (
	Pass       Verdict = "pass"
	Fail       Verdict = "fail"
	CannotTell Verdict = "cannot_tell"
)

// A Detail is what Outcome.Detail holds: everything that was sent and received, without keys, so that a score can be
// audited.
type Detail struct {
	Model  string `json:"model"`
	Rubric Rubric `json:"rubric"`
	// Delimiter is the line that fenced the graded text.
	Delimiter string `json:"delimiter"`
	Split     Split  `json:"split"`
	Votes     []Vote `json:"votes"`
	// Requests are the bodies that were sent, each once however often it was sent.
	Requests []tooleval.Raw `json:"requests"`
}

// A Split counts the votes.
type Split struct {
	Pass       int `json:"pass"`
	Fail       int `json:"fail"`
	CannotTell int `json:"cannot_tell"`
	Unreadable int `json:"unreadable"`
}

// A Vote is one verdict, with every reply that it took.
type Vote struct {
	// Verdict is nil when none could be read; Why says why.
	Verdict *Verdict      `json:"verdict"`
	Why     tooleval.Text `json:"why,omitempty"`
	// Overall is the reply's overall verdict, which need not be the one that decides.
	Overall  *Verdict      `json:"overall,omitempty"`
	Criteria []Judgement   `json:"criteria,omitempty"`
	Reason   tooleval.Text `json:"reason,omitempty"`
	// Flags are oddities that decided nothing, such as a quote that is not in the text.
	Flags     []string   `json:"flags,omitempty"`
	Exchanges []Exchange `json:"exchanges"`
}

// A Judgement is the verdict on one criterion.
type Judgement struct {
	ID       string        `json:"id"`
	Verdict  Verdict       `json:"verdict"`
	Evidence tooleval.Text `json:"evidence,omitempty"`
}

// An Exchange is one request and its reply.
type Exchange struct {
	// Request is an index into Detail.Requests; -1 when nothing was sent.
	Request int          `json:"request"`
	Reply   tooleval.Raw `json:"reply,omitempty"`
	Model   string       `json:"model,omitempty"`
	Usage   tooleval.Raw `json:"usage,omitempty"`
	Stop    string       `json:"stop,omitempty"`
	// Tries counts the times that it was sent.
	Tries int `json:"tries,omitempty"`
	// Unreadable says why no verdict was read from the reply; Error why there is no reply.
	Unreadable string        `json:"unreadable,omitempty"`
	Error      tooleval.Text `json:"error,omitempty"`
}

// request is the index of a request's body.
func (d *Detail) request(body []byte) int {
	if body == nil {
		return -1
	}
	for i, r := range d.Requests {
		if bytes.Equal(r, body) {
			return i
		}
	}
	d.Requests = append(d.Requests, body)
	return len(d.Requests) - 1
}

// encode writes a Detail without escaping what only HTML has to fear.
func encode(d *Detail) (tooleval.Raw, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
