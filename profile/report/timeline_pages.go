package report

import (
	"math"
	"strconv"

	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/order"
)

var pageSizes = []uint64{4 << 10, 16 << 10}

const curveSteps = 256

// A pageOrder describes how one order of the functions touches pages.
type pageOrder struct {
	name   string // "as linked"
	about  string // how it is made
	scores []order.Score
}

// maxBalancedCalls is the number of first calls in all runs up to which balanced partitioning makes an order. For
// more it would take longer than the rest of the report.
const maxBalancedCalls = 100_000

// pageOrders compares the program's order with others. It returns nil if the addresses of functions are unknown.
// The curves of the scores have one value for each of curveShares.
func pageOrders(v profile.View, t *timeline) []pageOrder {
	if !t.addresses {
		return nil
	}
	p := newProgram(v)
	if p.image.Functions == 0 {
		return nil
	}
	var traces []order.Trace
	for _, r := range t.runs {
		trace := order.Trace{Weight: float64(r.weight)}
		for _, f := range r.calls {
			if name := p.name(&t.functions[f].symbol); name != "" {
				trace.Functions = append(trace.Functions, name)
			}
		}
		traces = append(traces, trace)
	}
	orders := []pageOrder{{name: "as linked", about: "the order that the program has"}}
	names := [][]string{nil} // by order; the program's own order needs none
	add := func(name, about string, order []string) {
		if len(order) > 0 {
			orders, names = append(orders, pageOrder{name: name, about: about}), append(names, order)
		}
	}
	add("first calls", "functions in the order of their mean ranks, packed: the ideal of a single run", t.firstCallOrder(p))
	if t.callCount() <= maxBalancedCalls {
		add("balanced partitioning", "as profuse order make --by traces", order.Balanced(v, p.name))
	}
	add("call-chain clustering", "as profuse order make --by edges", order.Clustered(v, p.name))
	for i := range orders {
		image := p.image
		if i > 0 {
			image, _ = p.image.Arrange(names[i])
		}
		scores, err := image.Evaluate(traces, order.EvalOptions{PageSizes: pageSizes, Shares: curveShares()})
		if err != nil {
			return nil // no run calls what has an address
		}
		orders[i].scores = scores
	}
	return orders
}

// curveShares are the shares of first calls, in percent, at which curves have
// their points. Halves of halves, so that no share is rounded.
func curveShares() []float64 {
	shares := make([]float64, curveSteps)
	for i := range shares {
		shares[i] = float64(i+1) * 100 / curveSteps
	}
	return shares
}

// callsAt returns how many of n first calls are made at the curve's point i.
func callsAt(i, n int) int { return ((i+1)*n + curveSteps - 1) / curveSteps }

// A program is the code of a profile's functions, under unique names: linkers
// may give several functions the same name.
type program struct {
	image *order.Image
	names map[profile.Symbol]string
}

// newProgram returns the code of the program. Only differences of addresses matter, so the lowest becomes 0.
func newProgram(v profile.View) *program {
	p := &program{names: make(map[profile.Symbol]string)}
	var functions []order.Function
	least := int64(math.MaxInt64)
	for f := range profile.ReusedFunctions(v) {
		name, ok := p.names[f.Symbol]
		if !ok {
			name = strconv.Itoa(len(p.names))
			p.names[f.Symbol] = name
		}
		if f.Size > 0 {
			least = min(least, f.Address)
			functions = append(functions, order.Function{Name: name, Addr: uint64(f.Address), Size: f.Size})
		}
	}
	for i := range functions {
		functions[i].Addr -= uint64(least)
	}
	p.image = order.NewImage(functions, order.SymbolOptions{})
	return p
}

// name returns the function's name in the image, "" if the profile does not have the function.
func (p *program) name(s *profile.Symbol) string { return p.names[*s] }

func (t *timeline) firstCallOrder(p *program) (names []string) {
	for i := range t.functions {
		if name := p.name(&t.functions[i].symbol); name != "" {
			names = append(names, name)
		}
	}
	return names
}

func (t *timeline) callCount() (n int) {
	for _, r := range t.runs {
		n += len(r.calls)
	}
	return n
}
