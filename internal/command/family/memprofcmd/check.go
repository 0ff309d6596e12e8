package memprofcmd

import (
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/profile"
)

// Check checks a raw heap profile or one in YAML. With programs it also checks that they
// belong to a raw profile, and the profile that results from them. Records are the
// contexts of raw profiles and the functions of YAML.
func Check(name string, data []byte, format formats.Format, programs *memprof.Binaries) family.Checked {
	res := family.NewChecked(name, format)
	if format == formats.MemProfYAML {
		p, err := memprof.ReadYAML(name, data)
		if err != nil {
			res.Note(err)
			return res
		}
		res.Records = len(p.Records)
		check(&res, p)
		return res
	}
	raw, err := memprof.ReadRaw(name, data, memprof.RawOptions{})
	if err != nil {
		res.Note(err)
		return res
	}
	res.Version, res.Records = raw.Version, raw.NumContexts
	res.Note(raw.Check()...)
	if programs == nil {
		return res
	}
	// A profile that symbolizing found fault with is not checked further, and neither is one of raw
	// version 1, whose access densities are only estimates.
	p, _, err := raw.Symbolize(programs, memprof.SymbolizeOptions{Warn: func(w profile.Warning) { res.Note(w.Err) }})
	if err != nil {
		res.Note(err)
	} else if len(res.Findings) == 0 && raw.Version > 1 {
		check(&res, p)
	}
	return res
}

// check checks a symbolized profile.
func check(res *family.Checked, p *memprof.Profile) {
	findings, remarks := p.Check()
	res.Note(findings...)
	for _, err := range remarks {
		res.Remarks = append(res.Remarks, res.Finding(err))
	}
}
