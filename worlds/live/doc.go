// Package live holds the building blocks of worlds whose tools are real: a [Fetcher] of web pages that can't be sent into
// the network it runs in, a [Searcher] that reads DuckDuckGo's HTML results, and a [Folder] that nothing gets out of.
// They know no domain; a Suite puts its tools on them.
//
//	fetcher := live.NewFetcher(live.FetchOptions{})
//	page, err := fetcher.Fetch(ctx, "https://example.com/jobs/17")
//	if err != nil {
//		return tooleval.ErrorResult("%v", err), context.Cause(ctx) // the tool said no, unless the run is over
//	}
//	return tooleval.TextResult(page.Text), nil
//
// An error of these types is written for an agent to read: what was tried, what came of it. Everything is bounded: time,
// redirects, bytes on the wire after decompression, bytes of text, number of results, sizes of files.
//
// # Limits
//
// Pages are read as they are sent: no script is run, no cookie is kept, no proxy is used and no robots.txt is asked. The
// time of turning a page into text is bounded by the page's size alone.
package live
