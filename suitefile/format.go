package suitefile

import "sync"

// FileName is the file that makes a folder a suite.
const FileName = "suite.yaml"

// The whole format. What a key means is said here once: the checks, the JSON Schema and docs/formats/suite.md repeat it.

var answerFields = []field{
	may("result", aValue, "the answer as JSON; its text is that JSON"),
	may("result_file", aFile, "the same, from a JSON file"),
	may("text", aText, "the answer as text"),
	may("text_file", aFile, "the same, from a file"),
	may("error", aText, "the tool says no, in these words; the agent sees that"),
	may("breaks", aText, "the world breaks, for this reason: the agent gets no answer, and the run's failure is the world's"),
	may("latency", aDuration, "passes before the answer"),
	may("ends_run", aBoolean, "nothing is left to be done after this answer: later calls are refused and the run is completed"),
}

var answerKinds = []string{"result", "result_file", "text", "text_file", "error", "breaks"}

var answerShape = &shape{
	kind: record, name: "results[]", doc: "One answer of several.",
	fields: answerFields, groups: []group{exactlyOne(answerKinds...)},
}

var fixtureShape = &shape{
	kind: record, name: "fixtures[]",
	doc: "One canned answer. The first fixture, in written order, whose tool and arguments fit a call answers it, so the narrow " +
		"ones go before the wide ones. A call that none fits is a fixture gap: recorded, and never silently the agent's fault.",
	fields: append([]field{
		must("tool", aText, "the tool that it answers"),
		may("args", aPattern, "what the arguments have to meet; left out: any arguments"),
	}, append(answerFields[:len(answerFields):len(answerFields)],
		may("results", listOf(answerShape), "several answers, used in order over one run"),
		may("when_exhausted", oneWordOf("repeat_last", "cycle", "fail"), "what follows the last of the results; needed when there are several"),
		may("keep", aText, "the list in the world's state to which the arguments of every call that it answered are appended: how a mock shows a write"),
	)...),
	groups: []group{exactlyOne(append(answerKinds[:len(answerKinds):len(answerKinds)], "results")...)},
	example: `- tool: look_up
  args: {bird: {$contains: heron, ignore_case: true}}
  result: {call: fraank}`,
}

var mockShape = &shape{
	kind: record, name: "world.mock", doc: "A world that answers from fixtures.",
	fields: []field{
		must("fixtures", &shape{kind: list, elem: fixtureShape, include: "fixtures"}, "the answers; an element {file: more.yaml} stands for those in that file"),
		may("initial_state", aValue, "the state in which every run starts; left out: none, or an empty list for each keep"),
		may("initial_state_file", aFile, "the same, from a JSON file"),
	},
	groups: []group{atMostOne("initial_state", "initial_state_file")},
}

var toolShape = &shape{
	kind: record, name: "tools[]", doc: "Something an agent may call, as the agent sees it.",
	fields: []field{
		must("name", aText, "the tool's name"),
		may("description", aText, "what it does, for the agent"),
		may("input_schema", anObject, `the JSON Schema of its arguments, with "type": "object"; left out: any object`),
		may("input_schema_file", aFile, "the same, from a JSON file"),
	},
	groups: []group{atMostOne("input_schema", "input_schema_file")},
	example: `- name: look_up
  description: Returns the call of a bird.
  input_schema:
    type: object
    properties: {bird: {type: string}}
    required: [bird]
    additionalProperties: false`,
}

var callShape = &shape{
	kind: record, name: "required[], forbidden[]", doc: "Which calls are meant. The name of a tool alone means every call of it.",
	fields: []field{
		must("tool", aText, "the tool"),
		may("args", aPattern, "what the arguments have to meet; left out: any arguments"),
		may("id", aText, "a name for this required call, for after"),
		may("after", texts, "ids of the required calls that must have ended before this one begins"),
	},
}

var aCall = &shape{kind: either, of: []*shape{aText, callShape}}

var limitsShape = &shape{
	kind: record, name: "limits", doc: "Bounds of one run. What is left out takes the harness's default.",
	fields: []field{
		may("timeout", aDuration, "bounds the agent's time"),
		may("calls", &shape{kind: integer, min: 1}, "bounds the number of tool calls; the one after the last ends the run"),
	},
}

var scriptedCallShape = &shape{
	kind: record, name: "calls[]", doc: "A call that a script makes. The name of a tool alone calls it without arguments.",
	fields: []field{must("tool", aText, "the tool"), may("args", anObject, "the arguments")},
}

var scriptShape = &shape{
	kind: record, name: "scripted", doc: "What a scripted mind does: it makes these calls in order and then answers, whatever the calls return.",
	fields: []field{
		may("calls", listOf(&shape{kind: either, of: []*shape{aText, scriptedCallShape}}), "the calls, in order"),
		may("response", aText, "the final answer in words"),
		may("state", aValue, "the final answer as JSON: it is scored where the world keeps no state"),
		may("state_file", aFile, "the same, from a JSON file"),
	},
	groups: []group{atMostOne("state", "state_file")},
}

var rubricShape = &shape{
	kind: record, name: "scorers.*.judge", doc: "A judgement by a language model, which the command line chooses (--judge).",
	fields: []field{
		may("instructions", aText, "what was asked of the agent and what matters"),
		may("criteria", dictOf(aText), "what must hold, by a short name; each is judged by itself and becomes a check"),
		may("decides", oneWordOf("overall", "criteria"), "which part of the judge's reply decides; left out: they must agree"),
		may("votes", &shape{kind: integer, min: 1, max: 9}, "how often the judge is asked; left out: once"),
		may("view", oneWordOf("everything", "final_answer"), "what the judge is shown of a run; left out: everything"),
	},
}

// scorerShape has one key for each of the scorerKinds, which describeAll fills in.
var scorerShape = &shape{
	kind: record, name: "scorers.*", doc: "How an outcome is judged, where the comparison with expected_state is not enough.",
}

// matrixShape is the long form; a matrix may also be the list of rows itself.
var matrixShape = &shape{
	kind: record, name: "matrix", doc: "One task over many inputs. The list of rows alone is the short form.",
	fields: []field{
		may("rows", rowsShape, "the rows, each with the same keys"),
		may("csv", aFile, "the rows from a CSV file whose first line names the columns; cells are text"),
		may("jsonl", aFile, "the rows from a file with one JSON object a line"),
		may("types", dictOf(oneWordOf("text", "number", "boolean", "json")), "what the cells of a CSV column are; left out: text"),
		later(may("id", aText, "what is appended to the task's id, made of columns, as in ${from}-${to}; left out: the first columns that tell the rows apart")),
	},
	groups: []group{exactlyOne("rows", "csv", "jsonl")},
}

var rowsShape = listOf(anObject)

var taskShape = &shape{
	kind: record, name: "tasks[]", doc: "What an agent is to do, and how that is scored.",
	fields: []field{
		must("id", aText, "unique in the suite, also but for case"),
		must("description", aText, "what is to be done, for the agent"),
		later(may("matrix", &shape{kind: either, of: []*shape{rowsShape, matrixShape}}, "makes a task of every row; its columns are variables in this task")),
		may("entry_point", aText, "what in the agent is targeted; left out: the suite's only entry point, or its name"),
		may("input", aValue, "handed to the agent as it is"),
		may("input_file", aFile, "the same, from a JSON file"),
		may("toolset", &shape{kind: list, elem: aText, empty: true}, "the tools that may be called; left out: all of the suite's"),
		may("required", listOf(aCall), "calls that the goal can't be reached without; each is met by a call of its own that returned no error"),
		may("order", oneWordOf("any", "as_written"), "whether the required calls must be made in the order in which they are written; left out: any"),
		may("forbidden", listOf(aCall), "calls that must not be made, whatever they return"),
		may("trajectory", trajectoryShape, "what the whole trajectory has to look like, where required and forbidden calls say too little"),
		may("minimal_necessary_calls", &shape{kind: integer, min: 0}, "the calls of the shortest sane path; left out: efficiency does not apply"),
		may("expected_state", aPattern, "what the final state has to meet: the world's where it keeps one, else the agent's"),
		may("expected_state_file", aFile, "the same, from a JSON file"),
		may("scorer", &shape{kind: either, of: []*shape{aText, scorerShape}}, "judges the outcome: one of the suite's scorers, or one of its own; beside expected_state both must hold"),
		may("threshold", &shape{kind: number, min: 0, max: 1}, "the outcome from which a run passes; left out: 1"),
		may("do_nothing_may_pass", aText, "why an agent that does nothing is right to pass; left out: it must fail"),
		may("limits", limitsShape, "bounds of one run"),
		may("faults", listOf(faultShape), "trouble that is made on purpose in every run; of those that fit one call the first that can lands"),
		may("wants_recovery", aBoolean, "whether coping with the faults is part of what is asked: then a run that fails right after one is the agent's failure, and not the world's"),
		may("tags", texts, "for --tag"),
		may("scripted", scriptShape, "what the mind named scripted does here"),
		may("user", taskUser, "what the user behind ask_user answers here; where a model plays them: in words, what they want here"),
		may("data", aValue, "what ctx.data is here for a world in Starlark; the agent never sees it"),
	},
	groups: []group{
		atMostOne("input", "input_file"),
		atMostOne("expected_state", "expected_state_file"),
		{keys: []string{"expected_state", "expected_state_file", "scorer"}, need: true},
	},
	example: `- id: birds.heron
  description: 'What is the call of a heron? Answer with the JSON object {"call": "<the call>"}.'
  required: [look_up]
  minimal_necessary_calls: 1
  expected_state: {call: fraank}`,
}

var mindShape = &shape{
	kind: record, name: "minds[]", doc: "An agent backend that the suite brings along, for --agent.",
	fields: []field{
		must("name", aText, "its name"),
		may("description", aText, "what it is"),
		may("scripts", dictOf(scriptShape), "what it does, by task id"),
		may("starlark", agentFunction, "a function of a Starlark file"),
		may("command", texts, "the program and its arguments, which speaks docs/protocol.md; what begins with ./ or ../ is relative to the suite's folder, and must not lie in it"),
		may("env", texts, "environment variables for the program: NAME hands one over, NAME=value sets one"),
		may("aliases", dictOf(aText), "the entry points in this mind, by those of the suite, where the names differ"),
	},
	groups: []group{exactlyOne("scripts", "starlark", "command")},
}

var entryPointShape = &shape{
	kind: record, name: "entry_points[]", doc: "A named thing in an agent that tasks target. The name alone is the short form.",
	fields: []field{must("name", aText, "its name"), may("description", aText, "what it does")},
}

func suiteShape() *shape {
	return &shape{
		kind: record, name: "the suite", doc: "The file suite.yaml.",
		fields: []field{
			may("$schema", aText, "where editors find the JSON Schema; ToolEval does not read it"),
			must("name", aText, "the suite's name, for --suite and reports"),
			may("description", aText, "what the suite is about"),
			may("version", aText, "raised by hand when a change that the files don't show, such as another server, makes earlier runs incomparable"),
			may("env", texts, "the environment variables that templates may use"),
			later(may("vars", dictOf(aValue), "values that templates may use, by name; a value may itself use env")),
			may("limits", limitsShape, "bounds of every run, for tasks that don't state their own"),
			must("tools", listOf(toolShape), "the tools, in the order in which an agent sees them"),
			may("entry_points", listOf(&shape{kind: either, of: []*shape{aText, entryPointShape}}), "the entry points; left out: those that the tasks name"),
			must("world", worldShape(), "what the tools act on"),
			may("scorers", dictOf(scorerShape), "scorers that several tasks use, by name"),
			may("minds", listOf(mindShape), "agents that the suite brings along"),
			later(must("tasks", &shape{kind: list, elem: taskShape, include: "tasks"}, "the tasks; an element {file: more.yaml} stands for those in that file")),
		},
	}
}

// worldShape has one key for each of the worldKinds.
func worldShape() *shape {
	s := &shape{kind: record, name: "world", doc: "What the tools act on. Every run gets a fresh one."}
	var all, simulated, live []string
	for _, k := range worldKinds() {
		s.fields = append(s.fields, may(k.key, k.shape, k.doc))
		all = append(all, k.key)
		if k.live {
			live = append(live, k.key)
		} else {
			simulated = append(simulated, k.key)
		}
	}
	s.fields = append(s.fields, may("user", userShape, "a person behind one of the tools"))
	s.groups = []group{{keys: all, need: true}, atMostOne(simulated...), atMostOne(live...)}
	return s
}

// The description is made when it is first used: made at the start of the program, it would be in a cycle with the
// functions that build what it describes.
var made struct {
	once    sync.Once
	format  *shape
	records []*shape
}

// format is the description of suite.yaml.
func format() *shape {
	describeAll()
	return made.format
}

// records are the records of the format, outermost first.
func records() []*shape {
	describeAll()
	return made.records
}

func describeAll() {
	made.once.Do(func() {
		var keys []string
		for _, k := range scorerKinds() {
			scorerShape.fields = append(scorerShape.fields, may(k.key, k.shape, k.doc))
			keys = append(keys, k.key)
		}
		scorerShape.groups = []group{exactlyOne(keys...)}
		made.format = suiteShape()
		seen := map[*shape]bool{}
		var walk func(s *shape)
		walk = func(s *shape) {
			if s == nil || seen[s] {
				return
			}
			seen[s] = true
			if s.kind == record {
				made.records = append(made.records, s)
			}
			for _, f := range s.fields {
				walk(f.shape)
			}
			walk(s.elem)
			for _, o := range s.of {
				walk(o)
			}
		}
		walk(made.format)
	})
}
