package memprof

import (
	"strings"

	"github.com/profuse-pgo/profuse/internal/flaw"
)

// validate checks that the parts of the profile fit together. What readers and mergers return is valid.
func (p *Profile) validate() error {
	seen := make(map[uint64]struct{}, len(p.Records))
	for i := range p.Records {
		r := &p.Records[i]
		if _, twice := seen[r.GUID]; twice {
			return flaw.In("memprof").InRecord(i).Field("GUID").Gotf("%#x again", r.GUID).
				Want("one record per function").Corrupt()
		}
		seen[r.GUID] = struct{}{}
		for _, a := range r.AllocSites {
			if !p.Stacks.isWhole(a.Stack) {
				return badStack(i, "an alloc site", a.Stack)
			}
			if int(a.MIB) >= len(p.MIBs) {
				return flaw.In("memprof").InRecord(i).Field("index of a MIB").Got(a.MIB).
					Wantf("less than %d", len(p.MIBs)).Corrupt()
			}
		}
		for _, c := range r.CallSites {
			if !p.Stacks.isWhole(c.Stack) {
				return badStack(i, "a call site", c.Stack)
			}
		}
	}
	return p.DataAccess.validate()
}

func badStack(record int, site string, i StackIndex) error {
	return flaw.In("memprof").InRecord(record).Field("stack of " + site).Got(i).Want("one that AddStack returned").Corrupt()
}

func (s *Stacks) isWhole(i StackIndex) bool { return int(i) < len(s.marked) && s.marked[i] }

func (d *DataAccess) validate() error {
	if d == nil {
		return nil
	}
	seen := make(dataKeys)
	for i := range d.Records {
		r := &d.Records[i]
		if !seen.add(r) {
			return flaw.In("memprof").InRecord(i).Field("data-access record of").
				Got(r.key().String() + " again").Want("one record each").Corrupt()
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
	for _, s := range d.ColdSymbols {
		if err := checkString(-1, "cold symbol", s, false); err != nil {
			return err
		}
	}
	if s, twice := repeated(d.ColdSymbols); twice {
		return flaw.In("memprof").Field("cold symbol").Got(s + " again").Want("each once").Corrupt()
	}
	if h, twice := repeated(d.ColdHashes); twice {
		return flaw.In("memprof").Field("cold hash").Gotf("%#x again", h).Want("each once").Corrupt()
	}
	return nil
}

// checkString refuses strings that the string table of a file cannot hold.
func checkString(i int, field, s string, mayBeEmpty bool) error {
	if s == "" && !mayBeEmpty {
		return flaw.In("memprof").InRecord(i).Field(field).Got("empty").Want("at least one byte").Corrupt()
	}
	if strings.Contains(s, stringSeparator) {
		return flaw.In("memprof").InRecord(i).Field(field).Gotf("%q", s).Want("no byte 0x01").Corrupt()
	}
	return nil
}
