package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Defaults of FetchOptions.
const (
	DefaultMaxBytes     = 2 << 20
	DefaultMaxText      = 60_000
	DefaultMaxRedirects = 5
	DefaultTimeout      = 20 * time.Second
	DefaultUserAgent    = "Mozilla/5.0 (compatible; ToolEval; +https://github.com/tooleval/tooleval)"
)

// maxURL is the longest address, in bytes, that is tried.
const maxURL = 4096

// FetchOptions bound a Fetcher. The zero value works.
type FetchOptions struct {
	// AllowPrivate lets loopback and private addresses and all ports be reached, for servers of one's own. Link-local
	// addresses, where cloud machines keep their credentials, stay out of reach. Without it only public addresses on the
	// ports 80 and 443 are.
	AllowPrivate bool
	// MaxBytes is the most bytes of a body that are read, after decompression; what follows is cut off. 0 stands for
	// DefaultMaxBytes.
	MaxBytes int64
	// MaxText is the most bytes of readable text; 0 stands for DefaultMaxText.
	MaxText int
	// MaxRedirects is the most redirects that are followed; 0 stands for DefaultMaxRedirects.
	MaxRedirects int
	// Timeout bounds one fetch, redirects and body included; 0 stands for DefaultTimeout.
	Timeout time.Duration
	// UserAgent is how it introduces itself; empty stands for DefaultUserAgent.
	UserAgent string
}

// A Fetcher reads web pages. It may be used concurrently and keeps nothing between fetches.
type Fetcher struct {
	opts   FetchOptions
	client *http.Client
}

// NewFetcher makes a Fetcher. Every address is checked when it is dialled, after the name was resolved, for the first
// request and for each redirect, so that neither a redirect nor a name with changing addresses gets round the check.
func NewFetcher(o FetchOptions) *Fetcher {
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.MaxText = cmp.Or(o.MaxText, DefaultMaxText)
	o.MaxRedirects = cmp.Or(o.MaxRedirects, DefaultMaxRedirects)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.UserAgent = cmp.Or(o.UserAgent, DefaultUserAgent)
	dialer := &net.Dialer{Timeout: o.Timeout, Control: guard(o.AllowPrivate)}
	return &Fetcher{o, &http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would dial where the guard can't see it
			DialContext:            dialer.DialContext,
			DisableKeepAlives:      true,
			MaxResponseHeaderBytes: 64 << 10,
			TLSHandshakeTimeout:    o.Timeout,
		},
		CheckRedirect: func(next *http.Request, via []*http.Request) error {
			if len(via) > o.MaxRedirects {
				return fmt.Errorf("more than %d redirects", o.MaxRedirects)
			}
			if err := checkURL(next.URL); err != nil {
				return fmt.Errorf("a redirect: %w", err)
			}
			next.Header.Del("Referer")
			return nil
		},
	}}
}

// guard refuses addresses that the outside world can't reach, at the moment of dialling.
func guard(private bool) func(network, address string, c syscall.RawConn) error {
	if !private {
		return ssrf.New(ssrf.WithPorts(80, 443)).Safe
	}
	prefix := netip.MustParsePrefix
	return ssrf.New(ssrf.WithAnyPort(),
		ssrf.WithAllowedV4Prefixes(prefix("127.0.0.0/8"), prefix("10.0.0.0/8"), prefix("172.16.0.0/12"), prefix("192.168.0.0/16")),
		ssrf.WithAllowedV6Prefixes(prefix("::1/128"), prefix("fc00::/7"))).Safe
}

// A Page is a web page in words.
type Page struct {
	// URL is where the page was found, after redirects.
	URL string `json:"url"`
	// Title is empty when the page has none.
	Title string `json:"title"`
	// Text is the readable part of the page as Markdown, or the body itself where that is plain text or JSON.
	Text string `json:"text"`
	// Cut means that the page was longer than what Text holds.
	Cut bool `json:"cut,omitempty"`
}

// A StatusError is an answer other than success.
type StatusError struct {
	URL    string
	Status int
}

// Error says what the status means for a reader.
func (e *StatusError) Error() string {
	hint := ""
	switch e.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		hint = ": the page is not open to the public"
	case http.StatusNotFound, http.StatusGone:
		hint = ": there is no such page"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		hint = ": the site is busy or limits requests"
	}
	return strings.TrimSpace(fmt.Sprintf("%s answered %d %s", e.URL, e.Status, http.StatusText(e.Status))) + hint
}

// Fetch reads the page at an http or https address. What is not text (an image, a PDF, an archive) is an error, and so
// is every status but 2xx: a [*StatusError].
func (f *Fetcher) Fetch(ctx context.Context, address string) (Page, error) {
	body, err := f.get(ctx, address)
	if err != nil {
		return Page{}, err
	}
	if body.status < 200 || body.status > 299 {
		return Page{}, &StatusError{URL: body.url.Redacted(), Status: body.status}
	}
	page := Page{URL: body.url.Redacted(), Cut: body.cut}
	switch kind := body.kind(); {
	case kind == "text/html" || kind == "application/xhtml+xml":
		page.Title, page.Text, err = Readable(body.text(), body.url)
	case strings.HasPrefix(kind, "text/"), kind == "application/json", strings.HasSuffix(kind, "+json"),
		kind == "application/xml", strings.HasSuffix(kind, "+xml"):
		page.Text, err = plain(body.text())
	default:
		err = fmt.Errorf("it is of the type %.100q, which is no readable text", kind)
	}
	if err != nil {
		return Page{}, fmt.Errorf("%s: %w", page.URL, err)
	}
	var cut bool
	page.Text, cut = clip(page.Text, f.opts.MaxText)
	page.Title, _ = clip(page.Title, 500)
	page.Cut = page.Cut || cut
	return page, nil
}

// A body is what a server answered.
type body struct {
	url         *url.URL
	status      int
	contentType string
	bytes       []byte
	cut         bool
}

// kind is the media type, found by the content when the server doesn't say.
func (b *body) kind() string {
	kind, _, err := mime.ParseMediaType(cmp.Or(b.contentType, http.DetectContentType(b.bytes)))
	if err != nil && kind == "" {
		return "unknown"
	}
	return kind
}

func (f *Fetcher) get(ctx context.Context, address string) (*body, error) {
	address = strings.TrimSpace(address)
	if len(address) > maxURL {
		return nil, fmt.Errorf("the address has %d bytes; at most %d are taken", len(address), maxURL)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("not an address: %.200q", address)
	}
	if err := checkURL(u); err != nil {
		return nil, err
	}
	slow := fmt.Errorf("no complete answer within %v", f.opts.Timeout)
	timed, cancel := context.WithTimeoutCause(ctx, f.opts.Timeout, slow)
	defer cancel()
	b, err := f.do(timed, u)
	switch {
	case err == nil:
		return b, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case timed.Err() != nil:
		err = slow
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork):
		err = errors.New("refused: it is, or leads to, an address or a port that is not open to the public")
	}
	return nil, fmt.Errorf("%s: %w", u.Redacted(), err)
}

func (f *Fetcher) do(ctx context.Context, u *url.URL) (*body, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", f.opts.UserAgent)
	request.Header.Set("Accept", "text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.8,*/*;q=0.1")
	request.Header.Set("Accept-Language", "en")
	response, err := f.client.Do(request)
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // it repeats the address
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if e := response.Header.Get("Content-Encoding"); e != "" {
		return nil, fmt.Errorf("its encoding %.100q was not asked for", e)
	}
	b := &body{url: response.Request.URL, status: response.StatusCode, contentType: response.Header.Get("Content-Type")}
	// The transport decompresses before this counts, so a bomb ends here too.
	b.bytes, err = io.ReadAll(io.LimitReader(response.Body, f.opts.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading its answer: %w", err)
	}
	if int64(len(b.bytes)) > f.opts.MaxBytes {
		b.bytes, b.cut = b.bytes[:f.opts.MaxBytes], true
	}
	return b, nil
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%.200q: only http and https addresses can be fetched", u.Redacted())
	case u.Hostname() == "":
		return fmt.Errorf("%.200q names no host", u.Redacted())
	case u.User != nil:
		return fmt.Errorf("%.200q: an address with a user name is not fetched", u.Redacted())
	}
	return nil
}
