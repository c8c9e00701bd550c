// Package store keeps an eval as a folder of plain files: one human-readable JSON file a run, written when the run ends
// and never overwritten. There is no index and no total in a file; everything is computed from the runs again, so an
// eval that was stopped at any moment is a smaller eval and not a broken one.
//
//	e, err := store.Create("results", header, store.Options{Secrets: store.SecretsFromEnv(os.Environ())})
//	name, err := e.Put(run) // from any goroutine; durable when it returns
//	err = e.Close()
//	r, err := store.Open(e.Path())
//	for run, err := range store.Latest(r.Runs()) { … }
//
// # Layout
//
//	RESULTS/<eval id>/eval.json               the header: plan, options, versions
//	RESULTS/<eval id>/runs/<name>.json        one run of the agent
//	RESULTS/<eval id>/baselines/<name>.json   one run of a baseline
//	RESULTS/<eval id>/lock                    there while a process writes; names it
//
// File names are for people. A reader takes every fact from inside the file, so files may be renamed and folders
// copied.
//
// # What may be lost
//
// A killed process loses only the runs in flight. When the machine itself loses power, a run that [Eval.Put] has
// returned for is on the disk in full, but its name may not be: names are synced by a Put when that was last done a
// second ago or more, and by [Eval.Close]. To sync the folder for every run would make two waits for the file system's
// journal of what is now one.
//
// # Limits
//
// The lock is flock (on Windows a share mode), so on a network file system it is as good as that system's locks. A file
// of more than 1 GiB is not read. Redaction finds the values it is told of and their usual encodings, nothing else: see
// [Redactor].
package store
