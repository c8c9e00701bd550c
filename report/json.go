package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// JSON writes a Report as one JSON document, in which every undefined number is null beside its reason. Text from outside
// keeps its meaning: it is escaped for JSON alone, and not for a terminal.
func JSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("writing the report as JSON: %w", err)
	}
	return nil
}
