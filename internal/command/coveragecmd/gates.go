package coveragecmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// gateOption begins the options that set limits.
const gateOption = "fail-under-"

// coverageGates are the least shares that must have run.
type coverageGates struct {
	// texts are the values of the options, by kind; "changed" stands for changed lines. check makes
	// limits of those that are given, in percent.
	texts  map[string]*string
	limits map[string]float64
}

// declare declares an option for each kind of parts and one for changed lines.
func (g *coverageGates) declare(f *cli.Flags) {
	g.texts = make(map[string]*string)
	add := func(kind, what string) {
		g.texts[kind] = new(string)
		f.StringVar(g.texts[kind], gateOption+kind, "", "`PERCENT` fail if less than PERCENT of the "+what)
	}
	for _, k := range coverageKinds {
		what := k.name + " ran"
		if k.name == "mcdc" {
			what = "conditions were shown to decide (MC/DC)"
		}
		add(k.name, what)
	}
	add("changed", "lines that --changed adds ran")
}

// check parses the limits; changed says whether --changed is given.
func (g *coverageGates) check(changed bool) error {
	g.limits = make(map[string]float64)
	for _, kind := range g.kinds() {
		text := *g.texts[kind]
		if text == "" {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(n >= 0 && n <= 100) {
			return cli.Usagef("option --%s%s takes a percentage from 0 to 100, not %q", gateOption, kind, text)
		}
		// A limit that can never be judged is a mistake in the command line.
		if kind == "changed" && !changed {
			return cli.Usagef("option --%s%s needs --changed", gateOption, kind)
		}
		g.limits[kind] = n
	}
	return nil
}

// kinds returns all kinds of limits, in the order of the table.
func (g *coverageGates) kinds() (kinds []string) {
	for _, k := range coverageKinds {
		kinds = append(kinds, k.name)
	}
	return append(kinds, "changed")
}

// A missedGate is a limit that was missed.
type missedGate struct {
	kind  string         // as in the name of the option
	found coverage.Ratio // what ran
	limit float64        // percent
}

// judge returns the limits that are missed. Where there is nothing to run a limit above 0
// is missed, except for changed lines: a patch may touch no code.
func (g *coverageGates) judge(r *coverageResult) (missed []missedGate) {
	judge := func(kind string, found coverage.Ratio) {
		// Crosswise again: 100 × covered ≥ limit × total has no quotient to round.
		limit, ok := g.limits[kind]
		enough := 100*float64(found.Covered) >= limit*float64(found.Total)
		if ok && (!enough || found.Total == 0 && limit > 0 && kind != "changed") {
			missed = append(missed, missedGate{kind, found, limit})
		}
	}
	for _, k := range coverageKinds {
		judge(k.name, *k.ratio(&r.Total))
	}
	if r.changed != nil {
		judge("changed", r.changed.ratio())
	}
	return missed
}

// sentence says what was found, what was wanted and which option wants it.
func (m *missedGate) sentence() string {
	what := m.kind
	switch what {
	case "mcdc":
		what = "conditions (MC/DC)"
	case "changed":
		what = "changed lines"
	}
	limit := strconv.FormatFloat(m.limit, 'f', -1, 64)
	if m.found.Total == 0 {
		return fmt.Sprintf("no %s are known, and --%s%s wants %s %% of them to run", what, gateOption, m.kind, limit)
	}
	return fmt.Sprintf("%s of the %s ran (%s of %s), less than the %s %% of --%s%s", percent(m.found), what,
		cli.Count(uint64(m.found.Covered)), cli.Count(uint64(m.found.Total)), limit, gateOption, m.kind)
}
