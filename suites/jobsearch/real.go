package jobsearch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/agents"
)

// program is the name of the real agent's executable in its folder.
const program = "jobpostingagent"

// handedOver are the variables of the harness's environment that the real agent gets; it gets no others. Those marked true
// are part of what the agent is; the others may change without changing it.
var handedOver = []struct {
	name     string
	identity bool
}{
	{"ANTHROPIC_API_KEY", false},
	{"ANTHROPIC_AUTH_TOKEN", false},
	{"ANTHROPIC_BASE_URL", false},
	{"ANTHROPIC_MODEL", true},
	{"JOBPOSTINGAGENT_MODEL", true},
}

// newReal makes the real agent of the program that JOBPOSTINGAGENT_PATH names: an executable, or a folder that holds one
// named jobpostingagent or the agent's Go source, which is then built. Whether the program speaks the protocol and has the
// entry points is found out by the agent's Preflight.
func newReal(ctx context.Context, getenv func(string) string) (tooleval.Agent, error) {
	path := strings.TrimSpace(getenv("JOBPOSTINGAGENT_PATH"))
	if path == "" {
		return nil, errors.New("JOBPOSTINGAGENT_PATH is not set: let it name the agent's folder or executable, " +
			"as in JOBPOSTINGAGENT_PATH=./examples/jobpostingagent")
	}
	command, err := locate(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("JOBPOSTINGAGENT_PATH=%s: %w", path, err)
	}
	digest, err := digestOf(command)
	if err != nil {
		return nil, fmt.Errorf("JOBPOSTINGAGENT_PATH=%s: %w", path, err)
	}
	r := &realAgent{Process: &agents.Process{Name: program, Command: []string{command}}, identity: map[string]string{"program": digest}}
	for _, v := range handedOver {
		value := getenv(v.name)
		if value == "" {
			continue
		}
		r.Env = append(r.Env, v.name+"="+value)
		if v.identity {
			r.identity[v.name] = value
		}
	}
	return r, nil
}

// A realAgent is a process whose identity is the content of its program and the model, wherever it lies.
type realAgent struct {
	*agents.Process
	identity map[string]string
}

var (
	_ tooleval.Preflighter   = (*realAgent)(nil)
	_ tooleval.Fingerprinter = (*realAgent)(nil)
)

// Fingerprint is the digest of the program and the model's name, never a key.
func (r *realAgent) Fingerprint() any { return r.identity }

// locate is the absolute path of the executable.
func locate(ctx context.Context, path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", errors.New("there is no such file or folder")
	case err != nil:
		return "", err
	case !info.IsDir():
		return path, executable(path, info)
	}
	name := program
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	built := filepath.Join(path, name)
	if info, err := os.Stat(built); err == nil && !info.IsDir() {
		return built, executable(built, info)
	}
	if sources, _ := filepath.Glob(filepath.Join(path, "*.go")); len(sources) == 0 {
		return "", fmt.Errorf("the folder holds neither an executable named %s nor Go files to build one from", name)
	}
	return build(ctx, path)
}

func executable(path string, info os.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable: chmod +x it, or name the agent's folder", path)
	}
	return nil
}

const buildTime = 10 * time.Minute

// build compiles the agent in dir into the user's cache folder, under the name of its content: the same source gives the
// same file, so that evals can be resumed, and one that is running keeps the program it began with.
func build(ctx context.Context, dir string) (string, error) {
	compiler, err := exec.LookPath("go")
	if err != nil {
		return "", fmt.Errorf("the folder holds Go source, but Go is not in PATH to build it: build it there by hand "+
			"(go build -o %s .), or name an executable", program)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "tooleval", program)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(cache, "build-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	ctx, cancel := context.WithTimeoutCause(ctx, buildTime, fmt.Errorf("it took longer than %v", buildTime))
	defer cancel()
	fresh := filepath.Join(temp, program)
	cmd := exec.CommandContext(ctx, compiler, "build", "-trimpath", "-buildvcs=false", "-o", fresh, ".")
	cmd.Dir, cmd.WaitDelay = dir, 5*time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return "", fmt.Errorf("building it: %w: %.4000s", err, strings.TrimSpace(string(out)))
	}
	digest, err := digestOf(fresh)
	if err != nil {
		return "", fmt.Errorf("building it: %w (is it a program, in package main?)", err)
	}
	info, err := os.Stat(fresh)
	if err != nil {
		return "", err
	}
	if err := executable(fresh, info); err != nil {
		return "", fmt.Errorf("building it made no program; its package must be main")
	}
	kept := filepath.Join(cache, digest[:16])
	if runtime.GOOS == "windows" {
		kept += ".exe"
	}
	if err := os.Rename(fresh, kept); err != nil {
		return "", err
	}
	forget(cache, kept)
	return kept, nil
}

// forget removes programs that were built long ago and not used since.
func forget(cache, kept string) {
	entries, _ := os.ReadDir(cache)
	for _, e := range entries {
		path := filepath.Join(cache, e.Name())
		if info, err := e.Info(); err == nil && path != kept && time.Since(info.ModTime()) > 30*24*time.Hour {
			os.RemoveAll(path)
		}
	}
}

func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
