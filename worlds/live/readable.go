package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// maxElements is the size of a page from which looking for its main part takes too long; such a page is taken whole.
const maxElements = 20_000

// clutter is what no reader of a whole page wants.
var clutter = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Nav: true, atom.Header: true,
	atom.Footer: true, atom.Iframe: true, atom.Svg: true, atom.Select: true, atom.Head: true, atom.Object: true,
}

// short is the size in bytes of a main part that may well be the wrong one: a page whose content is a short notice, such
// as a wall that asks to sign in, makes its navigation look like the article.
const short = 500

// Readable is the title and the main part of an HTML page in UTF-8, as Markdown. Links become absolute where the page's
// address is known; nil says that it isn't. A page in which no main part stands out, such as a short one, is taken whole,
// without navigation, scripts and the like.
func Readable(page io.Reader, at *url.URL) (title, markdown string, err error) {
	doc, err := html.Parse(page)
	if err != nil {
		return "", "", fmt.Errorf("its HTML can't be read: %w", err)
	}
	title, markdown = article(doc, at)
	if title == "" {
		title = titleOf(doc)
	}
	if len(markdown) >= short {
		return title, markdown, nil
	}
	remove(doc)
	var whole bytes.Buffer
	if err := html.Render(&whole, doc); err != nil {
		return "", "", fmt.Errorf("its HTML can't be read: %w", err)
	}
	all, err := toMarkdown(&whole, at)
	if all == "" && markdown != "" {
		return title, markdown, nil
	}
	return title, all, err
}

// article is what the library takes for the main part; empty when it finds none.
func article(doc *html.Node, at *url.URL) (title, markdown string) {
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	a, err := parser.ParseDocument(doc, at)
	if err != nil || a.Node == nil {
		return "", ""
	}
	title = strings.Join(strings.Fields(a.Title()), " ")
	var main bytes.Buffer
	if err := a.RenderHTML(&main); err != nil {
		return title, ""
	}
	if markdown, err = toMarkdown(&main, at); err != nil {
		return title, ""
	}
	return title, markdown
}

func toMarkdown(page io.Reader, at *url.URL) (string, error) {
	c := converter.NewConverter(
		converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()),
		converter.WithEscapeMode(converter.EscapeModeDisabled), // it is read by models, not rendered
	)
	var options []converter.ConvertOptionFunc
	if at != nil {
		options = append(options, converter.WithDomain(at.Scheme+"://"+at.Host))
	}
	markdown, err := c.ConvertReader(page, options...)
	if err != nil {
		return "", fmt.Errorf("its HTML can't be turned into text: %w", err)
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(markdown), "\uFFFD")), nil
}

func titleOf(doc *html.Node) string {
	for n := range doc.Descendants() {
		if n.DataAtom == atom.Title && n.FirstChild != nil {
			return strings.Join(strings.Fields(n.FirstChild.Data), " ")
		}
	}
	return ""
}

// remove takes the clutter out of a page.
func remove(n *html.Node) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		if child.Type == html.CommentNode || child.Type == html.ElementNode && clutter[child.DataAtom] {
			n.RemoveChild(child)
		} else {
			remove(child)
		}
		child = next
	}
}

// text is the body in UTF-8: by the byte order mark, the header, the page's own word, or a guess, in this order.
func (b *body) text() io.Reader {
	r, err := charset.NewReader(bytes.NewReader(b.bytes), b.contentType)
	if err != nil {
		return bytes.NewReader(bytes.ToValidUTF8(b.bytes, []byte("\uFFFD")))
	}
	return r
}

// plain is a body that is text already.
func plain(r io.Reader) (string, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("its text can't be read: %w", err)
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return "", errors.New("it is called text but holds binary data")
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(b), "\uFFFD")), nil
}

// clip cuts s to at most limit bytes, between characters.
func clip(s string, limit int) (string, bool) {
	if len(s) <= limit {
		return s, false
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit], true
}
