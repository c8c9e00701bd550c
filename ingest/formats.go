package ingest

import (
	"fmt"
	"strings"

	"github.com/tooleval/tooleval"
)

// A Format is a shape in which trajectories are recorded.
type Format string

// The formats.
const (
	OpenAIChat      Format = "openai-chat"
	OpenAIResponses Format = "openai-responses"
	Anthropic       Format = "anthropic"
	Gemini          Format = "gemini"
	MCP             Format = "mcp"
	OTLP            Format = "otlp"
	Inspect         Format = "inspect"
	TauBench        Format = "tau-bench"
	Tau2Bench       Format = "tau2-bench"
	Runs            Format = "tooleval"
	Neutral         Format = "neutral"
)

// A formatInfo is everything that is known about a format.
type formatInfo struct {
	format Format
	what   string
	errors string
	fits   func(p *probe) bool
	read   func(s *source, yield func(*Recording, error) bool)
}

// allFormats is in the order in which formats are listed.
var allFormats []formatInfo

func init() { // a composite literal would be an initialisation cycle, as readers look their format up
	allFormats = []formatInfo{
		{OpenAIChat, "OpenAI chat messages", "a tool message with is_error: true or status: \"error\"", fitsChat, readChat},
		{OpenAIResponses, "OpenAI responses items", "an mcp_call with an error; an output with is_error: true", fitsResponses, readResponses},
		{Anthropic, "Anthropic messages", "a tool result with is_error: true, or whose content is an error object", fitsAnthropic, readAnthropic},
		{Gemini, "Gemini contents", "a function response with the key error", fitsGemini, readGemini},
		{MCP, "MCP messages (JSON-RPC, one a line)", "a result with isError: true, or a JSON-RPC error", fitsMCP, readMCP},
		{OTLP, "OTLP JSON with the GenAI conventions", "a tool span with the status error or an error.type", fitsOTLP, readOTLP},
		{Inspect, "Inspect logs (.eval or JSON)", "a tool message with an error", fitsInspect, readInspect},
		{TauBench, "τ-bench results", "a tool message whose text begins with Error", fitsTau, readTau},
		{Tau2Bench, "τ²-bench results", "a tool message with error: true", fitsTau2, readTau2},
		{Runs, "ToolEval run files, or the folder of an eval", "kept as recorded", fitsRun, readRuns},
		{Neutral, "ToolEval's neutral JSONL", "a call with is_error: true or a status", fitsNeutral, readNeutral},
	}
}

// Formats are all formats, in the order in which they are documented.
func Formats() []Format {
	list := make([]Format, len(allFormats))
	for i, f := range allFormats {
		list[i] = f.format
	}
	return list
}

// ParseFormat is the format of that name; the error names those that there are.
func ParseFormat(name string) (Format, error) {
	if f := find(Format(name)); f != nil {
		return f.format, nil
	}
	var names []string
	for _, f := range allFormats {
		names = append(names, string(f.format))
	}
	return "", fmt.Errorf("unknown format %q%s; the formats are: %s", name, tooleval.DidYouMean(name, names), strings.Join(names, ", "))
}

// What says in words what the format is.
func (f Format) What() string {
	if info := find(f); info != nil {
		return info.what
	}
	return ""
}

// ErrorRule says what makes a tool's result an error in this format. Nothing else does, except Options.ErrorPrefix.
func (f Format) ErrorRule() string {
	if info := find(f); info != nil {
		return info.errors
	}
	return ""
}

func find(f Format) *formatInfo {
	for i := range allFormats {
		if allFormats[i].format == f {
			return &allFormats[i]
		}
	}
	return nil
}
