// Package fakellm is a fake of the model servers that agents and judges talk to: Anthropic Messages, OpenAI chat
// completions and OpenAI responses, each streaming or not, on a loopback port. A script says what is answered, so a whole
// agent, also a foreign one in its own process, runs without a network, a key or a cent.
//
//	srv := fakellm.New(t, fakellm.Turns(
//		fakellm.CallTool("calculate", `{"expression":"6*7"}`),
//		fakellm.Func(func(r fakellm.Request) fakellm.Reply { return fakellm.Text("6 * 7 = " + r.LastResult().Text) }),
//	))
//	agent.BaseURL = srv.URL("run-1")              // …/run/run-1, with /v1/messages, /v1/chat/completions, … below it
//	first := srv.Requests("run-1")[0]             // what the agent really sent, in words that all dialects share
//
// Runs are kept apart by their URL, so that many agents may share one server. Everything is deterministic: ids count, and
// nothing is random.
//
// # Limits
//
// It checks what the real servers are known to refuse (a missing model, a tool result without its call, a temperature
// under Anthropic's version 2026-10-21) but is no validator of their whole schemas. Token counts are made up.
package fakellm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// MaxRequest is the size in bytes above which a request is refused with 413.
const MaxRequest = 32 << 20

// TB is the part of testing.TB that a Server needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// A Server answers on a loopback port until it is closed. All methods may be called concurrently.
type Server struct {
	base   string
	http   *http.Server
	served chan struct{}

	mu      sync.Mutex
	script  Script
	scripts map[string]Script
	log     map[string][]Request
	strays  []string
}

// New starts a server. The script serves every run that has none of its own; nil answers such runs with an error. With a
// TB the server ends with the test; with nil the caller has to close it, and New panics when there is no loopback port.
func New(t TB, script Script) *Server {
	s, err := Start(script)
	switch {
	case t != nil && err != nil:
		t.Helper()
		t.Fatalf("fake llm: %v", err)
	case t != nil:
		t.Helper()
		t.Cleanup(s.Close)
	case err != nil:
		panic(fmt.Sprintf("fake llm: %v", err))
	}
	return s
}

// Start is New for commands: the caller closes the server.
func Start(script Script) (*Server, error) { return Listen("127.0.0.1:0", script) }

// Listen is Start on an address of one's own, which must be on loopback; port 0 stands for a free one.
func Listen(addr string, script Script) (*Server, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("fake llm: address %q: want a form like 127.0.0.1:8080", addr)
	}
	if host != "127.0.0.1" && host != "localhost" {
		return nil, fmt.Errorf("fake llm: address %q: it answers on 127.0.0.1 or localhost alone", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{
		base:    "http://" + l.Addr().String(),
		served:  make(chan struct{}),
		script:  script,
		scripts: map[string]Script{},
		log:     map[string][]Request{},
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // ends by Close alone
	}()
	return s, nil
}

// Close ends the server and every answer that hangs. It may be called more than once.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.served
}

// Script gives one run a script of its own.
func (s *Server) Script(run string, script Script) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[run] = script
}

// URL is the base URL of one run, without a slash at its end. Anthropic's clients take it as it is, OpenAI's with /v1
// behind it. The run named "" has no prefix. A name holds letters, digits, '-', '_' and '.'.
func (s *Server) URL(run string) string {
	if run == "" {
		return s.base
	}
	return s.base + "/run/" + run
}

// Requests are the model requests of one run so far, in the order in which they arrived, refused ones included.
func (s *Server) Requests(run string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log[run])
}

// Runs are the names of the runs that sent anything, sorted.
func (s *Server) Runs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.log))
}

// Strays are the requests that were for none of the three APIs, each as "METHOD path".
func (s *Server) Strays() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.strays)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A web page in a browser on this machine must not reach the server by a name that it points at loopback.
	if host, _, _ := net.SplitHostPort(r.Host); host != "127.0.0.1" && host != "localhost" {
		http.Error(w, "this server answers on loopback alone", http.StatusForbidden)
		return
	}
	run, path := split(r.URL.Path)
	d, known := dialects[path]
	if !known || r.Method != http.MethodPost {
		s.stray(w, r, path)
		return
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, MaxRequest+1))
	if err != nil {
		return // the client went away
	}
	req, problem := d.read(raw, r.Header)
	if len(raw) > MaxRequest {
		req, problem = Request{}, fmt.Errorf("the request has more than %d bytes", MaxRequest)
	}
	req.Run, req.Path, req.Raw, req.Header = run, r.URL.Path, raw, r.Header.Clone()
	req.Dialect, req.Key = d.name, key(r.Header)
	script := s.note(&req, problem)

	var reply Reply
	switch {
	case problem != nil:
		reply = Fail(http.StatusBadRequest, "invalid_request_error", problem.Error())
	case script == nil:
		reply = Fail(http.StatusBadRequest, "invalid_request_error", fmt.Sprintf("fake llm: run %q has no script", run))
	default:
		reply = script(req)
	}
	s.send(w, r, d, req, reply)
}

// note writes a request down, numbers it and finds its script.
func (s *Server) note(req *Request, problem error) Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	req.N = len(s.log[req.Run])
	if problem != nil {
		req.Problem = problem.Error()
	}
	s.log[req.Run] = append(s.log[req.Run], *req)
	if script, ok := s.scripts[req.Run]; ok {
		return script
	}
	return s.script
}

// stray answers what is for no model. Lists of models are asked for by several agents at their start.
func (s *Server) stray(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	if len(s.strays) < 1000 {
		s.strays = append(s.strays, r.Method+" "+r.URL.Path)
	}
	s.mu.Unlock()
	if path == "/v1/models" && r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"fake-model","object":"model","created":0,"owned_by":"fake"}]}`)
		return
	}
	http.Error(w, "fake llm: nothing is served at "+path, http.StatusNotFound)
}

// split takes the run's prefix off a path.
func split(path string) (run, rest string) {
	if after, ok := strings.CutPrefix(path, "/run/"); ok {
		if i := strings.IndexByte(after, '/'); i > 0 {
			run, path = after[:i], after[i:]
		}
	}
	// Clients disagree on whether /v1 belongs to the base URL.
	if !strings.HasPrefix(path, "/v1/") {
		path = "/v1" + path
	}
	return run, path
}

func key(h http.Header) string {
	if k, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer "); ok {
		return k
	}
	return h.Get("X-Api-Key")
}

func encode(v any) []byte {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("fake llm: encoding a reply: %v", err))
	}
	return bytes.TrimRight(buf.Bytes(), "\n")
}

// decode reads one JSON object into v.
func decode(raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("%s: want %s, got %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	return nil
}
