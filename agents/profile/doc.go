// Package profile evaluates command-line agents off the shelf, unchanged. A [Profile] is a small YAML file that says how
// an agent is started, configured, asked and understood; an [Agent] does one run with it: a private HOME, the run's tools
// as an MCP endpoint, the program, its end, and what it all means.
//
//	p, err := profile.Find("codex", profile.Folders(os.Getenv))
//	agent, err := profile.New(ctx, p, profile.Options{Getenv: os.Getenv, Set: map[string]string{"model": "gpt-6.1-sol"}})
//	result, err := agent.Run(ctx, assignment, tools)
//
// The format is told in docs/agents.md. Profiles of codex, gemini, qwen, opencode, pi and claude-code are built in.
//
// # Whose fault it is
//
// An exit code says little: many agents end with 0 when they never got their tools, or when their model's server refused
// them. So a run counts only when the endpoint itself saw the agent ask for its tools; anything else, and an answer that
// is the text of a provider's error, is blamed on infra.
//
// # Limits
//
// A call that the agent refuses itself (an unknown tool, arguments that it finds wrong) never reaches the tools and is
// not recorded. What the agent does with tools of its own (a shell, say) is not seen: the built-in profiles turn those
// off. Without a sandbox the agent's process can read what its user can read.
package profile
