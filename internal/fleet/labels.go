package fleet

import (
	"fmt"
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

// newLabeler parses the pattern of a plan, which matches the beginning of the path below a source. {NAME} is
// a label and * any text, both without slashes.
func newLabeler(p *Plan) (*labeler, error) {
	l := &labeler{plan: p}
	if p.Labels == "" {
		return l, nil
	}
	var b strings.Builder
	b.WriteByte('^')
	seen := make(map[string]bool)
	end := 0
	for _, m := range labelInPattern().FindAllStringIndex(p.Labels, -1) {
		b.WriteString(regexp.QuoteMeta(p.Labels[end:m[0]]))
		name := strings.Trim(p.Labels[m[0]:m[1]], "{}")
		end = m[1]
		if name == "*" {
			b.WriteString("[^/]*")
			continue
		}
		if seen[name] {
			return nil, fmt.Errorf("pattern %q names label %s twice", p.Labels, name)
		}
		seen[name] = true
		// The shortest match, so that the text after the label decides where it ends.
		fmt.Fprintf(&b, "(?P<%s>[^/]+?)", name)
	}
	rest := p.Labels[end:]
	if strings.ContainsAny(rest, "{}") || len(seen) == 0 {
		return nil, fmt.Errorf("pattern %q: want labels such as {region}, of letters, digits and underscores", p.Labels)
	}
	b.WriteString(regexp.QuoteMeta(rest))
	// The pattern ends at the end of an element of the path.
	if !strings.HasSuffix(p.Labels, "/") {
		b.WriteString("($|/)")
	}
	var err error
	l.pattern, err = regexp.Compile(b.String())
	return l, err
}

func (l *labeler) labels(o *Object) map[string]string {
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
	return labels
}
