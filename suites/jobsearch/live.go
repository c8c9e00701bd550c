package jobsearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/tooleval/tooleval"
	"github.com/tooleval/tooleval/worlds/live"
)

// newLiveWorld makes a world whose tools are real. Its folders are made for this run: the résumé is copied into one, and
// reports go into another, which is kept when JOBSEARCH_OUTPUT_DIR says where. Settings that can't work are the user's
// fault and end the run before it begins.
func newLiveWorld(_ context.Context, spec tooleval.WorldSpec) (_ tooleval.World, err error) {
	defer func() {
		if err != nil {
			err = tooleval.Blame(tooleval.OwnerUser, err)
		}
	}()
	getenv := spec.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	private := false
	if v := getenv("JOBSEARCH_ALLOW_PRIVATE"); v != "" {
		if private, err = strconv.ParseBool(v); err != nil {
			return nil, fmt.Errorf("JOBSEARCH_ALLOW_PRIVATE=%.100q: write 1 or 0", v)
		}
	}
	resume := string(file("resume.md"))
	if path := getenv("JOBSEARCH_RESUME"); path != "" {
		if resume, err = live.ReadTextFile(path, 0); err != nil {
			return nil, fmt.Errorf("JOBSEARCH_RESUME: %w", err)
		}
	}
	fetcher := live.NewFetcher(live.FetchOptions{AllowPrivate: private})
	w := &liveWorld{
		tools: spec.Tools, fetcher: fetcher,
		searcher: &live.Searcher{Fetcher: fetcher, Endpoint: getenv("JOBSEARCH_SEARCH_URL")},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	if err := w.makeFolders(resume, getenv("JOBSEARCH_OUTPUT_DIR"), spec); err != nil {
		return nil, err
	}
	return w, nil
}

const resumeFile = "resume.md"

func (w *liveWorld) makeFolders(resume, outputDir string, spec tooleval.WorldSpec) (err error) {
	if w.temp, err = os.MkdirTemp("", "tooleval-jobsearch-*"); err != nil {
		return err
	}
	input := filepath.Join(w.temp, "input")
	output := filepath.Join(w.temp, "output")
	if err := errors.Join(os.Mkdir(input, 0o755), os.Mkdir(output, 0o755)); err != nil {
		return err
	}
	if outputDir != "" && canSave(spec.Tools) {
		// One folder a run: the files of parallel runs have the same names.
		if err := os.MkdirAll(outputDir, 0o755); err != nil {
			return fmt.Errorf("JOBSEARCH_OUTPUT_DIR: %w", err)
		}
		if output, err = os.MkdirTemp(outputDir, spec.Task.ID+"-*"); err != nil {
			return fmt.Errorf("JOBSEARCH_OUTPUT_DIR: %w", err)
		}
	}
	if w.input, err = live.OpenFolder(input, live.FolderOptions{}); err != nil {
		return err
	}
	if w.output, err = live.OpenFolder(output, live.FolderOptions{}); err != nil {
		return err
	}
	return w.input.Write(resumeFile, resume)
}

type liveWorld struct {
	tools         []tooleval.Tool
	fetcher       *live.Fetcher
	searcher      *live.Searcher
	temp          string
	input, output *live.Folder

	mu    sync.Mutex
	saved []saving
}

// A saving is a successful call of save_output, as the mock keeps it.
type saving struct {
	Filename string `json:"filename"`
	Content  string `json:"content"`
}

func (w *liveWorld) Tools() []tooleval.Tool { return w.tools }

// State is what was saved, as in the mock; nil for tasks that can't save.
func (w *liveWorld) State() (tooleval.State, error) {
	if !canSave(w.tools) {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return json.Marshal(map[string]any{"saved": append([]saving{}, w.saved...)})
}

// Close removes what this run leaves on the disk, but never a folder that the user asked for.
func (w *liveWorld) Close() error {
	var errs []error
	for _, f := range []*live.Folder{w.input, w.output} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	if w.temp != "" {
		errs = append(errs, os.RemoveAll(w.temp))
	}
	return errors.Join(errs...)
}

func (w *liveWorld) CallTool(ctx context.Context, call tooleval.ToolCall) (tooleval.ToolResult, error) {
	var args struct{ URL, Query, Filename, Content string }
	if len(call.Args) > 0 {
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return tooleval.ErrorResult("the arguments don't fit the schema: %v", err), nil
		}
	}
	var result tooleval.ToolResult
	var err error
	switch call.Tool {
	case "fetch_webpage":
		var page live.Page
		if page, err = w.fetcher.Fetch(ctx, args.URL); err == nil {
			result = pageResult(page)
		}
	case "web_search":
		var found []live.SearchResult
		if found, err = w.searcher.Search(ctx, args.Query); err == nil {
			result = searchResult(found)
		}
	case "read_resume":
		var text string
		if text, err = w.input.Read(resumeFile); err == nil {
			result = resumeResult(text)
		}
	case "save_output":
		if err = w.save(args.Filename, args.Content); err == nil {
			result = savedResult()
		}
	default:
		err = fmt.Errorf("there is no tool %.100q", call.Tool)
	}
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil: // the run is over; the tool said nothing
		return tooleval.ToolResult{}, context.Cause(ctx)
	}
	return tooleval.ErrorResult("%v", err), nil
}

// save writes a file and remembers it. Both happen in one step, so that the last write of a name is the last remembered.
func (w *liveWorld) save(name, content string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if content == "" {
		return errors.New("a filename and a content that is not empty are needed")
	}
	if err := w.output.Write(name, content); err != nil {
		return err
	}
	w.saved = append(w.saved, saving{name, content})
	return nil
}
