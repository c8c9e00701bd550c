// Package chatagent evaluates a bare chat model: the smallest complete tool loop, so that what is scored is the model
// and as little else as possible.
//
//	s, err := chatagent.Parse("openai:some-model?temperature=0&max_turns=20")
//	agent, err := chatagent.New(s, os.Getenv)
//	if err := agent.Preflight(ctx, nil); err != nil { … } // a missing key
//	result, err := agent.Run(ctx, assignment, tools)
//
// # The loop
//
// The model gets a system prompt of two sentences ([SystemPrompt]), the task's description and input as the user's one
// message, and the assignment's tools with their schemas as they are. The calls of a turn are made at the same time, at
// most 16 of them, and their results sent back; the first turn without a call is the answer. Nothing is repaired and
// nothing is hinted at: a call of an unknown tool, or with arguments that are no JSON object, goes to the harness as
// the model wrote it, is recorded, and the model is told that it failed. Retries are for the connection alone.
//
// # Limits
//
// There is no streaming, no caching of prompts, and no shortening of long conversations. Calls of one turn reach the
// tools in no certain order.
package chatagent
