package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"run"}`, "request"},
		{`{"jsonrpc":"2.0","id":"a","method":"run","params":{"x":1}}`, "request"},
		{`{"jsonrpc":"2.0","method":"cancel"}`, "notification"},
		{`{"jsonrpc":"2.0","id":1,"result":null}`, "response"},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, "response"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`, "response"},
		{`{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"x"}}`, "response"},
		{`{"jsonrpc":"2.0","id":null,"method":"run"}`, "invalid"},
		{`{"jsonrpc":"2.0","id":{},"method":"run"}`, "invalid"},
		{`{"jsonrpc":"2.0","method":7}`, "invalid"},
		{`{"jsonrpc":"2.0","method":""}`, "invalid"},
		{`{"jsonrpc":"2.0","id":1}`, "invalid"},
		{`{"jsonrpc":"2.0","result":1}`, "invalid"},
		{`{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"x"}}`, "invalid"},
		{`{"jsonrpc":"2.0","id":1,"error":"boom"}`, "invalid"},
		{`{"level":"info","msg":"ready"}`, "noise"},
		{`{"jsonrpc":"1.0","id":1,"method":"run"}`, "noise"},
		{`[{"jsonrpc":"2.0","id":1,"method":"run"}]`, "noise"},
		{`42`, "noise"},
		{`null`, "noise"},
		{`ready`, "noise"},
		{strings.Repeat("[", 100_000), "noise"},
	} {
		m, err := Parse([]byte(c.line))
		var invalid *InvalidError
		got := "request"
		switch {
		case errors.As(err, &invalid):
			got = "invalid"
		case err != nil:
			got = "noise"
		case m.IsNotification():
			got = "notification"
		case m.IsResponse():
			got = "response"
		}
		if got != c.want {
			t.Errorf("%.80s: got %s (%v), want %s", c.line, got, err, c.want)
		}
	}
}

func TestAnswers(t *testing.T) {
	for id, want := range map[string]bool{"7": true, "7.0": true, "0.7e1": true, "7.5": false, `"7"`: false, "8": false,
		"null": false, "1e999": false} {
		m := Message{ID: []byte(id), Result: []byte("{}")}
		if m.Answers(7) != want {
			t.Errorf("id %s answers request 7: %v, want %v", id, !want, want)
		}
	}
}

func TestAppendKeepsBytes(t *testing.T) {
	args := "{\"n\":12345678901234567890, \"f\":1.00,\n\"s\":\"\\ud83d<&>\xff\"}"
	m := Message{ID: []byte("1"), Method: "x", Params: []byte(args)}
	line := m.Append(nil)
	if bytes.Count(line, []byte("\n")) != 1 || !bytes.HasSuffix(line, []byte("}\n")) {
		t.Fatalf("not one line: %q", line)
	}
	back, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.ReplaceAll(args, "\n", " "); string(back.Params) != want {
		t.Errorf("got %q\nwant %q", back.Params, want)
	}
}

func TestReader(t *testing.T) {
	r := NewReader(strings.NewReader("a\r\n\n \t\nbb\n"+strings.Repeat("c", 200_000)+"\npart"), 0)
	for _, want := range []string{"a", "bb", strings.Repeat("c", 200_000)} {
		line, err := r.Next()
		if err != nil || string(line) != want {
			t.Fatalf("got %.20q, %v, want %.20q", line, err, want)
		}
	}
	if line, err := r.Next(); !errors.Is(err, ErrUnended) || string(line) != "part" {
		t.Errorf("got %q, %v, want the unended part", line, err)
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
}

// endless never sends a line feed.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	e.read += len(b)
	return len(b), nil
}

func TestReaderStopsAtTheLimit(t *testing.T) {
	src := &endless{}
	r := NewReader(src, 1<<20)
	if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
		t.Fatalf("got %v, want ErrTooLong", err)
	}
	if src.read > 2<<20 {
		t.Errorf("read %d bytes for a limit of %d", src.read, 1<<20)
	}
	if _, err := r.Next(); !errors.Is(err, ErrTooLong) {
		t.Errorf("a second Next: got %v, want ErrTooLong", err)
	}
	exact := NewReader(strings.NewReader("12345\n123456\n"), 5)
	if line, err := exact.Next(); err != nil || string(line) != "12345" {
		t.Errorf("a line of the limit: %q, %v", line, err)
	}
	if _, err := exact.Next(); !errors.Is(err, ErrTooLong) {
		t.Errorf("a line beyond the limit: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run\",\"params\":{\"a\":1}}\nnoise\n"))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"result\":\"\xff\"}"))
	f.Add([]byte("\r\n\x00\n{}\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in), 1000)
		for {
			line, err := r.Next()
			if err != nil && !errors.Is(err, ErrUnended) {
				return
			}
			m, perr := Parse(line)
			if perr != nil {
				continue
			}
			if kinds := btoi(m.IsRequest()) + btoi(m.IsNotification()) + btoi(m.IsResponse()); kinds != 1 {
				t.Fatalf("%q is %d kinds of message", line, kinds)
			}
			out := m.Append(nil)
			if bytes.Count(out, []byte("\n")) != 1 {
				t.Fatalf("%q was written as more than one line: %q", line, out)
			}
			again, err := Parse(out)
			if err != nil {
				t.Fatalf("%q was written as %q: %v", line, out, err)
			}
			if again.Method != m.Method || (again.ID == nil) != (m.ID == nil) || (again.Error == nil) != (m.Error == nil) {
				t.Fatalf("%q came back as %q", line, out)
			}
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
