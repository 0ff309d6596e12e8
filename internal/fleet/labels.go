package fleet

import (
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A labeler finds the labels of objects.
type labeler struct {
	plan    *Plan
	pattern *regexp.Regexp // nil without one
}

// labelInPattern matches a label or a star in a pattern.
var labelInPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{[a-z][a-z0-9_]*\}|\*`)
})

// newLabeler parses the pattern of a plan. {NAME} stands for a label and * for anything,
// both without slashes; a path may go on after the pattern. The pattern begins where the
// path below the source begins.
func newLabeler(p *Plan) (*labeler, error) {
	l := &labeler{plan: p}
	if p.Labels == "" {
		return l, nil
	}
	var b strings.Builder
	b.WriteByte('^')
	seen := make(map[string]bool)
	rest := p.Labels
	for rest != "" {
		at := labelInPattern().FindStringIndex(rest)
		if at == nil {
			break
		}
		b.WriteString(regexp.QuoteMeta(rest[:at[0]]))
		name := strings.Trim(rest[at[0]:at[1]], "{}")
		rest = rest[at[1]:]
		if name == "*" {
			b.WriteString("[^/]*")
			continue
		}
		if seen[name] {
			return nil, fmt.Errorf("pattern %q names label %s twice", p.Labels, name)
		}
		seen[name] = true
		// It takes as little as possible, so that the text after it decides where it ends.
		fmt.Fprintf(&b, "(?P<%s>[^/]+?)", name)
	}
	if strings.ContainsAny(rest, "{}") || len(seen) == 0 {
		return nil, fmt.Errorf("pattern %q: want labels such as {region}, of letters, digits and underscores", p.Labels)
	}
	b.WriteString(regexp.QuoteMeta(rest))
	// The last label ends where the element of the path ends.
	if !strings.HasSuffix(p.Labels, "/") {
		b.WriteString("($|/)")
	}
	var err error
	l.pattern, err = regexp.Compile(b.String())
	return l, err
}

// of returns the labels of an object; nil if it has none. A path that the pattern does not
// match has only the labels of source and day.
func (l *labeler) of(o *Object) map[string]string {
	labels := make(map[string]string)
	if l.pattern != nil {
		if m := l.pattern.FindStringSubmatch(o.Path); m != nil {
			for i, name := range l.pattern.SubexpNames() {
				if name != "" {
					labels[name] = m[i]
				}
			}
		}
	}
	if name := l.plan.Sources[o.Source].Name; name != "" {
		labels[sourceLabel] = name
	}
	if l.plan.ByDay {
		labels[dayLabel] = o.Modified.UTC().Format(time.DateOnly)
	}
	if len(labels) == 0 {
		return nil
	}
	return maps.Clone(labels)
}
