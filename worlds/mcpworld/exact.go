package mcpworld

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// mostLine bounds one message of a server, in bytes.
const mostLine = 64 << 20

// exact is a message in which structured content is a string that holds its JSON: the library would decode it into float64s
// and lose digits. What is no such message stays as it is.
func exact(message []byte) []byte {
	if !bytes.Contains(message, []byte(`"structuredContent"`)) {
		return message
	}
	var m, result map[string]json.RawMessage
	if json.Unmarshal(message, &m) != nil || json.Unmarshal(m["result"], &result) != nil {
		return message
	}
	content, ok := result["structuredContent"]
	if !ok {
		return message
	}
	if bytes.Equal(content, []byte("null")) {
		delete(result, "structuredContent")
	} else {
		var compact bytes.Buffer
		if json.Compact(&compact, content) != nil {
			return message
		}
		text, err := json.Marshal(compact.String())
		if err != nil {
			return message
		}
		result["structuredContent"] = text
	}
	inner, err := json.Marshal(result)
	if err != nil {
		return message
	}
	m["result"] = inner
	out, err := json.Marshal(m)
	if err != nil {
		return message
	}
	return out
}

// exactLines makes every line of r that begins with prefix exact.
func exactLines(r io.Reader, prefix string) io.Reader {
	return &lines{r: bufio.NewReaderSize(r, 64<<10), prefix: []byte(prefix)}
}

type lines struct {
	r      *bufio.Reader
	prefix []byte
	left   []byte // of the current line
	err    error
}

func (l *lines) Read(b []byte) (int, error) {
	for len(l.left) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		l.next()
	}
	n := copy(b, l.left)
	l.left = l.left[n:]
	return n, nil
}

// next reads a line.
func (l *lines) next() {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > mostLine {
			l.err = fmt.Errorf("the server sent a message of more than %d MiB", mostLine>>20)
			return
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.err = err
			break
		}
	}
	if rest, ok := bytes.CutPrefix(line, l.prefix); ok {
		if body, ended := bytes.CutSuffix(rest, []byte("\n")); ended || len(rest) > 0 {
			fixed := exact(body)
			line = append(append([]byte{}, l.prefix...), fixed...)
			if ended {
				line = append(line, '\n')
			}
		}
	}
	l.left = line
}

// exactResponse is a response whose messages are exact, whether it is one of JSON or a stream of events.
func exactResponse(resp *http.Response) *http.Response {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "text/event-stream":
		resp.Body = &body{exactLines(resp.Body, "data:"), resp.Body}
	case "application/json":
		resp.Body = &body{&whole{r: resp.Body}, resp.Body}
		resp.ContentLength = -1
		resp.Header.Del("Content-Length")
	}
	return resp
}

type body struct {
	io.Reader
	io.Closer
}

// whole reads everything before it hands out the first byte.
type whole struct {
	r    io.Reader
	left *bytes.Reader
}

func (w *whole) Read(b []byte) (int, error) {
	if w.left == nil {
		all, err := io.ReadAll(io.LimitReader(w.r, mostLine+1))
		if err != nil {
			return 0, err
		}
		if len(all) > mostLine {
			return 0, fmt.Errorf("the server sent a message of more than %d MiB", mostLine>>20)
		}
		w.left = bytes.NewReader(exact(all))
	}
	return w.left.Read(b)
}
