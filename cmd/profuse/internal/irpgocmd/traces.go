package irpgocmd

import (
	"fmt"

	"github.com/profuse-pgo/profuse/cmd/profuse/internal/sources"
	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/layout"
)

// traces returns the temporal traces of a profile.
func traces(name string, data []byte) ([]layout.Trace, error) {
	if f, _ := formats.Detect(data); f.Family() != formats.IRPGO {
		return nil, sources.WrongFormat(name, data, sources.WantTraces)
	}
	r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{})
	if err != nil {
		return nil, err
	}
	for _, err := range r.Records() {
		if err != nil {
			return nil, err
		}
	}
	found, _ := r.Traces()
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: has no temporal traces: they are from clang -fprofile-generate -mllvm -pgo-temporal-instrumentation", name)
	}
	symbols := r.Symbols()
	var traces []layout.Trace
	for _, t := range found {
		trace := layout.Trace{Weight: float64(t.Weight)}
		for _, ref := range t.NameRefs {
			// Names of functions local to a file begin with the file's.
			if _, symbol := irpgo.SplitName(symbols.Name(ref)); symbol != "" {
				trace.Functions = append(trace.Functions, symbol)
			}
		}
		traces = append(traces, trace)
	}
	return traces, nil
}
