package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"
)

// loopback is a fetcher that reaches the servers of these tests.
func loopback(o FetchOptions) *Fetcher {
	o.AllowPrivate = true
	return NewFetcher(o)
}

func serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// answering is a server whose answer has this type and body.
func answering(t *testing.T, contentType, body string) string {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		fmt.Fprint(w, body)
	})
}

func TestFetchContent(t *testing.T) {
	long := strings.Repeat("<p>Robots inspect walls under water, and people read what they find there.</p>", 20)
	for _, c := range []struct{ name, contentType, body, wantTitle, want, wantErr string }{
		{"html", "text/html; charset=utf-8", "<title>Job</title><nav>menu</nav><script>x()</script><p>Dive &amp; see</p>", "Job", "Dive & see", ""},
		{"latin-1 by header", "text/html; charset=iso-8859-1", "<p>caf\xe9 " + long, "", "café", ""},
		{"latin-1 by meta", "text/html", `<meta charset="iso-8859-1"><p>caf` + "\xe9 " + long, "", "café", ""},
		{"unknown charset", "text/html; charset=klingon", "<p>plain</p>", "", "plain", ""},
		{"invalid UTF-8", "text/html; charset=utf-8", "<p>a\xff\xfeb</p>", "", "a\uFFFD", ""},
		{"invalid UTF-8 text", "text/plain; charset=utf-8", "a\xffb", "", "a\uFFFDb", ""},
		{"json", "application/json", `{"a":1}`, "", `{"a":1}`, ""},
		{"html without a type", "", "<!DOCTYPE html><html><body><p>found out</p></body></html>", "", "found out", ""},
		{"an empty page", "text/html", "", "", "", ""},
		{"an image", "image/png", "\x89PNG\r\n\x1a\n", "", "", "no readable text"},
		{"a PDF", "application/pdf", "%PDF-1.7", "", "", "no readable text"},
		{"binary without a type", "", "\x00\x01\x02\x03\xff\xfe", "", "", "no readable text"},
		{"binary called text", "text/plain", "a\x00b", "", "", "binary"},
		{"a broken type", "text/;;;", "x", "", "", "no readable text"},
		{"too deep", "text/html", strings.Repeat("<div>", 100_000), "", "", "can't be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			page, err := loopback(FetchOptions{}).Fetch(t.Context(), answering(t, c.contentType, c.body))
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Fatalf("error %v, want one with %q; page %+v", err, c.wantErr, page)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(page.Text, c.want) || page.Title != c.wantTitle || !utf8.ValidString(page.Text) {
				t.Errorf("title %q, text %q; want title %q and in the text %q", page.Title, page.Text, c.wantTitle, c.want)
			}
			if strings.Contains(page.Text, "x()") || strings.Contains(page.Text, "menu") {
				t.Errorf("clutter is left: %q", page.Text)
			}
		})
	}
}

// TestX09FetchRefusesPrivateAddresses: what an agent names, or a page redirects to, is checked at the moment of dialling.
func TestX09FetchRefusesPrivateAddresses(t *testing.T) {
	secret := answering(t, "text/plain", "secret")
	for _, address := range []string{
		secret, strings.Replace(secret, "127.0.0.1", "localhost", 1), "http://127.0.0.1/", "http://[::1]/", "http://10.1.2.3/",
		"http://192.168.0.1/", "http://169.254.169.254/latest/meta-data/", "http://0.0.0.0/", "http://[::ffff:127.0.0.1]/",
		"http://2130706433/", "http://0x7f.1/", "http://[fe80::1]/", "http://[fd00::1]/", "http://100.64.0.1/", "https://127.0.0.1/",
	} {
		page, err := NewFetcher(FetchOptions{Timeout: 2 * time.Second}).Fetch(t.Context(), address)
		if err == nil || strings.Contains(page.Text, "secret") {
			t.Errorf("%s was fetched: %+v", address, page)
		} else if !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "no such host") {
			t.Errorf("%s: %v, want a refusal", address, err)
		}
	}
	t.Run("by redirect", func(t *testing.T) {
		for _, target := range []string{"http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "file:///etc/passwd", "gopher://127.0.0.1/"} {
			hop := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
			// Loopback is allowed, so that the first hop succeeds; link-local is not allowed even then.
			page, err := loopback(FetchOptions{Timeout: 2 * time.Second}).Fetch(t.Context(), hop)
			if err == nil || !(strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "only http and https")) {
				t.Errorf("a redirect to %s: %+v, %v", target, page, err)
			}
		}
	})
}

func TestFetchRefusesAddresses(t *testing.T) {
	for _, address := range []string{"", "  ", "example.com", "ftp://example.com/x", "file:///etc/passwd", "javascript:alert(1)", "http://",
		"http://user:pass@example.com/", "http://exa mple.com/", "http://a\x00b/", "://", "http://[::1", strings.Repeat("http://a/", 1000)} {
		if page, err := loopback(FetchOptions{}).Fetch(t.Context(), address); err == nil || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%.40q: %+v, %v; want an error without the password", address, page, err)
		}
	}
}

func TestFetchBounds(t *testing.T) {
	t.Run("redirect loop", func(t *testing.T) {
		n := 0
		loop := serve(t, func(w http.ResponseWriter, r *http.Request) { n++; http.Redirect(w, r, "/again", http.StatusFound) })
		_, err := loopback(FetchOptions{}).Fetch(t.Context(), loop)
		if err == nil || !strings.Contains(err.Error(), "more than 5 redirects") || n != 6 {
			t.Errorf("%v after %d requests, want an end after 5 redirects", err, n)
		}
	})
	t.Run("20 MB", func(t *testing.T) {
		var sent atomic.Int64
		big := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			line := bytes.Repeat([]byte("é"), 1<<19)
			for range 20 {
				n, err := w.Write(line)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		})
		if b, err := loopback(FetchOptions{}).get(t.Context(), big); err != nil || len(b.bytes) != DefaultMaxBytes {
			t.Fatalf("%v: the body was not cut at %d bytes", err, DefaultMaxBytes)
		}
		if n := sent.Load(); n > 18<<20 { // what fits into the buffers in between is sent too
			t.Errorf("%d bytes were read of a body of which %d count", n, DefaultMaxBytes)
		}
		page, err := loopback(FetchOptions{}).Fetch(t.Context(), big)
		if err != nil || !page.Cut || len(page.Text) > DefaultMaxText || !utf8.ValidString(page.Text) {
			t.Errorf("%d bytes, cut %v, valid %v, %v", len(page.Text), page.Cut, utf8.ValidString(page.Text), err)
		}
	})
	t.Run("gzip bomb", func(t *testing.T) {
		var bomb bytes.Buffer
		z := gzip.NewWriter(&bomb)
		for range 200 {
			z.Write(make([]byte, 1<<20))
		}
		z.Close()
		address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/html")
			w.Write(bomb.Bytes())
		})
		b, err := loopback(FetchOptions{}).get(t.Context(), address)
		if err != nil || !b.cut || len(b.bytes) != DefaultMaxBytes {
			t.Fatalf("%v: the body was not cut", err)
		}
		if page, err := loopback(FetchOptions{MaxBytes: 100_000}).Fetch(t.Context(), address); err == nil && !page.Cut {
			t.Errorf("not cut: %d bytes of text", len(page.Text))
		}
	})
	t.Run("unasked encoding", func(t *testing.T) {
		address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			w.Write([]byte("x"))
		})
		if _, err := loopback(FetchOptions{}).Fetch(t.Context(), address); err == nil || !strings.Contains(err.Error(), "encoding") {
			t.Error(err)
		}
	})
	t.Run("broken gzip", func(t *testing.T) {
		address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Write([]byte("not gzip"))
		})
		if _, err := loopback(FetchOptions{}).Fetch(t.Context(), address); err == nil {
			t.Error("no error")
		}
	})
	t.Run("slow body", func(t *testing.T) {
		address := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Write([]byte("<p>begin"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		_, err := loopback(FetchOptions{Timeout: 200 * time.Millisecond}).Fetch(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), "no complete answer within 200ms") {
			t.Error(err)
		}
		over, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the run is over")) })
		if _, err := loopback(FetchOptions{}).Fetch(over, address); err == nil || err.Error() != "the run is over" {
			t.Errorf("%v, want the cause of the context", err)
		}
	})
	t.Run("many elements", func(t *testing.T) {
		page, err := loopback(FetchOptions{}).Fetch(t.Context(), answering(t, "text/html", strings.Repeat("<p>a<b>b</b></p>", 20_000)))
		if err != nil || !page.Cut || !strings.HasPrefix(page.Text, "a**b**") {
			t.Errorf("%.20q, cut %v, %v", page.Text, page.Cut, err)
		}
	})
	t.Run("no server", func(t *testing.T) {
		if _, err := loopback(FetchOptions{}).Fetch(t.Context(), "http://127.0.0.1:1/"); err == nil {
			t.Error("no error")
		}
	})
}

func TestFetchStatus(t *testing.T) {
	for status, want := range map[int]string{403: "not open to the public", 401: "not open", 404: "no such page", 500: "500", 429: "limits requests", 302: "302"} {
		address := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); w.Write([]byte("<p>secret")) })
		page, err := loopback(FetchOptions{}).Fetch(t.Context(), address)
		e, ok := errors.AsType[*StatusError](err)
		if status == 302 { // a redirect to nowhere
			ok, e = err != nil, &StatusError{Status: 302}
		}
		if !ok || e.Status != status || page.Text != "" || status != 302 && !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %+v, %v", status, page, err)
		}
	}
}

// TestReadableWall: the notice is what counts on a page that shows nothing else, not its navigation.
func TestReadableWall(t *testing.T) {
	title, text, err := Readable(strings.NewReader(`<title>Sign in</title><header><nav><a href="/jobs">Jobs</a></nav></header>
		<main><section class="wall" role="dialog" aria-modal="true"><h1>Members only</h1><p>Sign in to read.</p></section></main>`), nil)
	if err != nil || title != "Sign in" || !strings.Contains(text, "Members only") || strings.Contains(text, "Jobs") {
		t.Errorf("%q, %q, %v", title, text, err)
	}
}

func TestReadableTableAndLinks(t *testing.T) {
	body := "<article><h1>T</h1><p>" + strings.Repeat("Robots inspect walls, locks and hulls. ", 20) +
		`</p><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>snake_case</td></tr></table><p><a href="/x">more</a>, and more words</p></article>`
	page, err := loopback(FetchOptions{}).Fetch(t.Context(), answering(t, "text/html", body))
	if err != nil || !strings.Contains(page.Text, "| snake_case |") || !strings.Contains(page.Text, "](http://127.0.0.1:") {
		t.Errorf("%v: %s", err, page.Text)
	}
}
