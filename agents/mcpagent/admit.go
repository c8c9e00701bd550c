package mcpagent

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// admit lets only the requests of the run's own agent through: by loopback name, from no web page, to the run's path, with
// the run's token.
func (e *Endpoint) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) {
			http.Error(w, "this server answers to loopback names alone", http.StatusForbidden)
			return
		}
		// A page in a browser on this machine sends an Origin; agents send none, or one of loopback.
		if origin := r.Header.Get("Origin"); origin != "" {
			u, err := url.Parse(origin)
			if err != nil || !loopback(u.Host) {
				http.Error(w, "requests from web pages are refused", http.StatusForbidden)
				return
			}
		}
		plain := e.callPath != "" && r.URL.Path == e.callPath
		if r.URL.Path != e.path && !plain {
			http.NotFound(w, r)
			return
		}
		if !e.authorized(r) {
			e.update(func(s *Status) { s.Unauthorized++ })
			if r.Method == http.MethodDelete { // some clients forget their token at the end, and make a fuss about a 401
				w.WriteHeader(http.StatusNoContent)
				return
			}
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the run's bearer token is missing or wrong", http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodPost && !plain {
			if r.Header.Get("Mcp-Session-Id") == "" && !e.newSession() {
				http.Error(w, "too many sessions in one run", http.StatusTooManyRequests)
				return
			}
			if r.Header.Get("Accept") == "" {
				r.Header.Set("Accept", "application/json, text/event-stream")
			}
		}
		e.mu.Lock()
		e.status.Connected = true
		e.seen = time.Now()
		closed := e.closed
		e.mu.Unlock()
		if closed {
			http.Error(w, ErrClosed.Error(), http.StatusGone)
			return
		}
		if plain {
			e.plainCall(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (e *Endpoint) newSession() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sessions++
	return e.sessions <= maxSessions
}

func (e *Endpoint) authorized(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare([]byte(token), []byte(e.Token)) == 1
}

// loopback reports whether a host, with or without a port, is a name of this machine for itself.
func loopback(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
