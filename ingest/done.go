package ingest

import (
	"errors"
	"fmt"
)

// done finishes a recording, for yield.
func (s *source) done(b *builder, position string) (*Recording, error) {
	r, err := b.finish()
	if err != nil {
		return nil, s.bad(position, err)
	}
	return r, nil
}

// errNo says that a recording lacks what it consists of.
func errNo(what string, v value) error {
	if v.kind() != '{' {
		return fmt.Errorf("it is %s, want an object with %s or a list of them", v.what(), what)
	}
	return errors.New("it has no list of " + what)
}
