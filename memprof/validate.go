package memprof

import (
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/profile"
)

// validate checks that the parts of the profile fit together and can be
// written. What readers and mergers return is valid.
func (p *Profile) validate() error {
	seen := make(map[uint64]struct{}, len(p.Records))
	for i := range p.Records {
		r := &p.Records[i]
		if _, twice := seen[r.GUID]; twice {
			return invalid(i, "GUID", fmt.Sprintf("%#x again", r.GUID), "one record per function")
		}
		seen[r.GUID] = struct{}{}
		for _, a := range r.AllocSites {
			if !p.Stacks.isWhole(a.Stack) {
				return invalid(i, "stack of an alloc site", fmt.Sprint(a.Stack), "one that AddStack returned")
			}
			if int(a.MIB) >= len(p.MIBs) {
				return invalid(i, "index of a MIB", fmt.Sprint(a.MIB), fmt.Sprintf("less than %d", len(p.MIBs)))
			}
		}
		for _, c := range r.CallSites {
			if !p.Stacks.isWhole(c.Stack) {
				return invalid(i, "stack of a call site", fmt.Sprint(c.Stack), "one that AddStack returned")
			}
		}
	}
	return p.DataAccess.validate()
}

func (s *Stacks) isWhole(i StackIndex) bool { return int(i) < len(s.marked) && s.marked[i] }

func (d *DataAccess) validate() error {
	if d == nil {
		return nil
	}
	seen := newDataKeys()
	for i := range d.Records {
		r := &d.Records[i]
		if !seen.add(r) {
			return invalid(i, "data-access record of", r.key().String()+" again", "one record each")
		}
		if err := checkString(i, "symbol", r.Symbol, true); err != nil {
			return err
		}
		for _, l := range r.Locations {
			if err := checkString(i, "file name", l.File, true); err != nil {
				return err
			}
		}
	}
	symbols := make(map[string]struct{}, len(d.ColdSymbols))
	for _, s := range d.ColdSymbols {
		if err := checkString(-1, "cold symbol", s, false); err != nil {
			return err
		}
		if _, twice := symbols[s]; twice {
			return invalid(-1, "cold symbol", s+" again", "each once")
		}
		symbols[s] = struct{}{}
	}
	hashes := make(map[uint64]struct{}, len(d.ColdHashes))
	for _, h := range d.ColdHashes {
		if _, twice := hashes[h]; twice {
			return invalid(-1, "cold hash", fmt.Sprintf("%#x again", h), "each once")
		}
		hashes[h] = struct{}{}
	}
	return nil
}

// checkString refuses strings that the string table of a file cannot hold.
func checkString(i int, field, s string, mayBeEmpty bool) error {
	if s == "" && !mayBeEmpty {
		return invalid(i, field, "empty", "at least one byte")
	}
	if strings.Contains(s, stringSeparator) {
		return invalid(i, field, fmt.Sprintf("%q", s), "no byte 0x01")
	}
	return nil
}

// invalid returns an error about a profile in memory.
func invalid(i int, field, found, want string) error {
	return &profile.FormatError{
		Section: "memprof", Offset: -1, Record: i, Field: field, Found: found, Want: want, Err: profile.ErrCorrupt,
	}
}
