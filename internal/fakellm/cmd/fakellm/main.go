// Command fakellm is a fake model server on loopback, for trying things out without a network, a key or a cent. See
// docs/how-to/try-without-a-key.md.
//
//	go run ./internal/fakellm/cmd/fakellm -script job-search
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/tooleval/tooleval/internal/fakellm"
	"github.com/tooleval/tooleval/internal/fakellm/calcmind"
	"github.com/tooleval/tooleval/internal/fakellm/jobmind"
)

// scripts are the minds, by the name that -script takes.
var scripts = map[string]fakellm.Script{
	"job-search":          jobmind.Script(jobmind.Options{}),
	"job-search-wasteful": jobmind.Script(jobmind.Options{Wasteful: true}),
	"calc":                calcmind.Script,
}

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "the loopback address to listen on; port 0 is a free one")
	name := flag.String("script", "job-search", "the mind that answers: job-search, job-search-wasteful, which makes two calls too many, or calc")
	flag.Parse()
	script, ok := scripts[*name]
	if !ok || flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "fakellm: no script %q: there are job-search, job-search-wasteful and calc\n", *name)
		os.Exit(2)
	}
	srv, err := fakellm.Listen(*addr, script)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Nothing but these lines, so that a shell can take them in.
	fmt.Printf("export ANTHROPIC_BASE_URL=%s\nexport ANTHROPIC_API_KEY=not-a-key\n", srv.URL(""))
	if *name == "calc" { // which is for agents of any kind
		fmt.Printf("export OPENAI_BASE_URL=%s/v1\nexport OPENAI_API_KEY=not-a-key\nexport TOOLEVAL_MODEL=fake-model\n", srv.URL(""))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	<-ctx.Done()
	stop()
	srv.Close()
}
