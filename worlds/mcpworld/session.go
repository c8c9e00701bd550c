package mcpworld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tooleval/tooleval/internal/process"
)

const (
	mostTools  = 10_000
	exitTime   = time.Second // for a server to end once its input has ended, and again after it was told to
	settleTime = 300 * time.Millisecond
)

// A session is the connection of one run, with the server's process where there is one.
type session struct {
	name    string
	client  *mcp.ClientSession
	secrets []secret
	cancel  context.CancelFunc

	server *process.Process // nil for a URL
	home   *process.Home
	stderr process.Capture
	http   *headers // nil for a command

	once sync.Once
	err  error
}

// A secret is a value that must not get into a record.
type secret struct{ value, mark string }

func (f *Factory) connect(ctx context.Context) (*session, error) {
	c := &f.config
	s := &session{}
	// The connection outlives the setup, which ctx is about.
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	defer context.AfterFunc(ctx, cancel)()
	var transport mcp.Transport
	var err error
	if len(c.Command) > 0 {
		transport, err = s.start(c)
	} else {
		transport, err = s.reach(c)
	}
	if err != nil {
		_ = s.close() // the first error is the one that counts
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "tooleval", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	s.client, err = client.Connect(life, transport, nil)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		err = s.explain(err)
		_ = s.close() // the first error is the one that counts
		return nil, err
	}
	return s, nil
}

// start starts the server's program.
func (s *session) start(c *Config) (mcp.Transport, error) {
	s.name = fmt.Sprintf("the MCP server %q", filepath.Base(c.Command[0]))
	home, err := process.NewHome()
	if err != nil {
		return nil, fmt.Errorf("%s: its folder: %w", s.name, err)
	}
	s.home = home
	s.server, err = process.Start(process.Spec{Command: c.Command, Dir: home.Work, Env: home.Env(c.Env), Stdin: true, Stderr: &s.stderr})
	if err != nil {
		return nil, fmt.Errorf("%s can't be started: %w", s.name, err)
	}
	return &mcp.IOTransport{Reader: io.NopCloser(exactLines(s.server.Stdout, "")), Writer: s.server.Stdin, MaxLineLength: mostLine}, nil
}

// reach prepares the way to a server at a URL.
func (s *session) reach(c *Config) (mcp.Transport, error) {
	s.name = "the MCP server at " + shownURL(c.URL)
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("%s: the url can't be read", s.name)
	}
	s.http = &headers{host: u.Host, set: c.Headers}
	for name, value := range c.Headers {
		mark := "[redacted:" + name + "]"
		s.secrets = append(s.secrets, secret{value, mark})
		if _, credential, ok := strings.Cut(value, " "); ok {
			s.secrets = append(s.secrets, secret{credential, mark})
		}
	}
	// Longest first, so that what is left of a longer one never stays.
	slices.SortFunc(s.secrets, func(a, b secret) int {
		if n := len(b.value) - len(a.value); n != 0 {
			return n
		}
		return strings.Compare(a.mark, b.mark)
	})
	return &mcp.StreamableClientTransport{Endpoint: c.URL, HTTPClient: &http.Client{Transport: s.http}, MaxRetries: -1,
		DisableStandaloneSSE: true}, nil
}

// shownURL is a URL without what may be secret in it.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// tools are the names of the server's tools.
func (s *session) tools(ctx context.Context) ([]string, error) {
	var names []string
	for t, err := range s.client.Tools(ctx, nil) {
		if err != nil {
			return nil, s.explain(fmt.Errorf("listing its tools: %w", err))
		}
		if names = append(names, t.Name); len(names) > mostTools {
			return nil, fmt.Errorf("%s has more than %d tools", s.name, mostTools)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s can be reached but lists no tools; see whether it has what it needs, such as a credential", s.name)
	}
	return names, nil
}

// explain says what is known about an error of the connection: how the server's program ended, or what HTTP said.
func (s *session) explain(err error) error {
	if s.server != nil {
		timer := time.NewTimer(settleTime) // a dying program closes its output before it has ended
		defer timer.Stop()
		closed := errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)
		exited := false
		select {
		case <-s.server.Exited():
			exited = true
		default:
			if closed {
				select {
				case <-s.server.Exited():
					exited = true
				case <-timer.C:
				}
			}
		}
		if exited {
			exit := s.server.Stop(0, exitTime)
			said := ""
			if tail := strings.TrimSpace(s.stderr.Tail(500)); tail != "" {
				said = fmt.Sprintf("; it said: %q", s.clean(tail))
			}
			return fmt.Errorf("%s ended (%s)%s", s.name, exit, said)
		}
	}
	if s.http != nil {
		if status := s.http.trouble(); status != "" {
			hint := ""
			if strings.HasPrefix(status, "401") || strings.HasPrefix(status, "403") {
				hint = "; see whether its headers carry the right credential"
			}
			return fmt.Errorf("%s answered %s%s", s.name, s.clean(status), hint)
		}
	}
	return fmt.Errorf("%s: %w", s.name, &cleaned{err, s.clean(err.Error())})
}

// A cleaned is an error with the secrets in its message replaced.
type cleaned struct {
	err     error
	message string
}

func (c *cleaned) Error() string { return c.message }
func (c *cleaned) Unwrap() error { return c.err }

// clean is text without the values of headers.
func (s *session) clean(text string) string {
	const shortest = 6 // what is shorter turns up by chance
	for _, secret := range s.secrets {
		if len(secret.value) >= shortest {
			text = strings.ReplaceAll(text, secret.value, secret.mark)
		}
	}
	return text
}

// close ends the connection and the server's whole process tree.
func (s *session) close() error {
	s.once.Do(func() {
		if s.server != nil {
			s.server.Stdin.Close() // that is how MCP says goodbye
			if exit := s.server.Stop(exitTime, exitTime); len(exit.Left) > 0 {
				s.err = fmt.Errorf("%s left processes behind: %s", s.name, strings.Join(exit.Left, ", "))
			}
		}
		if s.client != nil {
			_ = s.client.Close() // the server is gone, or the session has ended: nothing is lost by an error
		}
		s.cancel()
		if s.server != nil {
			s.server.Close()
		}
		if s.home != nil {
			s.err = errors.Join(s.err, s.home.Remove())
		}
	})
	return s.err
}

// headers is a RoundTripper that adds headers to the requests to one host, and to no other that it is redirected to, keeps
// the last refusal, and makes answers exact.
type headers struct {
	host string
	set  map[string]string

	mu     sync.Mutex
	status string
}

func (h *headers) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if req.URL.Host == h.host {
		for name, value := range h.set {
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.status = ""
	if resp.StatusCode >= 400 {
		h.status = resp.Status
	}
	h.mu.Unlock()
	return exactResponse(resp), nil
}

// trouble is the status of the last answer when it was a refusal.
func (h *headers) trouble() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}
