package chatagent

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"time"
)

//go:embed prices.json
var builtIn []byte

// maxPrices bounds a table in bytes.
const maxPrices = 4 << 20

// Prices is a table of what models cost.
type Prices struct {
	// Date is the day on which the prices were right, as 2006-01-02.
	Date string `json:"date"`
	// Note says where they come from.
	Note   string           `json:"note,omitempty"`
	Models map[string]Price `json:"models"`
}

// A Price is in US dollars for a million tokens. A part that is nil is unknown, and so is the cost of a run that used
// it.
type Price struct {
	Input  *float64 `json:"input"`
	Output *float64 `json:"output"`
	// Cached is for input that was read from a cache, CacheWrite for input that was written to one.
	Cached     *float64 `json:"cached,omitempty"`
	CacheWrite *float64 `json:"cache_write,omitempty"`
}

// LoadPrices reads a table from a file, or the one that is built in when path is empty. A table of one's own stands
// alone: models that it does not name have no price.
func LoadPrices(path string) (*Prices, error) {
	if path == "" {
		return parsePrices(builtIn)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the table of prices (TOOLEVAL_PRICES): %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPrices+1))
	if err == nil && len(b) > maxPrices {
		err = fmt.Errorf("it has more than %d bytes", maxPrices)
	}
	if err != nil {
		return nil, fmt.Errorf("the table of prices (TOOLEVAL_PRICES) %s: %w", path, err)
	}
	p, err := parsePrices(b)
	if err != nil {
		return nil, fmt.Errorf("the table of prices (TOOLEVAL_PRICES) %s: %w", path, err)
	}
	return p, nil
}

func parsePrices(b []byte) (*Prices, error) {
	var p Prices
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is something behind the table")
	}
	if _, err := time.Parse(time.DateOnly, p.Date); err != nil {
		return nil, fmt.Errorf("date %q: want the day of the prices, such as 2026-03-21", p.Date)
	}
	if len(p.Models) == 0 {
		return nil, errors.New("it names no models")
	}
	for name, price := range p.Models {
		if price.Input == nil || price.Output == nil {
			return nil, fmt.Errorf("model %q needs a price for input and one for output", name)
		}
		for _, v := range []*float64{price.Input, price.Output, price.Cached, price.CacheWrite} {
			if v != nil && (*v < 0 || math.IsInf(*v, 0)) {
				return nil, fmt.Errorf("model %q has a price of %v", name, *v)
			}
		}
	}
	return &p, nil
}

// release is the date at the end of a model's name.
var release = regexp.MustCompile(`-(\d{8}|\d{4}-\d{2}-\d{2})$`)

// find is the price of the first of the names that has one, with or without the date of its release.
func (p *Prices) find(names []string) (Price, bool) {
	for _, name := range names {
		if price, ok := p.Models[name]; ok {
			return price, true
		}
		if price, ok := p.Models[release.ReplaceAllString(name, "")]; ok {
			return price, true
		}
	}
	return Price{}, false
}

// tokens are the counts of a run; cached and written are parts of input.
type tokens struct{ input, cached, written, output *int64 }

// cost is what the tokens cost in US dollars: every token once, at the price of what was done with it. Nil is unknown.
func (p *Prices) cost(names []string, t tokens) *float64 {
	price, ok := p.find(names)
	if !ok || t.input == nil || t.cached == nil || t.written == nil || t.output == nil {
		return nil
	}
	fresh := *t.input - *t.cached - *t.written
	if fresh < 0 { // this server counts in some other way
		return nil
	}
	total := float64(fresh)**price.Input + float64(*t.output)**price.Output
	for _, part := range []struct {
		n     int64
		price *float64
	}{{*t.cached, price.Cached}, {*t.written, price.CacheWrite}} {
		if part.n > 0 && part.price == nil {
			return nil
		}
		if part.n > 0 {
			total += float64(part.n) * *part.price
		}
	}
	total /= 1e6
	return &total
}
