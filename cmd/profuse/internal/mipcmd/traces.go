package mipcmd

import (
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/layout"
	"github.com/profuse-pgo/profuse/mip"
)

// traces returns the order of first calls of a profile.
func traces(name string, data []byte) ([]layout.Trace, error) {
	if f, _ := formats.Detect(data); f != formats.MIPProfile && f != formats.MIPYAML {
		return nil, sources.WrongFormat(name, data, sources.WantTraces)
	}
	p, err := mip.Read(name, data, mip.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	if !p.Type.Has(mip.FunctionTimestamp) {
		return nil, fmt.Errorf("%s: has no order of first calls: it is of %v", name, p.Type)
	}
	var t layout.Trace
	for _, f := range p.Order() {
		t.Functions = append(t.Functions, f.Name)
	}
	if len(t.Functions) == 0 {
		return nil, fmt.Errorf("%s: no function has run", name)
	}
	return []layout.Trace{t}, nil
}
