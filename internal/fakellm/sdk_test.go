package fakellm_test

import (
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/tooleval/tooleval/internal/fakellm"
)

// The library of the vendor reads the stream as it reads the vendor's.
func TestAnthropicLibraryReadsTheStream(t *testing.T) {
	srv := fakellm.New(t, fakellm.Always(fakellm.Reply{
		Thinking: "six times seven", Text: "let me see",
		Calls: []fakellm.Call{{Name: "calculate", Args: `{"n":12345678901234567890}`}, {Name: "calculate", Args: `{}`}},
		Usage: fakellm.Usage{Input: 100, Output: 7, CacheRead: 60, CacheWrite: 10},
	}))
	client := anthropic.NewClient(option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(),
		option.WithAPIKey("k"), option.WithBaseURL(srv.URL("sdk")), option.WithMaxRetries(0))
	stream := client.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 10,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("6*7?"))},
	})
	var m anthropic.Message
	for stream.Next() {
		if err := m.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(m.Content) != 4 || m.StopReason != anthropic.StopReasonToolUse {
		t.Fatalf("content %+v, stop %q", m.Content, m.StopReason)
	}
	if th, ok := m.Content[0].AsAny().(anthropic.ThinkingBlock); !ok || th.Thinking != "six times seven" {
		t.Errorf("thinking: %+v", m.Content[0])
	}
	use, ok := m.Content[2].AsAny().(anthropic.ToolUseBlock)
	if !ok || string(use.Input) != `{"n":12345678901234567890}` {
		t.Errorf("call: %+v", use)
	}
	if m.Usage.InputTokens != 30 || m.Usage.CacheReadInputTokens != 60 || m.Usage.OutputTokens != 7 {
		t.Errorf("usage: %+v", m.Usage)
	}
	if key := srv.Requests("sdk")[0].Key; key != "k" {
		t.Errorf("the library sent the key %q", key)
	}
}
