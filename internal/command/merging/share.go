package merging

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/merge"
)

// maxShare is the name of the limit, as an option and in reports.
const maxShare = "max-share"

// shares knows what the inputs contributed to the total count, and which one most.
type shares struct {
	mu       sync.Mutex
	known    bool    // of some input
	total    float64 // of the counts, weighted
	heaviest contribution
	// The inputs with the greatest counts, unweighted.
	first, second contribution
}

// A contribution is that of one input.
type contribution struct {
	place    int // in the order of the inputs
	name     string
	count    uint64  // unweighted
	weighted float64 // count times weight
}

// add records the contribution of an input.
func (s *shares) add(a *merge.Account, place int, weight uint64) {
	if a.Err != nil || a.Contribution == nil {
		return
	}
	c := contribution{place, a.File, a.Contribution.Count, float64(a.Contribution.Count) * float64(max(weight, 1))}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := func(a, b *contribution) bool { return a.place < b.place || a.place == b.place && a.name < b.name }
	if !s.known || c.weighted > s.heaviest.weighted || c.weighted == s.heaviest.weighted && before(&c, &s.heaviest) {
		s.heaviest = c
	}
	switch {
	case !s.known || c.count > s.first.count || c.count == s.first.count && before(&c, &s.first):
		s.first, s.second = c, s.first
	case c.count > s.second.count:
		s.second = c
	}
	s.known = true
	s.total += c.weighted
}

const (
	// leastLonely is the least count that is doubted: a counter takes a quarter of an hour
	// for it.
	leastLonely = 1 << 40
	// lonelyShift is the logarithm of how many times as great it is as all that makes it
	// plausible.
	lonelyShift = 16
)

// doubt returns a warning about an input of which nearly all is one power of two: the highest
// bit of its count is 2^16 times and more what the input has without it, and what any other
// input has. Long runs beside short ones have such counts, too, but one in 2^16 of them this
// near above a power of two. It returns "" if there is none.
func (s *shares) doubt() string {
	c := s.first.count
	if c < leastLonely {
		return ""
	}
	k := bits.Len64(c) - 1
	if rest := max(c-1<<k, s.second.count); rest == 0 || 1<<(k-lonelyShift) < rest { // 0: nothing to go by
		return ""
	}
	others := ""
	if s.second.name != "" {
		others = fmt.Sprintf(", and no other input has more than %s", cli.Count(s.second.count))
	}
	return fmt.Sprintf("%s contributes nearly all of the total count: %s, which is 2^%d more than its other counts make%s; "+
		"a bit may have flipped: \"profuse check\" says in which function", s.first.name, cli.Count(c), k, others)
}

// A Share is an option with a percentage. The zero value is not given.
type Share struct {
	text    string
	percent float64
}

func (s *Share) String() string { return s.text }

// Set takes a percentage such as "50%".
func (s *Share) Set(text string) error {
	number, ok := strings.CutSuffix(text, "%")
	p, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(p >= 0 && p <= 100) {
		return errors.New("want a percentage from 0% to 100%")
	}
	*s = Share{text, p}
	return nil
}

// judge returns an error if the input that contributed most did more than the limit allows.
func (s *shares) judge(limit Share, family formats.Family) error {
	if limit.text == "" {
		return nil
	}
	if !s.known {
		return cli.Usagef("option --%s does not apply to %s profiles", maxShare, family)
	}
	if s.heaviest.weighted*100 <= limit.percent*s.total {
		return nil
	}
	const whole = 1 << 32 // of Percent
	part := uint64(whole * s.heaviest.weighted / s.total)
	if s.heaviest.weighted < s.total {
		part = min(part, whole-1)
	}
	return &cli.ExitError{Code: ExitOverBudget, Err: fmt.Errorf("%s contributes %s of the total count, and --%s allows %s %%; nothing is written",
		s.heaviest.name, cli.Percent(part, whole), maxShare, strings.TrimSuffix(limit.text, "%"))}
}
