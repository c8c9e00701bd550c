// Package modeluser puts a person whom a model plays behind a tool of another world, for conversations that no script
// foresees.
//
//	modeluser.User{World: world, Model: "openai:some-model", Tasks: map[string]string{
//		"change-seat": "You are Mia Li. You want a window seat in booking Z7GOZK and pay at most 20 dollars for it.",
//	}}
//
// What the agent says becomes a message of the role user in a chat in which the model is the assistant and plays the
// person; what the model answers is the result of the tool. Each run has a conversation of its own. The model is asked at
// OPENAI_BASE_URL with OPENAI_API_KEY, at temperature 0 and with the run's seed; a server that refuses one of the two is
// asked without it.
//
// # Limits
//
// No model answers twice the same for certain, so such runs vary by their user too, and a user may say what they should not
// or leave too early: read some trajectories, or prefer [worlds.User], whose script is exact. The instruction is kept from
// the agent, but the model may well repeat what stands in it. Only the chat completions of OpenAI and of servers like it
// are spoken. The tokens of the user are in no count and no bill of the agent's.
package modeluser
