package mcpagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tooleval/tooleval/internal/wire"
)

// maxAnswer bounds an answer of the endpoint that the shim passes on, in bytes.
const maxAnswer = 256 << 20

// A Shim is the stdio side of a run's endpoint, for agents that take an MCP server only as a program to start: it passes
// every line of its input to the endpoint and every answer to its output, byte for byte, and nothing else.
type Shim struct {
	// URL and Token are those of the Endpoint.
	URL, Token string
	// Log takes what went wrong, one line each. It must not be the output.
	Log io.Writer

	client   *http.Client
	mu       sync.Mutex
	out      io.Writer
	session  string
	protocol string
}

// Run passes messages until in ends or ctx is done. Trouble with one request is answered to the client; the error is one
// of reading in.
func (s *Shim) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	if s.URL == "" || s.Token == "" {
		return errors.New("mcp-shim: the address or the token of the run's tools is missing")
	}
	s.out = out
	s.client = &http.Client{Transport: &http.Transport{Proxy: nil, MaxIdleConnsPerHost: maxParallel}}
	var requests sync.WaitGroup
	defer s.end(&requests)
	slots := make(chan struct{}, maxParallel)
	lines := wire.NewReader(in, maxBody)
	for {
		line, err := lines.Next()
		if len(line) == 0 {
			if errors.Is(err, io.EOF) || ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("mcp-shim: reading the client's messages: %w", err)
		}
		line = bytes.Clone(line)
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		_ = json.Unmarshal(line, &m) // what is no message, or a batch of them, is for the endpoint to answer
		if len(m.ID) == 0 || m.Method == "initialize" {
			s.pass(ctx, line, m.ID) // in order: what follows presupposes it
			continue
		}
		slots <- struct{}{}
		requests.Go(func() {
			defer func() { <-slots }()
			s.pass(ctx, line, m.ID)
		})
	}
}

// end waits for what is in flight and tells the endpoint that the session is over.
func (s *Shim) end(requests *sync.WaitGroup) {
	requests.Wait()
	if s.session == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if resp, err := s.send(ctx, http.MethodDelete, nil); err == nil {
		resp.Body.Close()
	}
}

func (s *Shim) send(ctx context.Context, method string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	s.mu.Lock()
	if s.session != "" {
		req.Header.Set("Mcp-Session-Id", s.session)
	}
	if s.protocol != "" {
		req.Header.Set("MCP-Protocol-Version", s.protocol)
	}
	s.mu.Unlock()
	return s.client.Do(req)
}

// pass sends one line and writes what comes back.
func (s *Shim) pass(ctx context.Context, line []byte, id json.RawMessage) {
	fail := func(format string, args ...any) {
		err := fmt.Sprintf(format, args...)
		if s.Log != nil {
			fmt.Fprintf(s.Log, "mcp-shim: %s\n", strings.ReplaceAll(err, "\n", " "))
		}
		if len(id) > 0 {
			answer := wire.Fail(id, wire.InternalError, "the run's tools: "+err, nil)
			s.writeLine(bytes.TrimSpace(answer.Append(nil)))
		}
	}
	resp, err := s.send(ctx, http.MethodPost, line)
	if err != nil {
		fail("%v", err)
		return
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		fail("reading the answer: %v", err)
		return
	case len(body) > maxAnswer:
		fail("the answer has more than %d bytes", maxAnswer)
		return
	}
	answers := [][]byte{bytes.TrimSpace(body)}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		answers = events(body)
	}
	if resp.StatusCode >= 300 && (len(answers) == 0 || !json.Valid(answers[0])) {
		fail("%s: %.200s", resp.Status, bytes.TrimSpace(body))
		return
	}
	s.remember(resp, answers)
	for _, a := range answers {
		s.writeLine(a)
	}
}

// remember keeps what the handshake settled.
func (s *Shim) remember(resp *http.Response, answers [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		s.session = id
	}
	if s.protocol != "" || len(answers) == 0 {
		return
	}
	var hello struct {
		Result struct {
			Protocol string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(answers[0], &hello) == nil {
		s.protocol = hello.Result.Protocol
	}
}

// events are the data of the events of a stream.
func events(body []byte) [][]byte {
	var list [][]byte
	for event := range strings.SplitSeq(strings.ReplaceAll(string(body), "\r\n", "\n"), "\n\n") {
		var data []string
		for line := range strings.SplitSeq(event, "\n") {
			if d, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(d, " "))
			}
		}
		if len(data) > 0 {
			list = append(list, []byte(strings.Join(data, "\n")))
		}
	}
	return list
}

// writeLine writes one message on one line, with one Write. Only JSON gets there.
func (s *Shim) writeLine(message []byte) {
	if len(message) == 0 || !json.Valid(message) {
		return
	}
	if bytes.ContainsAny(message, "\n\r") { // only between tokens: in strings they are escaped
		var b bytes.Buffer
		if json.Compact(&b, message) != nil {
			return
		}
		message = b.Bytes()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(append(message[:len(message):len(message)], '\n')); err != nil && s.Log != nil {
		fmt.Fprintf(s.Log, "mcp-shim: writing to the client: %v\n", err)
	}
}
