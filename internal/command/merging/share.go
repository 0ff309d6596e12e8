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

const maxShare = "max-share"

// shares holds the total count and the inputs with the greatest counts.
type shares struct {
	mu       sync.Mutex
	known    bool         // the counts of some input are known
	total    float64      // sum of the weighted counts
	heaviest contribution // greatest weighted count
	// The greatest and the second greatest unweighted count.
	first, second contribution
}

type contribution struct {
	input    int // position in the order of the inputs
	name     string
	count    uint64  // unweighted
	weighted float64 // count times weight
}

func (s *shares) addInput(a *merge.Account, input int, weight uint64) {
	if a.Err != nil || a.Contribution == nil {
		return
	}
	c := contribution{input, a.File, a.Contribution.Count, float64(a.Contribution.Count) * float64(max(weight, 1))}
	s.mu.Lock()
	defer s.mu.Unlock()
	before := func(a, b *contribution) bool { return a.input < b.input || a.input == b.input && a.name < b.name }
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

// flippedBit returns a warning if the greatest count of an input looks like a flipped bit: it is
// at least 2^40, and its highest bit is at least 2^16 times the rest of it and the count of any
// other input. It returns "" otherwise, and if there is nothing to compare with.
func (s *shares) flippedBit() string {
	const minBit, minRatio = 40, 16 // binary logarithms
	c := s.first.count
	k := bits.Len64(c) - 1
	if k < minBit {
		return ""
	}
	if rest := max(c-1<<k, s.second.count); rest == 0 || rest > 1<<(k-minRatio) {
		return ""
	}
	others := ""
	if s.second.name != "" {
		others = fmt.Sprintf(", and no other input has more than %s", cli.Count(s.second.count))
	}
	return fmt.Sprintf("%s contributes nearly all of the total count: %s, which is 2^%d more than its other counts make%s; "+
		"a bit may have flipped: \"profuse check\" says in which function", s.first.name, cli.Count(c), k, others)
}

// A Share is an option that takes a percentage. The zero value means that it is not given.
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

func (s *shares) checkLimit(limit Share, family formats.Family) error {
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
