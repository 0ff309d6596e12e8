package report

import (
	"encoding/hex"
	"strings"
)

// A fact is a line of the overview.
type fact struct {
	Name, Value string
	Mono        bool
}

// overviewPage says what the profile is and how its counts are spread.
func overviewPage(src *source) (*page, error) {
	body, err := execute("overview", struct{ Facts []fact }{identityFacts(src)})
	if err != nil {
		return nil, err
	}
	return &page{id: "overview", title: "Overview", body: body}, nil
}

// identityFacts says what the profile is.
func identityFacts(src *source) []fact {
	id := &src.id
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{Name: name, Value: clean(value)})
		}
	}
	add("File", id.File)
	add("Family", id.Family)
	add("Format", id.Format)
	add("Version", id.Version)
	add("Producer", id.Producer)
	add("Variant", strings.Join(id.Variant, ", "))
	var builds []string
	for _, b := range id.BuildIDs {
		builds = append(builds, hex.EncodeToString(b))
	}
	if len(builds) > 0 {
		out = append(out, fact{Name: "Build ids", Value: strings.Join(builds, ", "), Mono: true})
	}
	add("Not shown", strings.Join(id.Omits, ", "))
	return out
}
