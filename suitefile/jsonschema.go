package suitefile

import (
	"errors"
	"regexp"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// checkSchema reports what is wrong with a JSON Schema. It reads no file and no network: a reference that leads out of
// the schema is an error.
func checkSchema(schema any) error {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	c.UseRegexpEngine(anyRegexp)
	if err := c.AddResource("mem:///schema", schema); err != nil {
		return err
	}
	_, err := c.Compile("mem:///schema")
	if err != nil {
		return errors.New(lastLine(err.Error()))
	}
	return nil
}

// anyRegexp takes expressions that Go doesn't know, such as those with a look-ahead: schemas are written in the dialect of
// JavaScript, and it is not ToolEval that applies them.
func anyRegexp(expr string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return regexp.MustCompile(``), nil
	}
	return re, nil
}
