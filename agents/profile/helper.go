package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/tooleval/tooleval/agents/mcpagent"
)

// Helper serves the two commands that an agent's run starts this program for:
//
//	mcp-shim [--url URL] [--token TOKEN]                    the tools of a run as a stdio MCP server
//	sandbox-exec [--forward INSIDE=SOCKET]… -- COMMAND…     a command in a sandbox, with its ways out
//
// A program that embeds this package calls it first thing in main, or names a program that does in Options.Self. Handled
// is false for any other command; exit is the exit code.
func Helper(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) (exit int, handled bool) {
	if len(args) == 0 {
		return 0, false
	}
	var err error
	switch args[0] {
	case "mcp-shim":
		err = shim(args[1:], getenv, stdin, stdout, stderr)
	case "sandbox-exec":
		exit, err = sandboxExec(args[1:])
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintf(stderr, "%v\n", err)
		if exit == 0 {
			exit = 1
		}
	}
	return exit, true
}

func shim(args []string, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) error {
	s := mcpagent.Shim{URL: getenv("TOOLEVAL_MCP_URL"), Token: getenv("TOOLEVAL_MCP_TOKEN"), Log: stderr}
	for ; len(args) >= 2; args = args[2:] {
		switch args[0] {
		case "--url":
			s.URL = args[1]
		case "--token":
			s.Token = args[1]
		default:
			return fmt.Errorf("mcp-shim: unknown option %q; it takes --url and --token, or TOOLEVAL_MCP_URL and TOOLEVAL_MCP_TOKEN", args[0])
		}
	}
	if len(args) > 0 {
		return fmt.Errorf("mcp-shim: %q needs a value", args[0])
	}
	return s.Run(context.Background(), stdin, stdout)
}

// sandboxExec runs inside of the sandbox: it opens the ways out and runs the command, whose exit code it hands on.
func sandboxExec(args []string) (int, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for len(args) >= 2 && args[0] == "--forward" {
		inside, socket, ok := strings.Cut(args[1], "=")
		if !ok {
			return 1, fmt.Errorf("sandbox-exec: --forward takes INSIDE=SOCKET")
		}
		l, err := net.Listen("tcp", inside)
		if err != nil {
			return 1, fmt.Errorf("sandbox-exec: %w", err)
		}
		defer func() { _ = l.Close() }()
		go relay(ctx, l, "unix", socket)
		args = args[2:]
	}
	if len(args) < 2 || args[0] != "--" {
		return 1, errors.New("sandbox-exec: there is no command")
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM) // the command gets its own; this one ends after it
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 127, fmt.Errorf("sandbox-exec: %w", err)
	}
	go func() {
		for s := range signals {
			_ = cmd.Process.Signal(s)
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if code := exit.ExitCode(); code >= 0 {
			return code, nil
		}
		if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			return 128 + int(w.Signal()), nil
		}
	}
	return 0, err
}

// splice copies until an end and passes the end on, so that each side may go on sending.
func splice(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	if c, ok := to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}
