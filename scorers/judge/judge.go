// Package judge scores a run by asking a language model, for goals that a comparison of states can't express: "it says
// that it could not read the page, and invents nothing".
//
//	Scorers: map[string]tooleval.Scorer{
//		"pages.unreachable": judge.Graded{Rubric: judge.NoFabrication, View: judge.Everything},
//	}
//
// Which model judges is chosen when the eval starts: --judge anthropic:MODEL, openai:MODEL (any server that speaks OpenAI's
// chat completions) or none.
//
// # What is promised
//
// The verdict is read from one place, the arguments of the tool that the judge is told to call. It is pass, fail or
// cannot_tell, and nothing stands for one of them: what can't be read is asked for once more and then left unscored.
// There is no numeric scale and no default. Several votes are counted by an absolute majority. The text that is graded is
// fenced by a delimiter that its author could not know, and every line of it is marked, so that it can't pose as the end
// of the text, as a rubric or as a verdict. The whole exchange is kept in Outcome.Detail.
//
// A judge that misbehaves makes an unscored Outcome and no error: the record then blames nobody but says what the judge
// replied. Errors are for a judge that could not be asked: no key, no network or an overloaded service are blamed on
// [tooleval.OwnerInfra], a key that is refused or a model that does not exist on [tooleval.OwnerUser].
//
// # Limits
//
// A judge can still be talked round by what it reads; fences only keep apart who says what. Votes are cast one after the
// other. A server without tool calls can't judge.
package judge

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tooleval/tooleval"
)

// Defaults and bounds of a judge.
const (
	// DefaultMaxTokens bounds one reply, thinking included. A reply that was cut off is asked for again with twice as many.
	DefaultMaxTokens = 8192
	// DefaultTimeout bounds one question, all its tries included.
	DefaultTimeout = 5 * time.Minute
	// MaxGraded is the size in bytes of the longest text that is graded. A longer one is left unscored, never cut: what
	// was cut off could have decided.
	MaxGraded = 400_000
	// MaxVotes bounds Rubric.Votes.
	MaxVotes = 15
)

// A Config says which judge is wanted. The zero Config is the default model with an empty environment.
type Config struct {
	// Model is the model that judges; the zero Model is [DefaultModel].
	Model Model
	// Getenv looks up ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL, or OPENAI_API_KEY and OPENAI_BASE_URL. Nil stands for an
	// empty environment. Nothing else is read from the environment.
	Getenv func(string) string
	// MaxTokens and Timeout are the defaults above when zero.
	MaxTokens int
	Timeout   time.Duration
}

// A Judge is a model that can be asked. It may be used concurrently.
type Judge struct {
	cfg   Config
	asker asker
	// missing says why the judge can't be asked at all.
	missing error
	random  io.Reader
	// unforced and lax remember that the server refused a forced tool choice, or a strict schema.
	unforced, lax atomic.Bool
}

// New makes a judge. A key that is missing is no error here: scoring reports it, blamed on infra.
func New(cfg Config) (*Judge, error) {
	if cfg.Model == (Model{}) {
		cfg.Model = DefaultModel
	}
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	if cfg.MaxTokens < 0 || cfg.Timeout < 0 {
		return nil, errors.New("judge: max tokens and timeout can't be negative")
	}
	cfg.MaxTokens = cmp.Or(cfg.MaxTokens, DefaultMaxTokens)
	cfg.Timeout = cmp.Or(cfg.Timeout, DefaultTimeout)
	j := &Judge{cfg: cfg, random: rand.Reader}
	switch cfg.Model.Provider {
	case None:
	case Anthropic:
		j.asker, j.missing = newAnthropic(cfg)
	case OpenAI:
		j.asker, j.missing = newOpenAI(cfg)
	default:
		return nil, fmt.Errorf("judge: unknown provider %q%s", cfg.Model.Provider,
			tooleval.DidYouMean(cfg.Model.Provider, providers))
	}
	return j, nil
}

// Model is the model that judges.
func (j *Judge) Model() Model { return j.cfg.Model }

// Scorer grades what view shows of a run by a rubric. A nil view is [Everything]. The Scorer may be used concurrently;
// its errors are blamed as the package comment says. A rubric that is not valid makes every Score an error of the task.
func (j *Judge) Scorer(r Rubric, view func(*tooleval.Run) string) tooleval.Scorer {
	if view == nil {
		view = Everything
	}
	return &scorer{judge: j, rubric: r, view: view}
}

type scorer struct {
	judge  *Judge
	rubric Rubric
	view   func(*tooleval.Run) string
}

// Fingerprint is the model and the rubric. The view is code: raise Suite.Version when it changes.
func (s *scorer) Fingerprint() any {
	return map[string]any{"judge": s.judge.cfg.Model.String(), "rubric": s.rubric}
}

// Score asks for all votes and counts them.
func (s *scorer) Score(ctx context.Context, run *tooleval.Run) (tooleval.Outcome, error) {
	j := s.judge
	if j.cfg.Model.Provider == None {
		return tooleval.Outcome{Score: tooleval.Unscoredf("no judge was chosen (--judge none)")}, nil
	}
	if err := s.rubric.Validate(); err != nil {
		return tooleval.Outcome{}, tooleval.Blame(tooleval.OwnerTask, err)
	}
	if j.missing != nil {
		return tooleval.Outcome{}, tooleval.Blame(tooleval.OwnerInfra, j.missing)
	}
	text := s.view(run)
	if len(text) > MaxGraded {
		return tooleval.Outcome{Score: tooleval.Unscoredf("the text to grade has %d bytes and a judge is shown at most %d",
			len(text), MaxGraded)}, nil
	}
	fenced, err := fence(text, j.random)
	if err != nil {
		return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerHarness, "judge: %w", err)
	}
	detail := &Detail{Model: j.cfg.Model.String(), Rubric: s.rubric, Delimiter: fenced.delimiter}
	var fatal error
	for range s.rubric.votes() {
		var vote Vote
		vote, fatal = j.vote(ctx, &s.rubric, fenced, detail)
		detail.Votes = append(detail.Votes, vote)
		if fatal != nil {
			break
		}
	}
	out := count(&s.rubric, detail)
	if fatal != nil {
		// What was voted before stays in the record, but no number is made of a part of the votes.
		out.Score, out.Checks = tooleval.Unscoredf("the judge could not be asked"), nil
		fatal = fmt.Errorf("judge %s: %w", j.cfg.Model, fatal)
	}
	raw, err := encode(detail)
	if err != nil {
		return tooleval.Outcome{}, tooleval.Blamef(tooleval.OwnerHarness, "judge: encoding the exchange: %w", err)
	}
	out.Detail = raw
	return out, fatal
}

// vote asks once, and once more when the reply can't be read. The error is a judge that could not be asked.
func (j *Judge) vote(ctx context.Context, r *Rubric, text fenced, d *Detail) (Vote, error) {
	var v Vote
	q := question{system: system(r, text), user: user(r, text), schema: r.schema(), maxTokens: j.cfg.MaxTokens}
	for n := range 2 {
		reply, err := j.ask(ctx, q)
		x := Exchange{
			Request: d.request(reply.sent), Reply: reply.body(), Model: reply.model, Usage: tooleval.Raw(reply.usage),
			Stop: reply.stop, Tries: reply.tries,
		}
		var overflow *tooLong
		if errors.As(err, &overflow) {
			x.Unreadable = "the text is too long for the judge: " + overflow.Error()
			v.Exchanges, v.Why = append(v.Exchanges, x), tooleval.Text(x.Unreadable)
			return v, nil
		}
		if err != nil {
			x.Error = tooleval.Text(err.Error())
			v.Exchanges, v.Why = append(v.Exchanges, x), "the judge could not be asked"
			return v, err
		}
		got, no := read(r, reply, text.lines)
		x.Unreadable = no.why
		got.Exchanges, got.Why = slices.Concat(v.Exchanges, []Exchange{x}), tooleval.Text(no.why)
		if v = got; no.why == "" || no.final {
			return v, nil
		}
		if n == 0 {
			q.user += again(no.why)
			if reply.cutOff {
				q.maxTokens *= 2
			}
		}
	}
	return v, nil
}

// ask sends one question. A server that refuses a forced tool choice (Claude's models of the 5.5 generation do, and so do
// models that think by default) or a strict schema is asked without it, from then on at once.
func (j *Judge) ask(ctx context.Context, q question) (reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, j.cfg.Timeout, tooleval.Blamef(tooleval.OwnerInfra,
		"no reply within %v", j.cfg.Timeout))
	defer cancel()
	for {
		q.forced, q.strict = !j.unforced.Load(), !j.lax.Load()
		got, err := j.asker.ask(ctx, q)
		var no *unsupported
		switch {
		case !errors.As(err, &no):
			return got, err
		case no.forced && q.forced:
			j.unforced.Store(true)
		case no.strict && q.strict:
			j.lax.Store(true)
		default:
			return got, tooleval.Blame(tooleval.OwnerInfra, err)
		}
	}
}
