package fakellm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
)

// send writes a reply in the dialect of the request.
func (s *Server) send(w http.ResponseWriter, r *http.Request, d *dialect, req Request, reply Reply) {
	if !wait(r.Context(), reply) {
		panic(http.ErrAbortHandler) // the connection is closed without an answer
	}
	reply = reply.complete(d, &req)
	body, contentType := []byte(reply.Body), cmp.Or(reply.ContentType, "application/json")
	switch {
	case reply.Body != "":
	case reply.Status >= 400:
		body = encode(d.failure(reply))
	case req.Stream:
		body, contentType = d.stream(&req, &reply), "text/event-stream"
	default:
		body = encode(d.answer(&req, &reply))
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set(d.requestID, fmt.Sprintf("req_%s_%d", req.Run, req.N))
	for _, k := range slices.Sorted(maps.Keys(reply.Header)) {
		h.Set(k, reply.Header[k])
	}
	if reply.Drop {
		// Half of what was promised, then the end of the connection.
		if !req.Stream {
			h.Set("Content-Length", fmt.Sprint(len(body)))
		}
		w.WriteHeader(cmp.Or(reply.Status, http.StatusOK))
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(cmp.Or(reply.Status, http.StatusOK))
	if !req.Stream || reply.Body != "" || reply.Status >= 400 {
		_, _ = w.Write(body)
		return
	}
	// Event by event, as a model would.
	for len(body) > 0 {
		n := bytes.Index(body, []byte("\n\n")) + 2
		if n < 2 {
			n = len(body)
		}
		if _, err := w.Write(body[:n]); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		body = body[n:]
	}
}

// wait waits as long as the reply says; it is false when the client, or the whole server, has gone: closing the server
// closes its connections, which ends the context of their requests.
func wait(ctx context.Context, reply Reply) bool {
	if reply.Hang {
		<-ctx.Done()
		return false
	}
	if reply.Delay <= 0 {
		return true
	}
	timer := time.NewTimer(reply.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
