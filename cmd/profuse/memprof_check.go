package main

import (
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/memprof"
)

// checkMemProf checks a heap profile that is a file of its own: with the
// programs of a raw one also that they are its, and what they make of it. Records
// are the contexts of raw profiles and the functions of YAML.
func checkMemProf(d *inputs.Data, format formats.Format, programs *memprof.Binaries) checked {
	res := checked{File: d.Name(), Format: format.String(), Findings: []finding{}}
	note := func(errs ...error) {
		for _, err := range errs {
			res.Findings = append(res.Findings, newFinding(err))
		}
	}
	if format == formats.MemProfYAML {
		p, err := memprof.ReadYAML(d.Name(), d.Bytes())
		if err != nil {
			note(err)
			return res
		}
		res.Records = len(p.Records)
		note(p.Check()...)
		return res
	}
	raw, err := memprof.ReadRaw(d.Name(), d.Bytes(), memprof.RawOptions{})
	if err != nil {
		note(err)
		return res
	}
	res.Version, res.Records = uint32(raw.Version()), raw.NumContexts()
	note(raw.Check()...)
	if programs == nil {
		return res
	}
	p, _, err := raw.Symbolize(programs, memprof.SymbolizeOptions{Warn: func(err error) { note(err) }})
	if err != nil {
		note(err)
	} else if len(res.Findings) == 0 && raw.Version() > 1 {
		note(p.Check()...)
	}
	return res
}
