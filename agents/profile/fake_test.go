package profile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// fakeConnect is what an agent does first.
func fakeConnect() *mcp.ClientSession {
	var transport mcp.Transport = &mcp.StreamableClientTransport{
		Endpoint: os.Getenv("MCP_URL"), HTTPClient: &http.Client{Transport: bearer(os.Getenv("MCP_TOKEN"))}}
	if shim := os.Getenv("MCP_SHIM"); shim != "" {
		transport = &mcp.CommandTransport{Command: exec.Command(shim)}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "fake", Version: "1"}, nil).Connect(context.Background(), transport, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return s
}

// fakeList connects and asks for the tools.
func fakeList() *mcp.ClientSession {
	s := fakeConnect()
	if _, err := s.ListTools(context.Background(), nil); err != nil {
		panic(err)
	}
	return s
}

func fakeCall(s *mcp.ClientSession) string {
	r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "calculate", Arguments: json.RawMessage(`{"expression":"6 * 7"}`)})
	if err != nil {
		return err.Error()
	}
	return r.Content[0].(*mcp.TextContent).Text
}

// lives starts a child that would outlive this process, in a session of its own if wanted, and writes down that it runs.
func lives(session bool) {
	cmd := exec.Command(os.Args[0], "fake-agent", "beats", os.Getenv("BEAT"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(os.Getenv("BEAT")); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// fakeAgent is an agent that does one thing wrong, or right.
func fakeAgent(name string, args []string) {
	switch name {
	case "good":
		s := fakeList()
		fmt.Printf("It is:\n%s\n", fakeCall(s))
		_ = s.Close()
	case "prompt":
		fakeList()
		fmt.Print(strings.Join(args, "|"))
		_, _ = io.Copy(os.Stdout, os.Stdin)
		if path := os.Getenv("PROMPT_FILE"); path != "" {
			b, _ := os.ReadFile(path)
			fmt.Printf("file:%s", b)
		}
	case "environment":
		fakeList()
		wd, _ := os.Getwd()
		b, _ := json.Marshal(map[string]any{"env": os.Environ(), "wd": wd})
		fmt.Printf("%s\n", b)
	case "silent":
	case "connects":
		fakeConnect()
	case "wrong token":
		resp, err := http.Post(os.Getenv("MCP_URL"), "application/json", strings.NewReader(`{}`))
		if err != nil {
			panic(err)
		}
		resp.Body.Close()
		fmt.Println("my tools could not be loaded")
	case "no tools":
		fakeList()
		fmt.Println("I would rather not.")
	case "429 with 0":
		fakeList()
		fmt.Println("API call failed after 3 retries: 429 Too Many Requests")
	case "mentions 429":
		fmt.Printf("HTTP status 429 is Too Many Requests.\n%s\n", fakeCall(fakeList()))
	case "503 with 1":
		fakeList()
		fmt.Fprintln(os.Stderr, "fatal: provider answered 503 Service Unavailable")
		os.Exit(1)
	case "own fault":
		fakeList()
		fmt.Fprintln(os.Stderr, "index out of range")
		os.Exit(3)
	case "own limit":
		fmt.Println(fakeCall(fakeList()))
		os.Exit(53)
	case "infra code":
		fakeList()
		os.Exit(75)
	case "killed":
		fakeList()
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute)
	case "hangs":
		time.Sleep(time.Minute)
	case "lists and hangs":
		fakeList()
		fmt.Println("so far")
		time.Sleep(time.Minute)
	case "answers TERM with 0":
		stopped := make(chan os.Signal, 1)
		signal.Notify(stopped, syscall.SIGTERM)
		fakeList()
		<-stopped
	case "ignores TERM":
		signal.Ignore(syscall.SIGTERM)
		lives(true)
		fakeList()
		time.Sleep(time.Minute)
	case "strays":
		s := fakeList()
		lives(true)
		fmt.Println(fakeCall(s))
	case "beats": // a child that ignores everything but SIGKILL
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		for {
			if os.WriteFile(args[0], []byte(time.Now().String()), 0o600) != nil {
				os.Exit(1)
			}
			time.Sleep(10 * time.Millisecond)
		}
	case "loops":
		s := fakeList()
		for {
			fakeCall(s)
		}
	case "floods":
		s := fakeList()
		line := strings.Repeat("x", 1<<20)
		for range 40 {
			fmt.Print(line)
		}
		fmt.Printf("\n%s\n", fakeCall(s))
	case "jsonl":
		s := fakeList()
		fmt.Println(`not a line of JSON`)
		fmt.Println(`{"kind":"text","parts":[{"text":"first"}]}`)
		fmt.Println(`{"kind":"usage","in":3,"out":1.5,"cost":0.25}`)
		fmt.Printf(`{"kind":"text","parts":[{"text":"It is "},{"image":1},{"text":%q}]}`+"\n", fakeCall(s))
		fmt.Println(`{"kind":"usage","in":4,"out":2,"cost":0.5}`)
		fmt.Println(`{"kind":"text","parts":[]}`)
	case "reaches":
		fakeList()
		for _, target := range args {
			conn, err := net.DialTimeout("tcp", target, 2*time.Second)
			if err == nil {
				_, _ = io.WriteString(conn, "ping")
				_ = conn.(*net.TCPConn).CloseWrite()
				b, _ := io.ReadAll(conn)
				fmt.Printf("%s: %s\n", target, b)
				conn.Close()
				continue
			}
			fmt.Printf("%s: no\n", target)
		}
	case "looks":
		fakeList()
		for _, path := range args {
			entries, err := os.ReadDir(path)
			werr := os.WriteFile(path+"/canary-of-a-test", nil, 0o600)
			fmt.Printf("%s: %d %v %v\n", path, len(entries), err == nil, werr == nil)
		}
		out, _ := exec.Command("ps", "-e").Output()
		fmt.Printf("processes: %d\n", strings.Count(string(out), "\n"))
	default:
		panic("no fake agent " + name)
	}
}
