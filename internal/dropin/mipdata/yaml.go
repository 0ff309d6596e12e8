package mipdata

import (
	"bufio"

	"github.com/profuse-pgo/profuse/formats/mip"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
)

// mip2yaml runs the mip2yaml command. With --debug the YAML says where each function begins.
func (t *tool) mip2yaml() error {
	return t.showProfile(func(w *bufio.Writer, p *mip.Profile, source *debugInfo) error {
		var opt mip.WriteOptions
		if source != nil {
			opt.SourceInfo = t.sourceInfo(source, p)
		}
		if err := mip.WriteYAML(w, p, opt); err != nil {
			return t.refuse(flaw.InFile(err, t.opt.profile))
		}
		return nil
	})
}

// sourceInfo returns the source positions of the functions, parallel to p.Functions. Elements
// without debug information are empty.
func (t *tool) sourceInfo(source *debugInfo, p *mip.Profile) []profile.Symbol {
	functions := make([]*mip.Function, len(p.Functions))
	for i := range p.Functions {
		functions[i] = &p.Functions[i]
	}
	infos := make([]profile.Symbol, len(functions))
	for i, found := range t.frames(source, functions) {
		if len(found) > 0 {
			infos[i] = profile.Symbol{File: fileOf(found[0]), Name: functionOf(found[0]), StartLine: int32(found[0].Line)}
		}
	}
	return infos
}

// yaml2mip runs the yaml2mip command. Unlike create it also reads standard input.
func (t *tool) yaml2mip() error {
	name := t.opt.yaml
	in := inputs.File(name, t.Inputs())
	if name == inputs.Stdin {
		ins, err := inputs.Expand([]string{name}, t.Inputs())
		if err != nil {
			return t.refuse(err)
		}
		in = ins[0]
	}
	read := false
	p, err := t.load(in, func(data []byte) (*mip.Profile, error) {
		read = true
		if kind, ok := mip.Detect(data); !ok || kind != mip.FormatYAML {
			return nil, flaw.File(name).Field("file").Got(kind).Want("YAML with a Header and Profiles").Unrecognized()
		}
		return mip.Read(name, data, t.warn)
	})
	if err != nil {
		if read {
			t.msg.Error("Unable to read " + name + " as a profile")
		}
		return err
	}
	return t.replaceProfile(p, name)
}
