package ingest

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tooleval/tooleval"
)

func fitsInspect(p *probe) bool {
	return p.zip || p.first().has("eval", "version", "status") && !p.first().has("schema_version")
}

// readInspect reads the logs of Inspect: an archive with one file a sample, or one JSON file. A sample that was logged with
// neither an error nor a limit completed.
func readInspect(s *source, yield func(*Recording, error) bool) {
	var magic [4]byte
	if _, err := s.in.ReadAt(magic[:], 0); err == nil && string(magic[:]) == "PK\x03\x04" {
		s.readArchive(yield)
		return
	}
	sc := newScanner(s.in, s.opts.MaxRecord)
	model, stopped, seen := "", false, false
	err := sc.object(func(key string) error {
		switch key {
		case "eval":
			v, err := sc.value()
			model = v.get("model").str()
			return err
		case "samples":
			if c, err := sc.must(); err != nil || c != '[' {
				return errors.Join(err, sc.skip())
			}
			seen = true
			return sc.array(func(i int) error {
				v, err := sc.value()
				if err != nil {
					return err
				}
				if !s.sample(v, model, fmt.Sprintf("sample %d", i+1), yield) {
					stopped = true
					return io.EOF
				}
				return nil
			})
		}
		return sc.skip()
	})
	switch {
	case stopped:
	case err != nil:
		yield(nil, s.fatal(err))
	case !seen:
		yield(nil, s.fatal(errors.New("the log has no samples: it was written as a header only")))
	}
}

// readArchive reads a .eval file.
func (s *source) readArchive(yield func(*Recording, error) bool) {
	size, err := s.in.Seek(0, io.SeekEnd)
	if err != nil {
		yield(nil, s.fatal(err))
		return
	}
	z, err := zip.NewReader(s.in, size)
	if err != nil {
		yield(nil, s.fatal(fmt.Errorf("the archive: %w", err)))
		return
	}
	model := ""
	var samples []*zip.File
	chunked := 0
	for _, f := range z.File {
		switch name := f.Name; {
		case name == "header.json", name == "_journal/start.json", name == "start.json":
			if v, err := s.entry(f); err == nil && model == "" {
				model = v.path("eval", "model").str()
			}
		case strings.HasPrefix(name, "samples/") && strings.HasSuffix(name, ".json"):
			if strings.Count(name, "/") == 1 {
				samples = append(samples, f)
			} else if strings.HasSuffix(name, "/sample.json") {
				chunked++
			}
		}
	}
	if chunked > 0 {
		yield(nil, s.fatal(fmt.Errorf("%d samples are stored in chunks, which is not read: convert the log to JSON first (inspect log convert)", chunked)))
		return
	}
	slices.SortFunc(samples, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range samples {
		v, err := s.entry(f)
		if err != nil {
			if !yield(nil, s.bad(f.Name, err)) {
				return
			}
			continue
		}
		if !s.sample(v, model, f.Name, yield) {
			return
		}
	}
}

// entry is a file of the archive, however large the archive says it is.
func (s *source) entry(f *zip.File) (value, error) {
	r, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			return nil, fmt.Errorf("its compression (method %d) is not known: convert the log to JSON first (inspect log convert)", f.Method)
		}
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, int64(s.opts.MaxRecord)+1))
	if err != nil {
		return nil, err
	}
	if len(b) > s.opts.MaxRecord {
		return nil, fmt.Errorf("%w: it has more than %d bytes", errTooLarge, s.opts.MaxRecord)
	}
	sc := newScanner(strings.NewReader(string(b)), s.opts.MaxRecord)
	return sc.value()
}

func (s *source) sample(v value, model, position string, yield func(*Recording, error) bool) bool {
	if v.kind() != '{' || v.get("messages").kind() != '[' {
		return yield(nil, s.bad(position, errNo("messages", v)))
	}
	b := newBuilder(s, position)
	b.rec.TaskID = v.get("id").name()
	b.rec.Source.Agent = model
	if n, ok := v.get("epoch").integer(); ok && n >= 1 && n <= maxTrial { // epochs count from 1
		b.rec.Index = int(n - 1)
	}
	attached := v.get("attachments")
	for _, m := range v.get("messages").list() {
		b.inspectMessage(m, attached)
	}
	b.inspectScore(v.get("scores"))
	b.inspectUsage(v.get("model_usage"))
	limit := v.path("limit", "type").str()
	switch why := tooleval.Text("Inspect stopped the sample at its limit of " + limit); {
	case !v.get("error").none():
		b.broke(tooleval.Errored, tooleval.OwnerInfra, "the sample failed: "+contentText(v.path("error", "message")))
	case limit == "time" || limit == "working":
		b.broke(tooleval.TimedOut, tooleval.OwnerAgent, why)
	case limit == "operator":
		b.rec.Ending = tooleval.Cancelled
	case limit != "":
		b.broke(tooleval.LimitReached, tooleval.OwnerAgent, why)
	default:
		b.rec.Ending = tooleval.Completed
	}
	return yield(s.done(b, position))
}

// attachment is the text that a reference such as attachment://hash stands for.
func attachment(text tooleval.Text, attached value) tooleval.Text {
	name, ok := strings.CutPrefix(string(text), "attachment://")
	if !ok || strings.ContainsAny(name, " \n") {
		return text
	}
	if t, ok := attached.get(name).text(); ok {
		return t
	}
	return text
}

func (b *builder) inspectMessage(m, attached value) {
	text := attachment(contentText(m.get("content")), attached)
	switch role := m.get("role").str(); role {
	case "assistant":
		var list []found
		for _, e := range m.get("tool_calls").list() {
			f := found{id: e.get("id").name(), tool: e.get("function").str(), args: e.get("arguments"), argsError: e.get("parse_error").str()}
			if f.tool == "" {
				f.args, f.malformed = e, "it names no function"
			}
			list = append(list, f)
		}
		b.assistant(text, list)
	case "tool":
		e := m.get("error")
		if text == "" && !e.none() {
			text, _ = e.get("message").text()
		}
		b.result(m.get("tool_call_id").name(), m.get("function").str(), text, !e.none())
	case "user":
		b.user()
	case "system":
	default:
		b.warn("a message of the role %.50q is left out", role)
	}
}

// inspectScore takes the only score, if there is one: C and I stand for 1 and 0 there.
func (b *builder) inspectScore(v value) {
	n := 0
	var only value
	v.each(func(_, score value) bool {
		n++
		only = score.get("value")
		return true
	})
	switch {
	case n != 1:
	case only.is("C"):
		b.given(value("1"), nil)
	case only.is("I"):
		b.given(value("0"), nil)
	default:
		b.given(only, only)
	}
}

// inspectUsage adds the totals of each model. Whether input_tokens has the cached ones in it differs between versions and
// providers, and follows from total_tokens.
func (b *builder) inspectUsage(v value) {
	v.each(func(model, u value) bool {
		read, write := u.get("input_tokens_cache_read"), u.get("input_tokens_cache_write")
		in, _ := u.get("input_tokens").integer()
		out, _ := u.get("output_tokens").integer()
		total, _ := u.get("total_tokens").integer()
		r, _ := read.integer()
		w, _ := write.integer()
		if apart := in + out + r + w; r+w > 0 && total == apart {
			b.usage.add(model.str(), u, step{u.get("input_tokens"), u.get("output_tokens"), read}, read, write)
		} else {
			b.usage.add(model.str(), u, step{u.get("input_tokens"), u.get("output_tokens"), read})
		}
		return true
	})
	b.usage.turns = 0 // these are totals, not steps
}
