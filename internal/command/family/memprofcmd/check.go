package memprofcmd

import (
	"errors"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/command/family"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// Check checks a raw heap profile or one in YAML. With programs it also symbolizes a raw profile and
// checks the result. Records are the contexts of raw profiles and the functions of YAML.
func Check(name string, data []byte, format formats.Format, programs *memprof.Binaries) family.Checked {
	res := family.NewChecked(name, format)
	if format == formats.MemProfYAML {
		p, err := memprof.ReadYAML(name, data)
		if err != nil {
			res.Note(err)
			return res
		}
		res.Records = len(p.Records)
		checkSymbolized(&res, p)
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
	// The access densities of raw version 1 are estimates, so they cannot be checked.
	p, _, err := raw.Symbolize(programs, memprof.SymbolizeOptions{Warn: func(w profile.Warning) {
		if errors.Is(w.Err, flaw.ErrRemark) {
			res.Remarks = append(res.Remarks, res.Finding(w.Err))
		} else {
			res.Note(w.Err)
		}
	}})
	if err != nil {
		res.Note(err)
	} else if len(res.Findings) == 0 && raw.Version > 1 {
		checkSymbolized(&res, p)
	}
	return res
}

// checkSymbolized adds the findings and remarks about a symbolized profile.
func checkSymbolized(res *family.Checked, p *memprof.Profile) {
	findings, remarks := p.Check()
	res.Note(findings...)
	for _, err := range remarks {
		res.Remarks = append(res.Remarks, res.Finding(err))
	}
}
