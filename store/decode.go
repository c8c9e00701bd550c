package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/tooleval/tooleval"
)

// decodeRun reads the file of a run. The layout is taken out before decoding, so that foreign JSON in the run has the
// bytes with which it was put.
func decodeRun(b []byte) (*tooleval.Run, error) {
	h, err := readHead(bytes.NewReader(b))
	if err != nil {
		return nil, describeJSON(b, err)
	}
	run := new(tooleval.Run)
	if err := json.Unmarshal(appendJSON(make([]byte, 0, len(b)), b, 0, 0), run); err != nil {
		// Again for an error that counts the bytes of the file.
		if fileErr := json.Unmarshal(b, new(tooleval.Run)); fileErr != nil {
			err = describeJSON(b, fileErr)
		}
		return nil, err
	}
	if keyOf(run) != h.key {
		return nil, errors.New("it says twice, and differently, which run it is of")
	}
	return run, nil
}

// describeJSON adds the line to a syntax error, and calls a file that just stops what it is.
func describeJSON(b []byte, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.As(err, &syntax) && syntax.Offset >= int64(len(bytes.TrimRight(b, " \t\r\n"))):
		return fmt.Errorf("it stops in the middle, after %d bytes: %w", len(b), err)
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(b[:min(max(syntax.Offset, 0), int64(len(b)))], []byte("\n"))
		return fmt.Errorf("line %d: %w", line, err)
	}
	return err
}
