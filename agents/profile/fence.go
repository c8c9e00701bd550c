package profile

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/internal/process"
)

// Sandboxes are the values of Options.Sandbox.
var Sandboxes = []string{"none", "auto", "bwrap"}

// A fence keeps an agent in by bubblewrap: a network of its own that holds loopback alone, a system that it can't write
// to, its own process ids, and neither the user's home, nor the folder that the harness runs in, nor temporary files.
//
// The run's tools and the addresses that the profile names are reached through sockets in the run's folder: a helper
// inside listens on loopback and passes bytes on, and a forwarder outside dials the one address that the socket is for.
type fence struct{ bwrap string }

// newFence finds out whether bubblewrap works here.
func newFence(ctx context.Context, mode string) (*fence, tooleval.Text, error) {
	switch mode {
	case "", "none":
		return nil, "", nil
	case "auto", "bwrap":
	default:
		return nil, "", fmt.Errorf("sandbox: unknown kind %q%s; it is none, auto or bwrap", mode, tooleval.DidYouMean(mode, Sandboxes))
	}
	path, err := exec.LookPath("bwrap")
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		var out []byte
		out, err = exec.CommandContext(ctx, path, "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "--dev", "/dev",
			"--proc", "/proc", "--die-with-parent", "true").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("bubblewrap does not work here: %w: %s", err, clip(strings.TrimSpace(string(out))))
		}
	}
	switch {
	case err == nil:
		return &fence{path}, "", nil
	case mode == "auto":
		return nil, tooleval.Text("the agent was not fenced in: " + err.Error()), nil
	}
	return nil, "", fmt.Errorf("sandbox bwrap: %w (install bubblewrap, or choose sandbox none)", err)
}

// enclose puts the command of a run behind the fence.
func (t *attempt) enclose() error {
	program, err := process.Find(t.command[0], t.env)
	if err != nil {
		return tooleval.Blame(tooleval.OwnerInfra, err)
	}
	targets := []string{t.endpoint.Addr()}
	for _, text := range t.agent.profile.Sandbox.Network {
		text, err := t.scope.expand(text)
		if err == nil {
			text, err = hostPort(text)
		}
		if err != nil {
			return tooleval.Blame(tooleval.OwnerUser, fmt.Errorf("sandbox.network: %w", err))
		}
		if !slices.Contains(targets, text) {
			targets = append(targets, text)
		}
	}
	folder := filepath.Join(t.home.Root, "net")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return tooleval.Blame(tooleval.OwnerInfra, err)
	}
	if t.forwards, err = forward(folder, targets); err != nil {
		return tooleval.Blame(tooleval.OwnerInfra, fmt.Errorf("the sandbox's ways out: %w", err))
	}
	hosts := filepath.Join(folder, "hosts")
	if err := os.WriteFile(hosts, []byte(t.forwards.hosts()), 0o600); err != nil {
		return tooleval.Blame(tooleval.OwnerInfra, err)
	}
	read := []string{t.agent.self, program}
	if real, err := filepath.EvalSymlinks(program); err == nil {
		read = append(read, installFolder(real))
	}
	for _, text := range t.agent.profile.Sandbox.Read {
		path, err := t.scope.expand(text)
		if err == nil && !filepath.IsAbs(path) {
			err = fmt.Errorf("%q is no absolute path", path)
		}
		if err != nil {
			return tooleval.Blame(tooleval.OwnerUser, fmt.Errorf("sandbox.read: %w", err))
		}
		read = append(read, path)
	}
	args := []string{t.agent.fence.bwrap, "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent",
		"--new-session", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"}
	for _, dir := range hidden() {
		args = append(args, "--tmpfs", dir)
	}
	for _, path := range read {
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, "--bind", t.home.Root, t.home.Root, "--ro-bind-try", hosts, "/etc/hosts", "--chdir", t.home.Work,
		"--cap-drop", "ALL", "--cap-add", "CAP_NET_BIND_SERVICE", "--", t.agent.self, "sandbox-exec")
	args = append(args, t.forwards.flags()...)
	t.command = append(append(args, "--", program), t.command[1:]...)
	return nil
}

// hidden are the folders that a fenced agent finds empty: those of the user, those with other runs and sockets, and the
// one the harness runs in, where suites and results are.
func hidden() []string {
	var list []string
	add := func(dir string) {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || real == "/" || !filepath.IsAbs(real) {
			return
		}
		for _, known := range list {
			if rel, err := filepath.Rel(known, real); err == nil && filepath.IsLocal(rel) {
				return
			}
		}
		list = append(list, real)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/run", "/home", "/root"} {
		add(dir)
	}
	add(os.TempDir())
	if home, err := os.UserHomeDir(); err == nil {
		add(home)
	}
	if wd, err := os.Getwd(); err == nil {
		add(wd)
	}
	return list
}

// installFolder is what a program needs of the files around it: everything beside its outermost node_modules, or else its
// folder.
func installFolder(program string) string {
	if i := strings.Index(program, "/node_modules/"); i > 0 {
		return program[:i]
	}
	dir := filepath.Dir(program)
	if filepath.Base(dir) == "bin" {
		dir = filepath.Dir(dir)
	}
	return dir
}

// hostPort is the address of a URL or a HOST:PORT.
func hostPort(text string) (string, error) {
	if !strings.Contains(text, "://") {
		if _, _, err := net.SplitHostPort(text); err != nil {
			return "", fmt.Errorf("%q is neither a URL nor HOST:PORT", clip(text))
		}
		return text, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", fmt.Errorf("%q is no URL with a host", clip(text))
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https" || u.Scheme == "wss":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// A way leads from an address inside the sandbox to one outside.
type way struct{ inside, socket, host, target string }

// forwards are the ways out of one sandbox, at their outer end.
type forwards struct {
	ways      []way
	listeners []net.Listener
	ctx       context.Context
	cancel    context.CancelFunc
}

// forward listens on one socket for each target. Hosts that are not loopback get an address of loopback each, by which
// the sandbox's hosts file knows them.
func forward(folder string, targets []string) (*forwards, error) {
	f := &forwards{}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	addresses := map[string]string{}
	for i, target := range targets {
		host, port, err := net.SplitHostPort(target)
		if err != nil {
			f.close()
			return nil, err
		}
		w := way{socket: filepath.Join(folder, strconv.Itoa(i)), target: target}
		ip := net.ParseIP(host)
		switch {
		case strings.EqualFold(host, "localhost"):
			w.inside = net.JoinHostPort("127.0.0.1", port)
		case ip != nil && ip.IsLoopback():
			w.inside = target
		case ip != nil:
			f.close()
			return nil, fmt.Errorf("%s: give the host's name instead of its address", target)
		default:
			if addresses[host] == "" {
				addresses[host] = fmt.Sprintf("127.0.1.%d", len(addresses)+1)
			}
			w.host, w.inside = host, net.JoinHostPort(addresses[host], port)
		}
		l, err := net.Listen("unix", w.socket)
		if err != nil {
			f.close()
			return nil, err
		}
		f.ways, f.listeners = append(f.ways, w), append(f.listeners, l)
		go relay(f.ctx, l, "tcp", target)
	}
	return f, nil
}

func (f *forwards) close() {
	f.cancel()
	for _, l := range f.listeners {
		_ = l.Close()
	}
}

// flags tell the helper inside where to listen and which socket that stands for.
func (f *forwards) flags() []string {
	var flags []string
	for _, w := range f.ways {
		flags = append(flags, "--forward", w.inside+"="+w.socket)
	}
	return flags
}

func (f *forwards) hosts() string {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for _, w := range f.ways {
		if w.host != "" {
			ip, _, _ := net.SplitHostPort(w.inside)
			fmt.Fprintf(&b, "%s %s\n", ip, w.host)
		}
	}
	return b.String()
}

// relay passes every connection on to one address, until the listener is closed.
func relay(ctx context.Context, l net.Listener, network, target string) {
	for {
		from, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of file descriptors, say
			continue
		}
		go func() {
			defer func() { _ = from.Close() }()
			dialer := net.Dialer{Timeout: 30 * time.Second}
			to, err := dialer.DialContext(ctx, network, target)
			if err != nil {
				return
			}
			defer func() { _ = to.Close() }()
			stop := context.AfterFunc(ctx, func() { _, _ = from.Close(), to.Close() })
			defer stop()
			done := make(chan struct{})
			go func() { splice(to, from); close(done) }()
			splice(from, to)
			<-done
		}()
	}
}
