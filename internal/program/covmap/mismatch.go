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

// explain finds the probable causes of the mismatches. A function that one object only declares is no mismatch if
// another object has its code. explain also finds the functions of the profile that no object maps.
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
	k := knownFits{profile: p, objects: objects, fitting: make(map[string][]string), fits: make(map[string]bool)}
	known := make(map[string]bool, len(p.Functions))
	for i := range p.Functions {
		known[p.Functions[i].Name] = true
	}
	for _, f := range c.Functions {
		if f.Hash != 0 && known[f.PGOName] {
			k.fitting[f.PGOName] = append(k.fitting[f.PGOName], f.Object)
			k.fits[f.Object] = true
		}
	}
	kept := c.Mismatched[:0]
	for _, m := range c.Mismatched {
		if m.Hash != 0 || len(k.fitting[m.Name]) == 0 {
			if m.Cause == "" { // not damaged
				m.Cause = k.cause(&m)
			}
			kept = append(kept, m)
		}
	}
	c.Mismatched = kept
}

// knownFits are the functions that fit the profile.
type knownFits struct {
	profile *irpgo.Profile
	objects map[string]*Mapping
	fitting map[string][]string // by name of a function that fits: its objects
	fits    map[string]bool     // objects with at least one such function
}

func (k *knownFits) cause(m *Mismatch) string {
	in, o := k.fitting[m.Name], k.objects[m.Object]
	ran := slices.ContainsFunc(k.profile.BinaryIDs, func(id []byte) bool { return bytes.Equal(id, o.BuildID) })
	switch {
	case slices.Contains(m.Have, m.Hash):
		return "the profile has fewer counters of it than the object: another compiler, or a damaged profile"
	case m.Hash == 0:
		return "the object has no code of it, and no other program is given that has: name the program that ran"
	case slices.Contains(in, m.Object):
		return "an inline function compiled twice with different flags or macros; the linker kept the other copy, which is counted"
	case len(o.BuildID) > 0 && len(k.profile.BinaryIDs) > 0 && !ran:
		return fmt.Sprintf("stale object: no profile is of a program with its build id, %s", hex.EncodeToString(o.BuildID))
	case len(in) > 0:
		return fmt.Sprintf("compiled with other flags or macros, or from another version of the source, than in %s, which is counted", in[0])
	case !k.fits[m.Object]:
		return "no function of the object fits: another compiler, other flags, or a stale object"
	case ran:
		return "an inline function compiled twice with different flags or macros; another library or program has the copy that ran"
	}
	return "stale object: the source or the flags of the function have changed since the profile"
}
