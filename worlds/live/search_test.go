package live

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const resultsPage = `<!DOCTYPE html><html><body><div id="links" class="results">
<div class="result results_links result--ad"><h2 class="result__title"><a class="result__a"
  href="https://duckduckgo.com/y.js?ad_domain=ads.example">Buy robots</a></h2></div>
<div class="result results_links result--ad"><h2><a class="result__a" href="https://shop.example/">Plain advertisement</a></h2></div>
<div class="result results_links web-result"><h2><a class="result__a"
  href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad%3D1">Hidden advertisement</a></h2></div>
<div class="result results_links results_links_deep web-result"><h2 class="result__title"><a rel="nofollow" class="result__a"
  href="//duckduckgo.com/l/?uddg=https%3A%2F%2Ftidewell.example%2Fabout%3Fa%3D1%26b%3D2&amp;rut=abc">About <b>Tidewell</b>
  Robotics</a></h2><a class="result__snippet" href="#">Robots &amp; an anomaly  found
  under water.</a></div>
<div class="result web-result"><h2><a class="result__a" href="https://harbourpost.example/news">Direct link</a></h2></div>
<div class="result web-result"><h2><a class="result__a" href="https://harbourpost.example/news">The same again</a></h2></div>
<div class="result web-result"><h2><a class="result__a" href="javascript:alert(1)">Script</a></h2></div>
<div class="result web-result"><h2>No link at all</h2></div>
</div></body></html>`

func searcher(t *testing.T, status int, page string) *Searcher {
	endpoint := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("q") == "" || r.URL.Query().Get("kl") != "uk" {
			t.Errorf("asked with %q", r.URL.RawQuery)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprint(w, page)
	})
	return &Searcher{Fetcher: loopback(FetchOptions{}), Endpoint: endpoint + "/html/?kl=uk"}
}

func TestSearch(t *testing.T) {
	s := searcher(t, 200, resultsPage)
	got, err := s.Search(t.Context(), "tidewell & co")
	want := []SearchResult{
		{"About Tidewell Robotics", "https://tidewell.example/about?a=1&b=2", "Robots & an anomaly found under water."},
		{"Direct link", "https://harbourpost.example/news", ""},
	}
	if err != nil || len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	s.MaxResults = 1
	if got, err := s.Search(t.Context(), "x"); err != nil || len(got) != 1 {
		t.Errorf("with a bound of 1: %+v, %v", got, err)
	}
}

func TestSearchTrouble(t *testing.T) {
	for _, c := range []struct {
		name      string
		status    int
		page      string
		throttled bool
		wantErr   string
	}{
		{"202", 202, resultsPage, true, "limits requests"},
		{"429", 429, "", true, "limits requests"},
		{"anomaly", 200, `<form id="challenge-form" action="//duckduckgo.com/anomaly.js"><div class="anomaly-modal__title">Unfortunately, bots use this too.</div></form>`, true, "human"},
		{"500", 500, "", false, "500"},
		{"another page", 200, "<p>Welcome</p>", false, "changed its page"},
		{"empty", 200, "", false, "changed its page"},
		{"nothing found", 200, `<div class="result result--no-result"><div class="no-results">No results.</div></div>`, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := searcher(t, c.status, c.page).Search(t.Context(), "x")
			if errors.Is(err, ErrThrottled) != c.throttled || c.wantErr == "" && (err != nil || got == nil || len(got) != 0) ||
				c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	for _, query := range []string{"", " \n", strings.Repeat("x", 501), "\xff"} {
		s := &Searcher{Fetcher: loopback(FetchOptions{}), Endpoint: "http://127.0.0.1:1/"}
		if _, err := s.Search(t.Context(), query); err == nil || !strings.Contains(err.Error(), "the query") {
			t.Errorf("query %.20q: %v", query, err)
		}
	}
	if _, err := (&Searcher{Fetcher: NewFetcher(FetchOptions{}), Endpoint: answering(t, "text/html", resultsPage)}).Search(t.Context(), "x"); err == nil {
		t.Error("an endpoint on loopback was asked without leave")
	}
}
