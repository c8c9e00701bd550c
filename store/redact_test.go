package store

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tooleval/tooleval"
)

const canary = "sk-CANARY/\"q\"+é\\d3adb33f?"

// spellings are the ways in which an agent or a server may give a secret away.
func spellings(v string) []string {
	j, _ := json.Marshal(v)
	jj, _ := json.Marshal(string(j))
	var every string
	for i := range len(v) {
		every += fmt.Sprintf("%%%02x", v[i])
	}
	list := []string{v, string(j), string(jj), "Bearer " + v, url.QueryEscape(v), url.PathEscape(v), every,
		"https://x/?a=" + url.QueryEscape(v) + "&b=1", strings.ReplaceAll(url.QueryEscape(v), "+", "%20"),
		strings.ReplaceAll(string(j), "/", `\/`), v + v}
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
		base64.RawURLEncoding} {
		for _, before := range []string{"", "u", "us", "user:"} {
			list = append(list, enc.EncodeToString([]byte(before+v)), enc.EncodeToString([]byte(before+v+"tail")))
		}
	}
	return list
}

// leaks reports whether text holds enough of a secret, in some spelling, to be of use: eight characters in a row.
func leaks(text, v string) string {
	for _, f := range formsOf(v) {
		for i := 0; i+8 <= len(f); i++ {
			if strings.Trim(f[i:i+8], `\"`) != "" && strings.Contains(text, f[i:i+8]) {
				return f[i : i+8]
			}
		}
	}
	return ""
}

func TestX03SecretsAreNotStored(t *testing.T) {
	h := header("calc.add")
	h.Options = map[string]string{"header": "Authorization: Bearer " + canary}
	e := create(t, h, Options{Secrets: []Secret{{"API_KEY", canary}, {"SHORT", "abc"}, {"PIN", "48151623"}}})
	run := sampleRun("calc.add", 0)
	for _, s := range spellings(canary) {
		quoted, _ := json.Marshal(map[string]any{"k" + s: []string{s}})
		run.Trajectory.Calls = append(run.Trajectory.Calls, tooleval.Call{ID: s, Tool: "t" + s, Args: quoted,
			ArgsText:  tooleval.Text(s + "\xff"),
			ArgsError: s, Error: tooleval.Text(s), FixtureGap: s,
			Result: tooleval.ToolResult{Text: tooleval.Text(quoted), Structured: tooleval.Raw("{broken " + s)}})
		run.Warnings = append(run.Warnings, tooleval.Text(s))
	}
	ascii := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(canary, `\`, `\u005c`), "é", `\u00e9`), `"`,
		`\u0022`)
	run.State = tooleval.Raw(`{"env":"` + ascii + `","pin":48151623,"abc":"abc","near":48151624}`)
	run.Error, run.Stack = tooleval.Text("dial: "+canary), tooleval.Text("goroutine 1\n"+canary)
	run.Task.ExpectedState = tooleval.Match(map[string]any{"token": canary})
	run.Result.Usage = &tooleval.Usage{Vendor: tooleval.Raw(`{"key":` + string(must(json.Marshal(canary))) + `}`)}
	back, err := ReadRun(put(t, e, run))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"env":"[redacted:API_KEY]","pin":"[redacted:PIN]","abc":"abc","near":48151624}`; string(back.State) != want {
		t.Errorf("state %s, want %s", back.State, want)
	}
	if got := e.Header().Options["header"]; got != "Authorization: Bearer [redacted:API_KEY]" {
		t.Errorf("option %q", got)
	}
	filepath.WalkDir(e.Path(), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data := read(t, path)
			if strings.Contains(data, "48151623") {
				t.Errorf("%s leaks the number", path)
			}
			if leak := leaks(data, canary); leak != "" {
				at := strings.Index(data, leak)
				t.Errorf("%s leaks %q in %q", path, leak, data[max(0, at-100):min(len(data), at+100)])
			}
		}
		return err
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestX03RedactorText(t *testing.T) {
	r := NewRedactor([]Secret{{"A", "secret-one"}, {"B", "secret-one-longer"}, {"C", "longer-tail"}, {"D",
		" padded1 \n"}, {"E", "12345"}, {"bad]\x1b name", "evil-name"}, {"", "nameless"}})
	for in, want := range map[string]string{
		"secret-one":                             "[redacted:A]",
		"xsecret-onesecret-onex":                 "x[redacted:A][redacted:A]x",
		"secret-one-longer":                      "[redacted:B]",
		"secret-one-longer-tail":                 "[redacted:B]", // an overlap leaves no rest
		"secret-on secret_one":                   "secret-on secret_one",
		"a padded1":                              "a [redacted:D]",
		"12345":                                  "12345",
		"evil-name nameless":                     "[redacted:badname] [redacted]",
		"secret":                                 "secret",
		"":                                       "",
		strings.Repeat("x", 1000) + "secret-one": strings.Repeat("x", 1000) + "[redacted:A]",
	} {
		if got := r.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
	if r := NewRedactor([]Secret{{"A", "short"}, {"B", ""}}); r != nil || r.Text("short") != "short" {
		t.Error("values below six bytes are not ignored")
	}
	r = NewRedactor([]Secret{{"K", canary}})
	for _, s := range spellings(canary) {
		if !strings.Contains(r.Text(s), "[redacted:K]") {
			t.Errorf("no secret found in %q", s)
		}
		if leak := leaks(r.Text("<"+s+">"), canary); leak != "" {
			t.Errorf("%q leaks %q", s, leak)
		}
	}
}

// At each place in a group of three, all that is left of the encoded secret is what its neighbours share with it.
func TestX03Base64OfALongerText(t *testing.T) {
	r := NewRedactor([]Secret{{"K", canary}})
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 7 {
			for after := range 4 {
				text := enc.EncodeToString([]byte(strings.Repeat("b", before) + canary + strings.Repeat("a", after)))
				rest := strings.Replace(r.Text(text), "[redacted:K]", "", 1)
				if want := (before+after)*4/3 + 5; len(rest) > want {
					t.Errorf("%d before, %d after: %q is left, want at most %d characters", before, after, rest, want)
				}
			}
		}
	}
}

// A secret that is spelt like the record's own words must not make it unreadable or another run's.
func TestX03RecordsSurviveCommonWords(t *testing.T) {
	var secrets []Secret
	for _, word := range []string{"schema_version", "trajectory", "calc.add", "scripted", "completed", "failed",
		"required", "wrong_args", "in_process",
		"redacted", "efficiency", "111836", "2026-12-01", "\n      \"", "null,\n", "[redacted:", "\"value\"", "sha256"} {
		secrets = append(secrets, Secret{"WORD", word})
	}
	run := sampleRun("calc.add", 0)
	back, err := decodeRun(encodeRun(nil, run, NewRedactor(secrets)))
	if err != nil {
		t.Fatal(err)
	}
	if keyOf(back) != keyOf(run) || back.Identity != run.Identity || back.Ending != run.Ending ||
		back.Score.Verdict != run.Score.Verdict ||
		back.Failure.Category != run.Failure.Category || back.Score.Process.Component("required") == nil ||
		!back.Started.Equal(run.Started) {
		t.Errorf("got %+v", back)
	}
}

func FuzzRedactJSON(f *testing.F) {
	for _, raw := range append(someRaws, brokenRaws...) {
		f.Add([]byte(raw), "secret")
	}
	f.Add([]byte(`{"a":"x\u0073ecret\ud83d","secret":1234567}`), "secret")
	f.Add([]byte(`[1234567,12345678.5e1,"\\u0073ecret"]`), "1234567")
	f.Fuzz(func(t *testing.T, raw []byte, secret string) {
		r := NewRedactor([]Secret{{"K", secret}})
		before := bytes.Clone(raw)
		out := r.json(raw)
		if !bytes.Equal(raw, before) {
			t.Fatal("the input was changed")
		}
		if tooleval.Raw(raw).Valid() && !json.Valid(out) {
			t.Fatalf("%q became %q", raw, out)
		}
		secret = strings.TrimSpace(secret)
		if r == nil || strings.Contains("[redacted:K]", secret) || strings.Contains(secret, "[") || strings.Contains(secret,
			"]") {
			return // what stands for a secret may make one with what is beside it
		}
		var v any
		if json.Unmarshal(out, &v) == nil {
			walkStrings(v, func(s string) {
				if strings.Contains(s, secret) {
					t.Fatalf("%q in %q", secret, out)
				}
			})
		}
	})
}

func walkStrings(v any, f func(string)) {
	switch x := v.(type) {
	case string:
		f(x)
	case []any:
		for _, e := range x {
			walkStrings(e, f)
		}
	case map[string]any:
		for k, e := range x {
			f(k)
			walkStrings(e, f)
		}
	}
}

func TestX03SecretsFromEnv(t *testing.T) {
	got := SecretsFromEnv([]string{"PATH=/usr/bin:/bin", "HOME=/root", "PWD=/srv/dir", "OLDPWD=/srv/other",
		"ANTHROPIC_API_KEY=sk-ant-123456", "GITHUB_TOKEN=ghp_abcdef",
		"aws.secretAccessKey=AKIA/secret", "PGPASSWORD=postgres1", "MYSQL_PWD=mysqlpw", "SSH_AUTH_SOCK=/tmp/ssh-x/agent.1",
		"KEYBOARD=qwertz-de", "MONKEY=bananas1",
		"MAX_TOKENS=128000", "TOKEN_LIMIT=128000", "DB_PASSWORD=12345678", "AUTH=disabled", "TOKEN=abc",
		"DATABASE_URL=postgres://app:p%40ss-word@db:5432/x?y=z",
		"PIP_INDEX=https://a-very-long-token-0123456789@host/simple",
		"PROXIES=http://u:first-pw@a:1,http://u:second-pw@b:2", "HOMEPAGE=https://example.com/@user/x@y",
		"X_AUTHORIZATION=Bearer eyJhbGciOi",
		"API_KEYS=key-one,key-two", "EMPTY_TOKEN=", "NOVALUE_TOKEN", "=C:=C:\\odd", "AUTHOR=Jane Doe",
		"AUTH_URL=https://login.example.com/", "PASS_URL=x://h:8080/a@b",
		"ODD_URL=postgres://u:pa/s#s%w@host/db", "GOOGLE_APPLICATION_CREDENTIALS_FILE=/etc/gcp/key.json",
		"SLACK_WEBHOOK_URL=https://hooks.example/T1/B2/x"})
	var lines []string
	for _, s := range got {
		lines = append(lines, s.Name+"="+s.Value)
	}
	want := []string{"ANTHROPIC_API_KEY=sk-ant-123456", "GITHUB_TOKEN=ghp_abcdef", "aws.secretAccessKey=AKIA/secret",
		"PGPASSWORD=postgres1", "MYSQL_PWD=mysqlpw",
		"DB_PASSWORD=12345678", "DATABASE_URL=p%40ss-word", "DATABASE_URL=p@ss-word",
		"PIP_INDEX=a-very-long-token-0123456789", "PROXIES=first-pw", "PROXIES=second-pw",
		"X_AUTHORIZATION=Bearer eyJhbGciOi", "X_AUTHORIZATION=eyJhbGciOi", "API_KEYS=key-one,key-two", "API_KEYS=key-one",
		"API_KEYS=key-two", "ODD_URL=pa/s#s%w",
		"SLACK_WEBHOOK_URL=https://hooks.example/T1/B2/x"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	SecretsFromEnv(os.Environ()) // whatever it is, it must not panic
	SecretsFromEnv([]string{"", "=", "===", "\xff=\xff", "KEY=\x00://:@", "A=://", "__=x"})
}
