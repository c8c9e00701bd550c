package airline

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tooleval/tooleval"
)

// Folder makes the suite for the command, which names it by the path of this package's folder, dir. The data are in the
// folder that TAUBENCH_DIR names, or in shared/taubench beside the repository.
func Folder(dir string, getenv func(string) string) (*tooleval.Suite, error) {
	data := getenv("TAUBENCH_DIR")
	if data == "" {
		data = filepath.Join(dir, "..", "..", "..", "shared", "taubench")
	}
	if _, err := os.Stat(filepath.Join(data, "airline", "tasks.json")); err != nil {
		return nil, fmt.Errorf("the τ-bench data are not there: %w; set TAUBENCH_DIR to the folder that holds airline/tasks.json", err)
	}
	return Suite(data)
}
