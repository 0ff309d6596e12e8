package mip

import (
	"math"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// checkNarrow refuses functions whose distance to the raw section exceeds 32 bits.
func (p *Profile) checkNarrow(field, want string) error {
	for i := range p.Functions {
		if a := p.Functions[i].Address; a < math.MinInt32 || a > math.MaxInt32 {
			return flaw.In("functions").InRecord(i).Field(field).Gotf("%#x", a).Want(want).Unsupported()
		}
	}
	return nil
}
