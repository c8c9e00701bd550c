package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/tooleval/tooleval"
)

// Seed derives the seed of one run: the first 53 bits of a SHA-256, so that JSON readers that know only doubles keep it.
// The mind has no part in it: two agents meet the same worlds, which makes them comparable pair by pair.
func Seed(seed uint64, suite, task, baseline string, index int) uint64 {
	h := sha256.New()
	var n [8]byte
	for _, v := range []uint64{seed, uint64(index)} {
		binary.BigEndian.PutUint64(n[:], v)
		h.Write(n[:])
	}
	fmt.Fprintf(h, "%q%q%q", suite, task, baseline)
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(h.Sum(sum[:0])) >> 11
}

// digest is the SHA-256 of the canonical JSON of v in hexadecimal: the order of keys and the spelling of numbers have no
// part in it.
func digest(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	value, err := tooleval.DecodeValue(b)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(tooleval.CanonicalJSON(value))
	return hex.EncodeToString(sum[:]), nil
}

// content is what makes two runs of a task the same but for the index: what the suite says about this task, the world's
// and the scorer's own content, and the mind. It leaves out the version of ToolEval, other tasks, options and times.
func content(s *tooleval.Suite, t *tooleval.Task, worldKind, world string, scorer tooleval.Scorer,
	mind, agent string, aliases map[string]string, baseline string) (string, error) {
	return digest(map[string]any{
		"suite": s.Name, "version": s.Version, "task": t, "tools": s.Toolset(t),
		"world": worldKind, "world_content": world, "scorer": fingerprint(scorer),
		"mind": mind, "mind_content": agent, "aliases": aliases, "baseline": baseline,
	})
}

func fingerprint(v any) any {
	if f, ok := v.(tooleval.Fingerprinter); ok {
		return f.Fingerprint()
	}
	return nil
}

// TaskDigest is the digest of a task's content, as it stands in an eval's header.
func TaskDigest(t *tooleval.Task) (string, error) { return digest(t) }

// SuiteDigest is the digest of a suite's data: its tools, entry points, tasks, version and mock world. The code of
// scorers and live worlds can't be digested; that is what Suite.Version is for.
func SuiteDigest(s *tooleval.Suite, tasks []tooleval.Task) (string, error) {
	return digest(map[string]any{"name": s.Name, "version": s.Version, "tools": s.Tools, "entry_points": s.EntryPoints,
		"tasks": tasks, "mock_world": fingerprint(s.MockWorld), "live_world": fingerprint(s.LiveWorld)})
}
