package memprofcmd

import (
	"github.com/profuse-pgo/profuse/cmd/profuse/internal/family"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/memprof"
)

// Check checks a heap profile that is a file of its own: with the
// programs of a raw one also that they are its, and what they make of it. Records
// are the contexts of raw profiles and the functions of YAML.
func Check(name string, data []byte, format formats.Format, programs *memprof.Binaries) family.Checked {
	res := family.NewChecked(name, format)
	if format == formats.MemProfYAML {
		p, err := memprof.ReadYAML(name, data)
		if err != nil {
			res.Note(err)
			return res
		}
		res.Records = len(p.Records)
		res.Note(p.Check()...)
		return res
	}
	raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{})
	if err != nil {
		res.Note(err)
		return res
	}
	res.Version, res.Records = uint32(raw.Version()), raw.NumContexts()
	res.Note(raw.Check()...)
	if programs == nil {
		return res
	}
	p, _, err := raw.Symbolize(programs, memprof.SymbolizeOptions{Warn: func(err error) { res.Note(err) }})
	if err != nil {
		res.Note(err)
	} else if len(res.Findings) == 0 && raw.Version() > 1 {
		res.Note(p.Check()...)
	}
	return res
}
