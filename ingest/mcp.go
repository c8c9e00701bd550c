package ingest

import "github.com/tooleval/tooleval"

func isRPC(v value) bool { return v.get("jsonrpc").kind() == '"' }

func fitsMCP(p *probe) bool { return isRPC(p.first()) }

// readMCP reads the messages of one MCP session, a recording a file: requests tools/call and their responses. Calls overlap
// as the messages do, so that calls which were answered before the next one do not.
func readMCP(s *source, yield func(*Recording, error) bool) {
	s.conversations(isRPC, func(position string, v value, err error) bool {
		if err != nil {
			return yield(nil, err)
		}
		b := newBuilder(s, position)
		messages := v.list()
		if v.kind() != '[' {
			return yield(nil, s.bad(position, errNo("JSON-RPC messages", v)))
		}
		var group []found
		flush := func() {
			b.calls(group)
			group = nil
		}
		for _, m := range messages {
			id := m.get("id").name()
			switch {
			case m.get("method").is("tools/call"):
				f := found{id: id, tool: m.path("params", "name").str(), args: m.path("params", "arguments")}
				if f.args.none() { // the protocol lets arguments be left out
					f.args = value("{}")
				}
				if f.tool == "" {
					f.args, f.malformed = m.get("params"), "it names no tool"
				}
				group = append(group, f)
			case m.get("method") == nil && id != "" && (m.has("result") || m.has("error")):
				flush()
				i := b.answers(id, "")
				if i < 0 || b.rec.Trajectory.Calls[i].ID != id {
					continue // the answer to another request
				}
				if e := m.get("error"); !e.none() {
					b.answer(i, contentText(e.get("message")), true)
				} else {
					b.answer(i, contentText(m.path("result", "content")), m.path("result", "isError").kind() == 't')
				}
			}
		}
		flush()
		b.rec.Trajectory.Channel = tooleval.SelfReported
		return yield(s.done(b, position))
	})
}
