package suitefile

import (
	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
)

var userShape = &shape{
	kind: record, name: "world.user", doc: "A person behind one of the tools, who answers as each task's user says.",
	fields: []field{
		may("tool", aText, "the tool by which the agent talks to them, which tools has to list; left out: ask_user"),
		may("arg", aText, "its argument with the message; left out: message"),
	},
}

var replyShape = &shape{
	kind: record, name: "user[]", doc: "One answer of the user. The first that fits a message and is not used up is given.",
	fields: []field{
		may("when", aText, "a regular expression that the message must match somewhere; left out: any message"),
		must("say", aText, "the answer"),
		may("times", &shape{kind: integer, min: 1}, "how often it may be given; left out: any number"),
		may("ends", aBoolean, "whether the run ends after it"),
	},
}

func buildReplies(e *entry) []worlds.Reply {
	var replies []worlds.Reply
	for _, r := range e.elements() {
		replies = append(replies, worlds.Reply{
			When: r.get("when").text(), Say: r.get("say").text(), Times: r.get("times").int(), Ends: r.get("ends").bool(),
		})
	}
	return replies
}

// withUser puts the user of the tasks behind the tools of a world, if they have one.
func (l *loader) withUser(e *entry, w tooleval.WorldFactory) tooleval.WorldFactory {
	settings := e.get("user")
	if len(l.replies) == 0 && settings == nil || w == nil {
		return w
	}
	u := worlds.User{World: w, Tool: settings.get("tool").text(), Arg: settings.get("arg").text(), Replies: l.replies}
	if settings.get("tool") != nil {
		l.knownTool(settings.get("tool"))
	}
	return u
}
