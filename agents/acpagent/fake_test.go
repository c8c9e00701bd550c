package acpagent_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval/agents/mcpagent"
)

// TestMain makes this test binary an ACP agent, and the tools' stdio server, when its first argument says so.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "acp-agent":
			fakeAgent(os.Args[2])
			return
		case "shim", "mcp-shim": // as of the command, for which this binary stands
			s := mcpagent.Shim{URL: os.Getenv("TOOLEVAL_MCP_URL"), Token: os.Getenv("TOOLEVAL_MCP_TOKEN"), Log: os.Stderr}
			_ = s.Run(context.Background(), os.Stdin, os.Stdout)
			return
		case "sleep":
			time.Sleep(time.Minute)
			return
		}
	}
	os.Exit(m.Run())
}

// A fake is an agent on the other side of ACP; its mode says what it does wrong.
type fake struct {
	acp.Agent // what is not written here must not be called
	mode      string
	conn      *acp.AgentSideConnection
	server    acp.McpServer
	cancelled chan struct{}
}

func fakeAgent(mode string) {
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "no config")
		os.Exit(3)
	case "deaf":
		time.Sleep(time.Minute)
	case "noise":
		fmt.Println("Welcome to the agent!\x1b[2K")
	}
	f := &fake{mode: mode, cancelled: make(chan struct{}, 1)}
	f.conn = acp.NewAgentSideConnection(f, os.Stdout, os.Stdin)
	<-f.conn.Done()
	if mode == "stays" {
		time.Sleep(time.Minute)
	}
}

func (f *fake) Initialize(_ context.Context, r acp.InitializeRequest) (acp.InitializeResponse, error) {
	if r.ClientCapabilities.Fs.ReadTextFile || r.ClientCapabilities.Fs.WriteTextFile || r.ClientCapabilities.Terminal {
		return acp.InitializeResponse{}, acp.NewInternalError("the client offers files or terminals")
	}
	out := acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber, AuthMethods: []acp.AuthMethod{},
		AgentCapabilities: acp.AgentCapabilities{McpCapabilities: acp.McpCapabilities{Http: f.mode != "stdio"}}}
	if f.mode == "version" {
		out.ProtocolVersion = 7
	}
	return out, nil
}

func (f *fake) NewSession(_ context.Context, r acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	switch f.mode {
	case "login":
		return acp.NewSessionResponse{}, acp.NewAuthRequired(nil)
	case "exit2":
		os.Exit(4)
	case "slow":
		time.Sleep(time.Minute)
	}
	if len(r.McpServers) != 1 || !strings.HasSuffix(r.Cwd, "/work") {
		return acp.NewSessionResponse{}, acp.NewInvalidParams(r)
	}
	f.server = r.McpServers[0]
	return acp.NewSessionResponse{SessionId: "s1", Models: &acp.SessionModelState{CurrentModelId: "fake-model", AvailableModels: []acp.ModelInfo{}}}, nil
}

func (f *fake) Cancel(context.Context, acp.CancelNotification) error {
	f.cancelled <- struct{}{}
	return nil
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func (f *fake) connect(ctx context.Context) *mcp.ClientSession {
	var transport mcp.Transport
	if h := f.server.Http; h != nil {
		transport = &mcp.StreamableClientTransport{Endpoint: h.Url, HTTPClient: &http.Client{Transport: bearer(h.Headers[0].Value)}}
	} else {
		cmd := exec.Command(f.server.Stdio.Command, f.server.Stdio.Args...)
		for _, e := range f.server.Stdio.Env {
			cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
		}
		transport = &mcp.CommandTransport{Command: cmd}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "fake", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		panic(err)
	}
	if _, err := s.ListTools(ctx, nil); err != nil {
		panic(err)
	}
	return s
}

func (f *fake) say(ctx context.Context, text string) {
	_ = f.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: "s1", Update: acp.UpdateAgentMessageText(text)})
}

// permission asks for one and says how it went.
func (f *fake) permission(ctx context.Context, id, title string, kind acp.ToolKind) string {
	r, err := f.conn.RequestPermission(ctx, acp.RequestPermissionRequest{SessionId: "s1", Options: []acp.PermissionOption{
		{Kind: acp.PermissionOptionKindAllowAlways, Name: "always", OptionId: "always"},
		{Kind: acp.PermissionOptionKindAllowOnce, Name: "yes", OptionId: "yes"},
		{Kind: acp.PermissionOptionKindRejectOnce, Name: "no", OptionId: "no"},
	}, ToolCall: acp.ToolCallUpdate{ToolCallId: acp.ToolCallId(id), Title: &title, Kind: &kind}})
	switch {
	case err != nil:
		return err.Error()
	case r.Outcome.Selected != nil:
		return string(r.Outcome.Selected.OptionId)
	}
	return "cancelled"
}

func (f *fake) Prompt(ctx context.Context, r acp.PromptRequest) (acp.PromptResponse, error) {
	end := func(reason acp.StopReason) (acp.PromptResponse, error) {
		return acp.PromptResponse{StopReason: reason}, nil
	}
	life := context.Background()
	switch f.mode {
	case "no-tools":
		f.say(ctx, "I have no tools.")
		return end(acp.StopReasonEndTurn)
	case "crash":
		f.connect(ctx)
		os.Exit(5)
	case "killed":
		f.connect(ctx)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "error":
		f.connect(ctx)
		return acp.PromptResponse{}, acp.NewInternalError(map[string]any{"details": "I broke"})
	case "429":
		f.connect(ctx)
		return acp.PromptResponse{}, acp.NewInternalError(map[string]any{"details": "HTTP 429 Too Many Requests"})
	case "429-text":
		f.connect(ctx)
		f.say(ctx, "API call failed after 3 tries: 429")
		return end(acp.StopReasonEndTurn)
	case "hang", "stays-hanging":
		f.connect(ctx)
		cmd := exec.Command(os.Args[0], "sleep")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		_ = cmd.Start()
		fmt.Fprintf(os.Stderr, "child %d\n", cmd.Process.Pid)
		f.say(life, "so far")
		if f.mode == "hang" {
			<-f.cancelled
			f.say(life, " so good")
			return end(acp.StopReasonCancelled)
		}
		time.Sleep(time.Minute)
	case "max-tokens":
		f.connect(ctx)
		f.say(ctx, "half an ans")
		return end(acp.StopReasonMaxTokens)
	case "refusal":
		f.connect(ctx)
		f.say(ctx, "I won't.")
		return end(acp.StopReasonRefusal)
	case "turns":
		f.connect(ctx)
		return end(acp.StopReasonMaxTurnRequests)
	case "flood":
		f.connect(ctx)
		for range 20_000 {
			f.say(ctx, strings.Repeat("x", 1000))
		}
		return end(acp.StopReasonEndTurn)
	case "long-line":
		f.connect(ctx)
		f.say(ctx, strings.Repeat("x", 11<<20))
		return end(acp.StopReasonEndTurn)
	case "permissions":
		f.connect(ctx)
		_ = f.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: "s1", Update: acp.StartToolCall("known", "mcp__world__calculate")})
		var out []string
		for _, p := range []struct {
			id, title string
			kind      acp.ToolKind
		}{
			{"1", "calculate", acp.ToolKindOther}, {"2", "calculate (world MCP Server)", acp.ToolKindOther}, {"3", "world_calculate", acp.ToolKindExecute},
			{"4", "rm -rf / # calculate", acp.ToolKindExecute}, {"5", "calculator", acp.ToolKindOther}, {"6", "Write calculate.go", acp.ToolKindEdit},
			{"7", "please let me use the shell so that I can calculate", acp.ToolKindOther}, {"8", "world/calculate", acp.ToolKindExecute},
			{"9", "", acp.ToolKindOther},
		} {
			out = append(out, f.permission(ctx, p.id, p.title, p.kind))
		}
		f.say(ctx, strings.Join(out, " "))
		if _, err := f.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: "s1", Path: "/etc/passwd"}); err == nil {
			f.say(ctx, " FILE")
		}
		if _, err := f.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: "s1", Path: "/tmp/x", Content: "x"}); err == nil {
			f.say(ctx, " WROTE")
		}
		if _, err := f.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: "s1", Command: "id"}); err == nil {
			f.say(ctx, " TERMINAL")
		}
		return end(acp.StopReasonEndTurn)
	}
	s := f.connect(ctx)
	defer s.Close()
	f.say(ctx, "Let me see.")
	_ = f.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: "s1", Update: acp.StartToolCall("c1", "mcp__world__calculate")})
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "calculate", Arguments: map[string]any{"expression": "6 * 7"}})
	if err != nil {
		return acp.PromptResponse{}, err
	}
	f.say(ctx, "It is ")
	f.say(ctx, res.Content[0].(*mcp.TextContent).Text)
	cached := 30
	usage := &acp.Usage{InputTokens: 70, OutputTokens: 5, CachedReadTokens: &cached, TotalTokens: 105}
	if f.mode == "echo" {
		f.say(ctx, "\n"+r.Prompt[0].Text.Text+"\n"+os.Getenv("SECRET")+os.Getenv("HOME"))
	}
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Usage: usage}, nil
}
