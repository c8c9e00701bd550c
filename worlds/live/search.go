package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/PuerkitoBio/goquery"
)

// DefaultEndpoint is DuckDuckGo's page for browsers without scripts.
const DefaultEndpoint = "https://html.duckduckgo.com/html/"

// DefaultMaxResults is the most results of one search unless told otherwise.
const DefaultMaxResults = 10

const maxQuery = 500

// ErrThrottled is wrapped by the error of a search that the engine refused because it takes us for a robot, or too eager.
var ErrThrottled = errors.New("the search engine limits requests; try again later")

// A Searcher searches the web by reading DuckDuckGo's HTML page of results. It may be used concurrently.
type Searcher struct {
	// Fetcher does the requests.
	Fetcher *Fetcher
	// Endpoint is the address of the page; empty stands for DefaultEndpoint.
	Endpoint string
	// MaxResults bounds the results of one search; 0 stands for DefaultMaxResults.
	MaxResults int
}

// A SearchResult is one found page.
type SearchResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// Search returns what is found, best first, without advertisements and repeats. A search that finds nothing is an empty
// list; one that was refused is an error that wraps [ErrThrottled]; a page that looks like neither is an error, since it
// can't be told from an engine that changed its layout.
func (s *Searcher) Search(ctx context.Context, query string) ([]SearchResult, error) {
	query = strings.TrimSpace(strings.ToValidUTF8(query, ""))
	switch {
	case query == "":
		return nil, errors.New("the query is empty")
	case len(query) > maxQuery:
		return nil, fmt.Errorf("the query has %d bytes; at most %d are taken", len(query), maxQuery)
	}
	address, err := url.Parse(cmp.Or(s.Endpoint, DefaultEndpoint))
	if err != nil {
		return nil, fmt.Errorf("the address of the search engine: %w", err)
	}
	parameters := address.Query()
	parameters.Set("q", query)
	address.RawQuery = parameters.Encode()
	body, err := s.Fetcher.get(ctx, address.String())
	if err != nil {
		return nil, fmt.Errorf("searching: %w", err)
	}
	switch body.status {
	case http.StatusOK:
	case http.StatusAccepted, http.StatusForbidden, http.StatusTooManyRequests:
		return nil, fmt.Errorf("searching: status %d: %w", body.status, ErrThrottled)
	default:
		return nil, fmt.Errorf("searching: %w", &StatusError{URL: body.url.Redacted(), Status: body.status})
	}
	doc, err := goquery.NewDocumentFromReader(body.text())
	if err != nil {
		return nil, fmt.Errorf("searching: the page of results can't be read: %w", err)
	}
	return results(doc, body.url, cmp.Or(s.MaxResults, DefaultMaxResults))
}

func results(doc *goquery.Document, at *url.URL, most int) ([]SearchResult, error) {
	found := []SearchResult{}
	seen := map[string]bool{}
	organic := doc.Find(".result:not(.result--ad):not(.result--no-result)")
	organic.EachWithBreak(func(_ int, r *goquery.Selection) bool {
		link := r.Find("a.result__a").First()
		href, _ := link.Attr("href")
		target := targetOf(at, href)
		if target == "" || seen[target] {
			return true
		}
		seen[target] = true
		title, _ := clip(squeeze(link.Text()), 200)
		snippet, _ := clip(squeeze(r.Find(".result__snippet").First().Text()), 500)
		found = append(found, SearchResult{Title: title, URL: target, Snippet: snippet})
		return len(found) < most
	})
	switch {
	case len(found) > 0:
		return found, nil
	// Asked only when nothing was found: a result may speak of anomalies too.
	case doc.Find(`.anomaly-modal, [class*="anomaly"], #challenge-form, form[action*="anomaly"]`).Length() > 0:
		return nil, fmt.Errorf("searching: it asks for proof of being human: %w", ErrThrottled)
	case doc.Find(".no-results, .result--no-result").Length() > 0, organic.Length() > 0:
		return found, nil
	}
	return nil, errors.New("searching: the answer has neither results nor word that there are none; the engine may have changed its page")
}

// targetOf is the address that a result leads to, out of the engine's own link around it; empty for one that is no
// result: an advertisement, or a link that no browser would follow.
func targetOf(at *url.URL, href string) string {
	u, err := at.Parse(strings.TrimSpace(href))
	if err != nil || href == "" {
		return ""
	}
	if wrapped := u.Query().Get("uddg"); wrapped != "" {
		if u, err = url.Parse(wrapped); err != nil {
			return ""
		}
	}
	// An advertisement goes by way of the engine's y.js, also when it is wrapped once more.
	if checkURL(u) != nil || strings.HasSuffix(u.Path, "/y.js") || len(u.String()) > maxURL {
		return ""
	}
	return u.String()
}

func squeeze(s string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}
