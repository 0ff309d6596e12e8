package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// An element is a start tag of a page.
type element struct {
	name       string
	attributes map[string]string
	text       string // of script and style
}

var (
	htmlTag       = regexp.MustCompile(`^<([a-z][a-z0-9]*)((?:\s+[a-zA-Z0-9-]+(?:="[^"<]*")?)*)\s*(/?)>`)
	htmlAttribute = regexp.MustCompile(`([a-zA-Z0-9-]+)(?:="([^"]*)")?`)
	htmlReference = regexp.MustCompile(`&(?:amp|lt|gt|quot|nbsp|#[0-9]+|#x[0-9a-fA-F]+);`)
)

// readHTML reads the HTML that this package writes, which is stricter than what browsers take: every element that
// may have contents is closed, in order, attributes are in double quotes or without a value, and nothing else has
// a "<" or a "&" that stands for itself.
func readHTML(t *testing.T, text string) []element {
	t.Helper()
	var elements []element
	var open []string
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s, before %.200q", fmt.Sprintf(format, args...), text)
	}
	text, ok := strings.CutPrefix(text, "<!doctype html>")
	if !ok {
		fail("no doctype")
	}
	checkText := func(s string) {
		if strings.Contains(s, "&") && strings.Contains(htmlReference.ReplaceAllString(s, ""), "&") {
			fail("bare & in %.100q", s)
		}
	}
	void := []string{"meta", "br", "img", "input", "link", "hr", "col", "wbr"}
	for text != "" {
		at := strings.IndexByte(text, '<')
		if at < 0 {
			at = len(text)
		}
		checkText(text[:at])
		if text = text[at:]; text == "" {
			break
		}
		if rest, ok := strings.CutPrefix(text, "</"); ok {
			name, after, _ := strings.Cut(rest, ">")
			if len(open) == 0 || open[len(open)-1] != name {
				fail("</%s> closes %v", name, open)
			}
			open, text = open[:len(open)-1], after
			continue
		}
		m := htmlTag.FindStringSubmatch(text)
		if m == nil {
			fail("no tag")
		}
		e := element{name: m[1], attributes: make(map[string]string)}
		for _, a := range htmlAttribute.FindAllStringSubmatch(m[2], -1) {
			if _, twice := e.attributes[a[1]]; twice {
				fail("attribute %s twice", a[1])
			}
			checkText(a[2])
			e.attributes[a[1]] = a[2]
		}
		text = text[len(m[0]):]
		switch {
		case slices.Contains(void, e.name), m[3] == "/":
		case e.name == "script" || e.name == "style":
			var closed bool
			if e.text, text, closed = strings.Cut(text, "</"+e.name+">"); !closed {
				fail("%s is not closed", e.name)
			}
			if lower := strings.ToLower(e.text); strings.Contains(lower, "<!--") || strings.Contains(lower, "<script") || strings.Contains(lower, "</"+e.name) {
				fail("%s has text that HTML takes for more", e.name)
			}
		default:
			open = append(open, e.name)
		}
		elements = append(elements, e)
	}
	if len(open) > 0 {
		fail("%v are open", open)
	}
	return elements
}

// checkReport checks a report for what all of them fulfil, and returns its elements.
func checkReport(t *testing.T, text []byte) []element {
	t.Helper()
	if !utf8.Valid(text) {
		t.Error("the file is not UTF-8")
	}
	elements := readHTML(t, string(text))
	ids := make(map[string]bool)
	var policy, style, script string
	rows := 0
	for _, e := range elements {
		if id, ok := e.attributes["id"]; ok {
			if ids[id] {
				t.Errorf("id %q twice", id)
			}
			ids[id] = true
		}
		for name := range e.attributes {
			if name == "style" || name == "src" || strings.HasPrefix(name, "on") {
				t.Errorf("<%s> has the attribute %s", e.name, name)
			}
		}
		switch e.name {
		case "meta":
			if e.attributes["http-equiv"] == "Content-Security-Policy" {
				policy = e.attributes["content"]
			}
		case "style":
			style += e.text
		case "script":
			if e.attributes["type"] == "" {
				script += e.text
			} else if strings.ContainsAny(e.text, "<>") {
				t.Errorf("data of %s could end its element", e.attributes["id"])
			}
		case "img", "link", "iframe", "object", "embed", "base", "form":
			t.Errorf("there is a <%s>", e.name)
		case "tbody":
			rows = 0
		case "tr":
			if rows++; rows > maxStaticRows+1 {
				t.Errorf("a table has more than %d rows", maxStaticRows)
			}
		}
	}
	for _, e := range elements {
		for _, name := range []string{"aria-labelledby", "for", "aria-controls", "aria-describedby"} {
			if id, ok := e.attributes[name]; ok && !ids[id] {
				t.Errorf("<%s %s=%q> names nothing", e.name, name, id)
			}
		}
		if href, ok := e.attributes["href"]; ok {
			if id, inside := strings.CutPrefix(href, "#"); !inside || !strings.Contains(id, "=") && !ids[id] {
				t.Errorf("href %q leads nowhere", href)
			}
		}
		if e.name == "svg" && e.attributes["role"] == "img" && e.attributes["aria-label"] == "" && e.attributes["aria-labelledby"] == "" {
			t.Error("a drawing has no name")
		}
	}
	for name, text := range map[string]string{"style-src": style, "script-src": script} {
		sum := sha256.Sum256([]byte(text))
		// The + of base64 is escaped in the attribute.
		want := name + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		got := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
		if !strings.Contains(got, want) {
			t.Errorf("the policy %q has no %q", got, want)
		}
	}
	if !strings.Contains(policy, "default-src") {
		t.Errorf("policy %q", policy)
	}
	return elements
}

// writeReport writes a report twice, and checks it.
func writeReport(t *testing.T, sources []Source, opt Options) ([]byte, []element) {
	t.Helper()
	var first, second bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := Write(w, sources, opt); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("written twice, the report differs")
	}
	return first.Bytes(), checkReport(t, first.Bytes())
}

// The script of a page may be several files, the main one first; none is
// forgotten, and none is in use for a page that is not there.
func TestScriptFiles(t *testing.T) {
	all, err := assets.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		name, ok := strings.CutSuffix(file.Name(), ".js")
		if !ok || slices.Contains(coreScripts, name) {
			continue
		}
		id, _, part := strings.Cut(name, "_")
		names := pageAssets(id, ".js")
		if at := slices.Index(names, file.Name()); !slices.Contains(PageIDs(), id) || at < 0 || !part && at != 0 {
			t.Errorf("%s is not in the script of page %s", file.Name(), id)
		}
		own := string(asset(file.Name()))
		if n := strings.Count(own, "profuse.page("); n > 1 || n == 1 == part {
			t.Errorf("%s makes %d pages", file.Name(), n)
		}
		if n := strings.Count(own, "\n"); n > 400 {
			t.Errorf("%s has %d lines", file.Name(), n)
		}
	}
}
