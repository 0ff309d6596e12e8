package merge

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Budget limits what a merge may lose. The zero value allows no loss.
type Budget struct {
	Inputs, Functions Limit
	// NoInput allows a merge in which no profile can be used.
	NoInput bool
}

// Judge returns an *[OverBudget] if more is lost than the budget allows.
func (b *Budget) Judge(l Loss) error {
	over := &OverBudget{
		Loss:      l,
		Inputs:    !b.Inputs.allows(l.Lost, l.Inputs),
		Functions: !b.Functions.allows(l.LostFunctions, l.Functions),
		Budget:    *b,
	}
	if l.Lost > 0 && l.Used == 0 && !b.NoInput {
		over.Nothing, over.Inputs, over.Functions = true, true, false
	}
	if !over.Inputs && !over.Functions {
		return nil
	}
	return over
}

// OverBudget is the error of a merge that lost more than its [Budget] allows.
type OverBudget struct {
	Loss      Loss
	Budget    Budget
	Nothing   bool // no profile could be used
	Inputs    bool // more profiles are lost than Budget.Inputs allows
	Functions bool
}

// Error says what is lost and what is allowed.
func (e *OverBudget) Error() string {
	var parts []string
	switch {
	case e.Nothing:
		return "no input can be merged"
	case e.Inputs:
		parts = append(parts, fmt.Sprintf("%d of %d inputs cannot be merged, and %s is allowed", e.Loss.Lost, e.Loss.Inputs, e.Budget.Inputs))
	}
	if e.Functions {
		parts = append(parts, fmt.Sprintf("%d of %d functions would be missing, and %s is allowed", e.Loss.LostFunctions, e.Loss.Functions, e.Budget.Functions))
	}
	return strings.Join(parts, "; ")
}

// A Limit is a number, or a share in percent. *Limit implements [flag.Value].
type Limit struct {
	number   uint64
	percent  float64
	relative bool
	text     string
}

// String returns the limit as it was parsed.
func (l Limit) String() string {
	if l.text == "" {
		return strconv.FormatUint(l.number, 10)
	}
	return l.text
}

// Set parses a number such as "7" or a percentage such as "0.5%".
func (l *Limit) Set(s string) error {
	if share, ok := strings.CutSuffix(s, "%"); ok {
		p, err := strconv.ParseFloat(share, 64)
		if err == nil && p >= 0 && p <= 100 {
			*l = Limit{percent: p, relative: true, text: s}
			return nil
		}
	} else if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		*l = Limit{number: n, text: s}
		return nil
	}
	return errors.New("want a number, or a percentage from 0% to 100%")
}

// allows reports whether a merge may lose lost out of all.
func (l Limit) allows(lost, all uint64) bool {
	if l.relative {
		return float64(lost)*100 <= l.percent*float64(all)
	}
	return lost <= l.number
}
