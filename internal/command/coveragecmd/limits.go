package coveragecmd

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

const (
	// limitOption begins the options that set limits. The name of a kind follows.
	limitOption = "fail-under-"
	// changedKind is the kind of the lines that --changed adds.
	changedKind = "changed"
)

// limits are the least shares that must have run.
type limits []limit

type limit struct {
	kind    string // as in partKinds, or changedKind
	text    string // value of the option; "" for no limit
	percent float64
}

func (l *limits) declare(f *cli.Flags) {
	for _, k := range partKinds {
		*l = append(*l, limit{kind: k.name})
	}
	*l = append(*l, limit{kind: changedKind})
	for i := range *l {
		kind := (*l)[i].kind
		what := kind + " ran"
		switch kind {
		case mcdc:
			what = "conditions were shown to decide (MC/DC)"
		case changedKind:
			what = "lines that --changed adds ran"
		}
		f.StringVar(&(*l)[i].text, limitOption+kind, "", "`PERCENT` fail if less than PERCENT of the "+what)
	}
}

// check parses the limits. changed: --changed is given.
func (l limits) check(changed bool) error {
	for i, m := range l {
		if m.text == "" {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(m.text, "%"), 64)
		if err != nil || !(n >= 0 && n <= 100) {
			return cli.Usagef("option --%s%s takes a percentage from 0 to 100, not %q", limitOption, m.kind, m.text)
		}
		if m.kind == changedKind && !changed {
			return cli.Usagef("option --%s%s needs --changed", limitOption, m.kind)
		}
		l[i].percent = n
	}
	return nil
}

type missedLimit struct {
	limit
	ran coverage.Ratio
}

// missed returns the limits that a result misses. If there is nothing to run, a limit above 0 is missed,
// but not the limit for changed lines: a patch need not touch code.
func (l limits) missed(r *result) (missed []missedLimit) {
	for i, m := range l {
		var ran coverage.Ratio
		switch {
		case m.text == "":
			continue
		case m.kind == changedKind:
			ran = r.changed.ratio()
		default:
			ran = *partKinds[i].ratio(&r.Total)
		}
		// Crosswise, without a quotient to round.
		enough := 100*float64(ran.Covered) >= m.percent*float64(ran.Total)
		if !enough || ran.Total == 0 && m.percent > 0 && m.kind != changedKind {
			missed = append(missed, missedLimit{m, ran})
		}
	}
	return missed
}

func (m *missedLimit) sentence() string {
	what := m.kind
	switch what {
	case mcdc:
		what = "conditions (MC/DC)"
	case changedKind:
		what = "changed lines"
	}
	percentage := strconv.FormatFloat(m.percent, 'f', -1, 64)
	if m.ran.Total == 0 {
		return fmt.Sprintf("no %s are known, and --%s%s wants %s %% of them to run", what, limitOption, m.kind, percentage)
	}
	return fmt.Sprintf("%s of the %s ran (%s of %s), less than the %s %% of --%s%s", percent(m.ran), what,
		cli.Count(m.ran.Covered), cli.Count(m.ran.Total), percentage, limitOption, m.kind)
}
