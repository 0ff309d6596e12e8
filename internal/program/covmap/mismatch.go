package covmap

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/coverage"
)

// explain finds the probable causes of the mismatches. A function that one object only declares is
// no mismatch if another object has its code. explain also finds the functions of the profile that
// no object maps.
func (c *Coverage) explain(maps []*Mapping, p *irpgo.Profile) {
	mapped := make(map[string]bool, len(p.Functions)) // names
	objects := make(map[string]*Mapping, len(maps))
	for _, m := range maps {
		objects[m.Name] = m
		for i := range m.Records {
			mapped[m.Records[i].Name] = true
		}
	}
	for i := range p.Functions {
		if f := &p.Functions[i]; !mapped[f.Name] {
			calls := uint64(0)
			if anyRan(f) {
				calls = 1
			}
			c.unmapped = append(c.unmapped, coverage.Function{Symbol: profile.Symbol{Name: f.Name}, Calls: calls})
		}
	}
	if len(c.Mismatched) == 0 {
		return
	}
	fitting := make(map[string][]string) // by name of a function that fits: its objects
	fits := make(map[string]bool)        // objects with at least one function that fits the profile
	known := make(map[string]bool, len(p.Functions))
	for i := range p.Functions {
		known[p.Functions[i].Name] = true
	}
	for _, f := range c.Functions {
		if f.Hash != 0 && known[f.PGOName] {
			fitting[f.PGOName] = append(fitting[f.PGOName], f.Object)
			fits[f.Object] = true
		}
	}
	kept := c.Mismatched[:0]
	for _, m := range c.Mismatched {
		in := fitting[m.Name]
		if m.Hash == 0 && len(in) > 0 {
			continue
		}
		o := objects[m.Object]
		ran := slices.ContainsFunc(p.BinaryIDs, func(id []byte) bool { return bytes.Equal(id, o.BuildID) })
		switch {
		case m.Cause != "": // damaged
		case slices.Contains(m.Have, m.Hash):
			m.Cause = "the profile has fewer counters of it than the object: another compiler, or a damaged profile"
		case m.Hash == 0:
			m.Cause = "the object has no code of it, and no other program is given that has: name the program that ran"
		case slices.Contains(in, m.Object):
			m.Cause = "an inline function compiled twice with different flags or macros; the linker kept the other copy, which is counted"
		case len(o.BuildID) > 0 && len(p.BinaryIDs) > 0 && !ran:
			m.Cause = fmt.Sprintf("stale object: no profile is of a program with its build id, %s", hex.EncodeToString(o.BuildID))
		case len(in) > 0:
			m.Cause = fmt.Sprintf("compiled with other flags or macros, or from another version of the source, than in %s, which is counted", in[0])
		case !fits[m.Object]:
			m.Cause = "no function of the object fits: another compiler, other flags, or a stale object"
		case ran:
			m.Cause = "an inline function compiled twice with different flags or macros; another library or program has the copy that ran"
		default:
			m.Cause = "stale object: the source or the flags of the function have changed since the profile"
		}
		kept = append(kept, m)
	}
	c.Mismatched = kept
}
