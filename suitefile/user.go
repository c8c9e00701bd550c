package suitefile

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds"
	"github.com/tooleval/tooleval/worlds/modeluser"
)

var userShape = &shape{
	kind: record, name: "world.user",
	doc: "A person behind one of the tools, who answers as each task's user says: by a script or, with a model, as the one described.",
	fields: []field{
		may("tool", aText, "the tool by which the agent talks to them, which tools has to list; left out: ask_user"),
		may("arg", aText, "its argument with the message; left out: message"),
		may("model", aText, "openai:MODEL, which plays them; left out: they answer by the tasks' scripts"),
		may("instruction", aText, "for a model: who they are and what they want, in every task; what a task's user says comes after it. No agent sees it"),
		may("stop", aText, "for a model: what it writes when they are done, which ends the run; left out: ###STOP###"),
		may("max_replies", &shape{kind: integer, min: 1}, "for a model: after so many answers the run ends; left out: 50"),
	},
	example: `world:
  starlark: {program: world.star}
  user:
    model: openai:some-model
    instruction: You are Mia Li, a patient customer.`,
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

// taskUser is a script, or in words what a model is to play.
var taskUser = &shape{kind: either, of: []*shape{aText, listOf(replyShape)}}

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
	if len(l.users) == 0 && settings == nil || w == nil {
		return w
	}
	if settings.get("tool") != nil {
		l.knownTool(settings.get("tool"))
	}
	tool, arg := settings.get("tool").text(), settings.get("arg").text()
	if settings.get("model") != nil {
		return modeluser.User{
			World: w, Tool: tool, Arg: arg, Model: settings.get("model").text(), Instruction: settings.get("instruction").text(),
			Stop: settings.get("stop").text(), MaxReplies: settings.get("max_replies").int(), Tasks: l.userWords(),
		}
	}
	return worlds.User{World: w, Tool: tool, Arg: arg, Replies: l.userReplies()}
}

// checkUsers reports a user who is described where they have a script, and the other way around.
func (l *loader) checkUsers(settings *entry) {
	model := settings.get("model") != nil
	if m := settings.get("model"); model && !strings.HasPrefix(m.words, "openai:") {
		m.fail(l, "model %q: want openai:MODEL", clip(m.words))
	}
	for _, key := range []string{"instruction", "stop", "max_replies"} {
		if x := settings.get(key); x != nil && !model {
			l.fail(x.key, "%s is for a user whom a model plays; add model: openai:MODEL, or leave it out", key)
		}
	}
	for _, id := range l.userTasks() {
		u := l.users[id]
		switch {
		case model && u.node.Kind == yaml.SequenceNode:
			u.fail(l, "the world's user is played by a model: say in words what they want here, instead of a list of answers")
		case !model && u.node.Kind != yaml.SequenceNode:
			u.fail(l, "without a model under world.user the user answers by a script: give a list of answers")
		}
	}
}

// userTasks are the tasks with a user of their own, sorted.
func (l *loader) userTasks() []string { return slices.Sorted(maps.Keys(l.users)) }

func (l *loader) userReplies() map[string][]worlds.Reply {
	replies := map[string][]worlds.Reply{}
	for id, u := range l.users {
		replies[id] = buildReplies(u)
	}
	return replies
}

func (l *loader) userWords() map[string]string {
	words := map[string]string{}
	for id, u := range l.users {
		words[id] = u.text()
	}
	return words
}
