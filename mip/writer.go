package mip

import (
	"fmt"
	"math"

	"github.com/profuse-pgo/profuse/profile"
)

// checkNarrow refuses functions that lie too far from the raw section for
// addresses of 32 bits.
func (p *Profile) checkNarrow(field, want string) error {
	for i := range p.Functions {
		if a := p.Functions[i].Address; a < math.MinInt32 || a > math.MaxInt32 {
			return errorIn("functions", i, profile.ErrUnsupported, field, fmt.Sprintf("%#x", a), want)
		}
	}
	return nil
}
