package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// birds is an MCP server for the scripts: the command mcp-birds KIND, where KIND is sound, empty or mortal.
func birds(kind string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "birds", Version: "1"},
		&mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	if kind == "empty" {
		return s
	}
	seen := 0
	s.AddTool(&mcp.Tool{Name: "look_up", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if seen++; kind == "mortal" && seen == 2 {
				fmt.Fprintln(os.Stderr, "the nest is full")
				os.Exit(9)
			}
			text := fmt.Sprintf(`{"call":"fraank","seen":%d,"ring":12345678901234567890,"asked":%s}`, seen, r.Params.Arguments)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: json.RawMessage(text)}, nil
		})
	return s
}

func mcpBirds() {
	kind := "sound"
	if len(os.Args) > 1 {
		kind = os.Args[1]
	}
	_ = birds(kind).Run(context.Background(), &mcp.StdioTransport{})
}

// serveBirds: sets BIRDS to the address of a server that takes the key in CANARY_API_KEY.
func serveBirds(ts *testscript.TestScript, _ bool, _ []string) {
	key := ts.Getenv("CANARY_API_KEY")
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return birds("sound") }, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, "no such key: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	ts.Defer(s.Close)
	ts.Setenv("BIRDS", s.URL)
}
