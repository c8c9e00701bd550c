package store

import (
	"net/url"
	"slices"
	"strings"
)

// SecretsFromEnv picks the credentials out of an environment as os.Environ gives it: the values of variables that are
// named like one (a part of the name is KEY, TOKEN, SECRET, PASSWORD, AUTH or the like), and the passwords in URLs
// under whatever name. Values that are switches, counts or names of files are left out, because redacting "disabled"
// everywhere would help nobody; so are values that are too short for a [Redactor].
func SecretsFromEnv(environ []string) []Secret {
	var secrets []Secret
	add := func(name, value string) {
		s := Secret{name, value}
		if len(value) >= window && !slices.Contains(secrets, s) {
			secrets = append(secrets, s)
		}
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		value = strings.TrimSpace(value)
		for _, s := range urlSecrets(value) {
			add(name, s)
		}
		if !namesCredential(name) || isHarmless(name, value) {
			continue
		}
		add(name, value)
		if scheme, rest, ok := strings.Cut(value, " "); ok { // Authorization: Bearer …
			switch strings.ToLower(scheme) {
			case "bearer", "basic", "token":
				add(name, strings.TrimSpace(rest))
			}
		}
		if strings.Contains(value, ",") {
			for part := range strings.SplitSeq(value, ",") {
				add(name, strings.TrimSpace(part))
			}
		}
	}
	return secrets
}

var credentialParts = []string{
	"KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASS", "PWD",
	"PASSPHRASE", "PASSCODE", "CREDENTIAL", "CREDENTIALS", "CREDS", "AUTH", "AUTHORIZATION", "BEARER", "COOKIE", "JWT",
	"PAT", "DSN", "WEBHOOK",
}

// credentialEndings also count at the end of a part, as in PGPASSWORD.
var credentialEndings = []string{"APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY", "TOKEN", "SECRET", "PASSWORD",
	"PASSWD"}

// nameParts are the words of a variable's name in capitals: DB_PASSWORD, db.password and dbPassword are the same.
func nameParts(name string) []string {
	var spaced strings.Builder
	lower := false
	for _, c := range name {
		upper := c >= 'A' && c <= 'Z'
		if upper && lower {
			spaced.WriteByte('_')
		}
		lower = c >= 'a' && c <= 'z'
		spaced.WriteRune(c)
	}
	return strings.FieldsFunc(strings.ToUpper(spaced.String()), func(c rune) bool {
		return (c < 'A' || c > 'Z') && (c < '0' || c > '9')
	})
}

func namesCredential(name string) bool {
	if name == "PWD" || name == "OLDPWD" { // the folder that a shell is in
		return false
	}
	return slices.ContainsFunc(nameParts(name), func(part string) bool {
		return slices.Contains(credentialParts, part) ||
			slices.ContainsFunc(credentialEndings, func(end string) bool { return strings.HasSuffix(part, end) })
	})
}

// isHarmless reports whether the value can't be the credential that the name speaks of.
func isHarmless(name, value string) bool {
	switch strings.ToLower(value) {
	case "enabled", "disabled", "default", "required", "optional", "always", "prompt", "system", "unknown", "undefined",
		"automatic", "anonymous":
		return true
	}
	parts := nameParts(name)
	has := func(list ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(list, p) })
	}
	switch parts[len(parts)-1] {
	case "FILE", "PATH", "DIR", "SOCK", "SOCKET", "TTL", "TIMEOUT", "LIMIT", "LENGTH", "SIZE", "TYPE", "METHOD",
		"ALGORITHM",
		"URI", "HOST", "ENDPOINT", "DOMAIN", "REGION", "ISSUER", "USER", "USERNAME", "EMAIL", "NAME":
		return true
	case "URL":
		return !has("WEBHOOK") // whoever knows that URL may use it
	}
	// MAX_TOKENS=128000 is a count; a number under the name of a password is a password.
	number := strings.Trim(value, "0123456789._") == ""
	return number && has("TOKENS", "KEYS", "MAX", "MIN", "NUM", "COUNT", "PORT")
}

// urlSecrets are the passwords in the URLs of a value, as they are spelt and decoded. A user name without a password is
// taken for a token when it is as long as one.
func urlSecrets(value string) []string {
	const token = 20
	var secrets []string
	for {
		_, rest, ok := strings.Cut(value, "://")
		if !ok {
			return secrets
		}
		value = rest
		// By hand: url.Parse refuses what people have in their environment, such as a bare % or # in a password.
		authority := rest
		if i := strings.IndexAny(rest, " \t\r\n\"'<>"); i >= 0 {
			authority = rest[:i]
		}
		if i := strings.Index(authority, "://"); i >= 0 {
			authority = authority[:i]
		}
		user, ok := userinfo(authority)
		if !ok {
			continue
		}
		_, password, ok := strings.Cut(user, ":")
		if !ok && len(user) >= token {
			password = user
		}
		if password == "" {
			continue
		}
		secrets = append(secrets, password)
		if decoded, err := url.PathUnescape(password); err == nil && decoded != password {
			secrets = append(secrets, decoded)
		}
	}
}

// userinfo is what stands before the host. A slash ends the authority, unless the @ only comes after it.
func userinfo(authority string) (string, bool) {
	head, _, _ := strings.Cut(authority, "/")
	if i := strings.LastIndexByte(head, '@'); i >= 0 {
		return head[:i], true
	}
	// https://host/path@2 has no user, but postgres://u:pa/ss@host has.
	if i := strings.LastIndexByte(authority, '@'); i >= 0 && strings.Contains(head, ":") && !endsInPort(head) {
		return authority[:i], true
	}
	return "", false
}

func endsInPort(head string) bool {
	return strings.Trim(head[strings.LastIndexByte(head, ':')+1:], "0123456789") == ""
}
