package profile_test

import (
	"os"
	"testing"

	"github.com/tooleval/tooleval/agents/profile"
)

// TestMain makes the test binary the program that serves the helper commands, and the fake agents.
func TestMain(m *testing.M) {
	if exit, ok := profile.Helper(os.Args[1:], os.Getenv, os.Stdin, os.Stdout, os.Stderr); ok {
		os.Exit(exit)
	}
	if len(os.Args) > 2 && os.Args[1] == "fake-agent" {
		fakeAgent(os.Args[2], os.Args[3:])
		os.Exit(0)
	}
	os.Exit(m.Run())
}
