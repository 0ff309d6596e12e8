package ordercmd

import (
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/command/sources"
	"github.com/profuse-pgo/profuse/internal/command/ui/cli"
	"github.com/profuse-pgo/profuse/internal/memlimit"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/order"
)

// readOrder reads a list of symbols, one on each line; # begins a comment.
func readOrder(env *cli.Env, path string) (names []string, err error) {
	opt := sources.Options(env)
	opt.Recognize = memlimit.RecognizeText
	err = inputs.File(path, opt).Each(nil, func(d *inputs.Data) error {
		for line := range strings.Lines(string(d.Bytes())) {
			name, _, _ := strings.Cut(line, "#")
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		return nil
	})
	return names, err
}

// readTraces reads the orders of first calls in a profile, and the names of its functions: any other function may
// have run.
func readTraces(env *cli.Env, path string, programs *sources.Programs) (traces []order.Trace, functions []string, err error) {
	v, err := sources.OpenView(env, path, programs)
	if err != nil {
		return nil, nil, err
	}
	for f := range profile.ReusedFunctions(v) {
		functions = append(functions, linkerName(&f.Symbol))
	}
	for t := range v.Traces() {
		trace := order.Trace{Weight: float64(t.Weight)}
		for i := range t.Functions {
			if name := linkerName(&t.Functions[i]); name != "" {
				trace.Functions = append(trace.Functions, name)
			}
		}
		traces = append(traces, trace)
	}
	if len(traces) == 0 {
		return nil, nil, fmt.Errorf("%s: has no order of first calls: IRPGO profiles have one as temporal traces "+
			"(clang -fprofile-generate -mllvm -pgo-temporal-instrumentation), a .mip with call counts", path)
	}
	return traces, functions, nil
}
