package profile

import (
	"testing"

	"github.com/tooleval/tooleval"
)

func TestPick(t *testing.T) {
	v, err := tooleval.DecodeValue([]byte(`{"a":{"b":[{"t":"x"},{"t":"y"},{"u":1},5]},"n":12345678901234567890,"z":null,"bool":true}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a.b.*.t": "xy", "a.b.1.t": "y", "a.b.9.t": "", "a.b.-1": "", "n": "12345678901234567890", "z": "", "bool": "true", "a.b.3": "5",
		"": "", "a..b": "", "a.b.0": `{"t":"x"}`,
	} {
		if got := joined(pick(v, path)); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
	if !fits(v, map[string]string{"bool": "true", "a.b.0.t": "x"}) || fits(v, map[string]string{"bool": "false"}) || fits(v, map[string]string{"nope": ""}) {
		t.Error("where is not held")
	}
}

func TestExpand(t *testing.T) {
	lookup := func(name string) (string, error) { return "<" + name + "${x}>", nil }
	for text, want := range map[string]string{
		"a": "a", "${a}": "<a${x}>", "x${a}y${b}": "x<a${x}>y<b${x}>", "$a $${a} $$${a}": "$a ${a} $${a}", "$": "$", "": "",
	} {
		if got, err := expand(text, lookup, nil); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	if got, err := expand(`"${a}"`, func(string) (string, error) { return "\"\\\n\x01<ü", nil }, escapeFor("x.toml")); err != nil ||
		got != `"\"\\\n\u0001<ü"` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestHostPort(t *testing.T) {
	for text, want := range map[string]string{
		"https://api.example.com/v1": "api.example.com:443", "http://127.0.0.1:80/x": "127.0.0.1:80", "http://h": "h:80", "h:7": "h:7",
		"[::1]:7": "[::1]:7", "h": "", "https://": "", "": "",
	} {
		if got, err := hostPort(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

// TestProviderFaults: texts that real agents printed, and answers that look a little like them.
func TestProviderFaults(t *testing.T) {
	fits := func(text string) bool {
		for _, p := range providerFaults {
			if p.MatchString(text) {
				return true
			}
		}
		return false
	}
	for _, text := range []string{
		"API call failed after 3 retries: 429 Too Many Requests", "exceeded retry limit, last status: 429", "You exceeded your current quota",
		"429 rate_limit_error", "RESOURCE_EXHAUSTED", "Your credit balance is too low", "unexpected status 401 Unauthorized", "Incorrect API key provided",
		"invalid x-api-key", "403 Forbidden", "We’re currently experiencing high demand", "529 overloaded_error", "502 Bad Gateway",
		"API Error: Unable to connect to API (ConnectionRefused)", "[API Error: Connection error. (cause: fetch failed)]", "getaddrinfo ENOTFOUND api.example",
		"connect ECONNREFUSED 127.0.0.1:9", "error sending request for url",
	} {
		if !fits(text) {
			t.Errorf("not seen: %q", text)
		}
	}
	for _, text := range []string{"The result is 4290.", "I can't compute that.", "It has 5000 rows.", "Use the API.", "The rating limits are unclear.", ""} {
		if fits(text) {
			t.Errorf("taken for a fault: %q", text)
		}
	}
}
