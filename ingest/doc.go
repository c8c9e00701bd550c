// Package ingest reads trajectories that other systems recorded and makes one canonical [Recording] of each, so that a Suite
// can score them without running anything.
//
//	for rec, err := range ingest.Read("airline.json", ingest.Options{}) { // the format is detected
//		if err != nil {
//			return err // names the file and the recording; the next ones may be fine
//		}
//		fmt.Println(rec.TaskID, len(rec.Trajectory.Calls), rec.Ending)
//	}
//
// The same call gives the same bytes in a Trajectory, whatever shape it was written in. What holds for every format:
//
//   - Calls come from fields that are made for them. Text in prose is never a call, however much it looks like one.
//   - A result belongs to the unanswered call with its id in the newest message that made calls; where ids repeat or are
//     missing, to the first unanswered one by position.
//   - Calls of one message ran at the same time: their Began and Ended overlap.
//   - Arguments are an object or JSON text; what is neither is kept as it came and marked (Call.ArgsError). A malformed entry
//     becomes a call that satisfies nothing and a warning, never a crash.
//   - Text beside a call is kept apart ([Recording.Aside]) and was not said to the user.
//   - A result is an error only where the format says so: see [Format.ErrorRule].
//   - What a recording does not say stays unknown: an ending that nothing shows is empty, a cost is nil.
//   - Tool names are taken as they are. Names that an agent's framework prefixed are mapped by explicit [Alias]es only.
//
// Calls were seen by others, so Trajectory.Channel is self_reported, except for ToolEval's own records, which keep theirs.
//
// # Limits
//
// One recording at a time is in memory, each at most Options.MaxRecord bytes; OTLP is the exception, since the spans of one
// trace may lie anywhere in a file. Standard input can't be read: detection looks at a file first.
package ingest
