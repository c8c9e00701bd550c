package stub

import (
	"testing"

	"github.com/tooleval/tooleval/suitetest"
)

func TestSuite(t *testing.T) { suitetest.Run(t, Suite) }
