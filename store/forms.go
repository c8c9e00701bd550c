package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// levels is how many times over JSON may be a string in JSON for a secret in it to be found. Secrets without quotes and
// backslashes, and that is nearly all of them, look the same at any level.
const levels = 4

// formsOf are the spellings under which a secret may turn up, itself first; nil when it is too short to be looked for.
func formsOf(v string) []string {
	if len(v) < window {
		return nil
	}
	forms := []string{v}
	// In JSON text that is itself inside a string: as Go, JavaScript and Python (ASCII only) and PHP (\/) write it, and
	// in JSON in JSON a few levels down.
	html := quoted(v)
	inner := unescapeHTML.Replace(html)
	for _, f := range []string{html, inner, asciiOnly(inner), strings.ReplaceAll(inner, "/", `\/`)} {
		for range levels {
			forms = append(forms, f)
			f = unescapeHTML.Replace(quoted(f))
		}
	}
	// In URLs: form encoding, path segments, JavaScript's encodeURIComponent, Python's quote, and every byte escaped.
	query := url.QueryEscape(v)
	component := strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*").Replace(query)
	every := strings.ToUpper(strings.ReplaceAll(fmt.Sprintf("% x", v), " ", "%"))
	for _, f := range []string{query, strings.ReplaceAll(query, "+", "%20"), url.PathEscape(v), component,
		strings.ReplaceAll(component, "%2F", "/"), "%" + every} {
		forms = append(forms, f, hexEscape.ReplaceAllStringFunc(f, strings.ToLower))
	}
	// In base64 the same bytes look different at each of the three places in a group; the characters at both ends that
	// also depend on the neighbours are left out.
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			s := enc.EncodeToString([]byte("\x00\x00"[:before] + v))
			forms = append(forms, s[(before*8+5)/6:(before+len(v))*8/6])
		}
	}
	slices.Sort(forms[1:])
	return slices.Compact(forms)
}

var (
	hexEscape    = regexp.MustCompile(`%[0-9A-F]{2}`)
	unescapeHTML = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")
)

// quoted is the inside of the JSON string of s.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // a string always has an encoding
		return s
	}
	return string(b[1 : len(b)-1])
}

// asciiOnly escapes what is not ASCII in the inside of a JSON string.
func asciiOnly(s string) string {
	var out strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			out.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
