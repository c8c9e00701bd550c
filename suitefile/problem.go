package suitefile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one thing that is wrong with a suite's folder.
type Problem struct {
	// File is the path as the caller would open it: the folder that was given to [Load] and the file's path in it.
	File string
	// Line and Column count from 1, the column in characters; 0 stands for the file as a whole.
	Line, Column int
	// Message says what is wrong and what was expected.
	Message string
}

// String is file:line:column: message.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// An Error is everything that is wrong with a suite's folder, sorted by place, at most [MostProblems].
type Error struct {
	Problems []Problem
	// More counts the problems that were found and are left out.
	More int
}

// MostProblems bounds the problems that an [Error] holds: a file with more of them is another kind of file.
const MostProblems = 200

// Error has one line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems), len(e.Problems)+1)
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", e.More))
	}
	return strings.Join(lines, "\n")
}

// problems gathers what is wrong. Of equal ones, as the rows of a matrix give them, the first stays; a note that is added
// to the message, such as the number of the row, makes no difference.
type problems struct {
	list []Problem
	seen map[Problem]bool
	more int
}

func (p *problems) add(at place, note, format string, args ...any) {
	problem := Problem{File: at.file.shown, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, args...)}
	if p.seen[problem] {
		return
	}
	if p.seen == nil {
		p.seen = map[Problem]bool{}
	}
	if len(p.list) >= MostProblems {
		p.more++
		return
	}
	p.seen[problem] = true
	problem.Message += note
	p.list = append(p.list, problem)
}

// count is how many problems there were so far.
func (p *problems) count() int { return len(p.list) + p.more }

// err is nil when there are none.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	slices.SortStableFunc(p.list, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return &Error{Problems: p.list, More: p.more}
}

// A place is a position in a file; line 0 stands for the file as a whole.
type place struct {
	file         *source
	line, column int
}

// String is file:line:column.
func (p place) String() string {
	if p.line == 0 {
		return p.file.shown
	}
	return fmt.Sprintf("%s:%d:%d", p.file.shown, p.line, p.column)
}
