package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"

	"github.com/profuse-pgo/profuse/profile/order"
)

const (
	maxPlotPoints  = 4000    // limits the dots of one plot
	maxRuns        = 10      // the number of runs that have different colours
	maxStarters    = 100_000 // limits the table of functions
	staticStarters = 100     // the number of functions that are listed without scripts
)

type timelineText struct {
	Plots, Curves       []template.HTML
	Runs                []runRow
	Drawn, MoreRuns     uint64
	Functions           []starterRow
	Called, Listed      uint64
	InAll, Unlisted     uint64
	RunCount            uint64
	More, Left          uint64
	Spread              uint64
	HasSpread, Mean     bool
	Addresses, Thinned  bool
	Orders              []orderRow
	Percents            []string
	NoBalanced, Several bool
}

type runRow struct {
	Name, Color    string
	Weight, Called uint64
	Agreement      string
}

type starterRow struct {
	Rank                 uint64
	Mean                 string
	Name                 string
	Min, Max, Runs, Size uint64
}

type orderRow struct {
	Name, About string
	Color       string
	Cells       []orderCell // by page size
}

// An orderCell is an order with one size of pages: pages touched, area under the curve,
// share of the touched bytes that run, and pages after each of orderUntil.
type orderCell struct {
	PageSize           string
	Pages, Area, Usage string
	Until              []string
	Change             string
}

// timelineData is the script's data. Columns are by function, the earliest first.
type timelineData struct {
	Runs    []string    `json:"runs"`
	All     int         `json:"all"` // runs, those that are not drawn included
	Mean    bool        `json:"mean"`
	Name    []int       `json:"name"`
	Rank    []float64   `json:"rank"`
	Min     []int       `json:"min"`
	Max     []int       `json:"max"`
	Called  []int       `json:"called"`            // by how many runs
	Address []uint64    `json:"address,omitempty"` // from the first function on
	Size    []uint64    `json:"size,omitempty"`
	Plots   []*plotData `json:"plots"`
	// Curves are by plot; Orders name their parts. The thing of a point is the
	// number of first calls, or of hundredths of a percent of them if Several.
	Curves  []*plotData `json:"curves"`
	Orders  []string    `json:"orders"`
	Several bool        `json:"several"`
}

// timelinePage shows the order of first calls; nil if the profile does not have it.
func timelinePage(src *source) (*page, error) {
	t := newTimeline(src.view)
	if t == nil {
		return nil, nil
	}
	text := &timelineText{
		RunCount: uint64(len(t.runs)), Addresses: t.addresses, Called: uint64(len(t.functions)), Listed: uint64(t.listed),
		InAll: uint64(t.inAll()), Unlisted: uint64(t.unlisted), Several: len(t.runs) > 1,
	}
	spread, ok := t.medianSpread()
	text.Spread, text.HasSpread = uint64(spread), ok
	data := t.data(src)
	drawn := t.drawnRuns()
	text.Drawn = uint64(len(drawn))
	for _, make := range t.plots() {
		p, points, thinned := make(drawn)
		text.Thinned = text.Thinned || thinned
		h, err := p.html()
		if err != nil {
			return nil, err
		}
		text.Plots, data.Plots = append(text.Plots, h), append(data.Plots, points)
	}
	for _, i := range drawn {
		r := &t.runs[i]
		text.Mean = text.Mean || r.mean
		row := runRow{Name: t.runName(i), Color: runColor(len(text.Runs)), Weight: r.weight, Called: uint64(len(r.calls)), Agreement: "–"}
		if !math.IsNaN(r.agreement) {
			row.Agreement = strconv.FormatFloat(r.agreement, 'f', 3, 64)
		}
		text.Runs, data.Runs = append(text.Runs, row), append(data.Runs, row.Name)
	}
	text.MoreRuns = uint64(len(t.runs) - len(drawn))
	data.Mean = text.Mean
	if err := t.addCurves(src, text, data); err != nil {
		return nil, err
	}
	t.list(src, text)
	return newPage("timeline", "First calls", text, data)
}

func (t *timeline) drawnRuns() []int {
	all := make([]int, len(t.runs))
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(t.runs[b].weight, t.runs[a].weight) })
	all = all[:min(len(all), maxRuns)]
	// The page lists runs in the order of the profile.
	slices.Sort(all)
	return all
}

func (t *timeline) runName(i int) string {
	if t.runs[i].mean {
		return "mean of the runs"
	}
	return fmt.Sprintf("run %d", i+1)
}

func runColor(i int) string { return fmt.Sprintf("c%d", i%maxRuns) }

func (t *timeline) data(src *source) *timelineData {
	first := t.firstAddress()
	d := &timelineData{All: len(t.runs), Several: len(t.runs) > 1, Curves: []*plotData{}, Orders: []string{}}
	for i := range t.functions[:min(len(t.functions), maxStarters)] {
		f := &t.functions[i]
		d.Name = append(d.Name, src.names.add(src.symbolName(&f.symbol)))
		d.Rank = append(d.Rank, tenths(f.mean))
		d.Min, d.Max, d.Called = append(d.Min, f.min), append(d.Max, f.max), append(d.Called, f.runs)
		if t.addresses {
			// Only differences of addresses mean something, so the first one is 0.
			d.Address, d.Size = append(d.Address, uint64(f.address)-uint64(first)), append(d.Size, f.size)
		}
	}
	return d
}

func (t *timeline) list(src *source, text *timelineText) {
	for i := range t.functions[:min(len(t.functions), staticStarters)] {
		f := &t.functions[i]
		text.Functions = append(text.Functions, starterRow{
			Rank: uint64(i + 1), Mean: tenthsText(f.mean), Name: src.symbolName(&f.symbol),
			Min: uint64(f.min), Max: uint64(f.max), Runs: uint64(f.runs), Size: f.size,
		})
	}
	text.More = uint64(len(t.functions) - len(text.Functions))
	text.Left = uint64(max(0, len(t.functions)-maxStarters))
}

// plots returns a function for each plot that the profile has data for. It draws the given runs.
func (t *timeline) plots() []func(drawn []int) (p *plot, points *plotData, thinned bool) {
	var list []func([]int) (*plot, *plotData, bool)
	if t.addresses {
		list = append(list, t.plotAddresses)
	}
	if len(t.runs) > 1 {
		list = append(list, t.plotRanks)
	}
	if !t.addresses {
		list = append(list, t.plotIndexes)
	}
	return list
}

// plotAddresses draws the addresses of functions over their ranks.
func (t *timeline) plotAddresses(drawn []int) (*plot, *plotData, bool) {
	low, high := t.firstAddress(), int64(math.MinInt64)
	for i := range t.functions {
		if f := &t.functions[i]; f.index >= 0 {
			high = max(high, f.address)
		}
	}
	// Differences of addresses in a malicious profile may overflow.
	y := linearAxis(0, float64(high)-float64(low))
	y.binary = true
	p := &plot{Key: "address", Title: "Where the functions are that are called first", XTitle: "first calls, in their order", YTitle: "address, from the first of them on"}
	p.Y = y.ticks(5, func(v float64) string { return bytesText(uint64(v)) })
	points, thinned := t.scatter(p, drawn, func(f *starter) (float64, bool) {
		return y.at(float64(f.address) - float64(low)), f.index >= 0
	})
	return p, points, thinned
}

func (t *timeline) firstAddress() int64 {
	low := int64(math.MaxInt64)
	for i := range t.functions {
		if f := &t.functions[i]; f.index >= 0 {
			low = min(low, f.address)
		}
	}
	return low
}

// plotIndexes draws the indexes of functions in the profile, for a profile without addresses.
func (t *timeline) plotIndexes(drawn []int) (*plot, *plotData, bool) {
	y := linearAxis(0, float64(t.listed))
	p := &plot{Key: "place", Title: "Where the profile lists them, which is not their order in the program", XTitle: "first calls, in their order", YTitle: "place in the profile"}
	p.Y = y.ticks(5, wholeText)
	points, thinned := t.scatter(p, drawn, func(f *starter) (float64, bool) { return y.at(float64(f.index)), f.index >= 0 })
	return p, points, thinned
}

// plotRanks draws the ranks in each run over the mean ranks. The area of the least and
// greatest ranks has at most about 256 stretches.
func (t *timeline) plotRanks(drawn []int) (*plot, *plotData, bool) {
	y := linearAxis(1, float64(len(t.functions)))
	x := linearAxis(1, float64(t.longest()))
	p := &plot{
		Key: "rank", Title: "How far the runs agree", XTitle: "first calls of the run, in their order", YTitle: "functions by mean rank",
		Label: "Rank in each run against the mean rank: a diagonal if all runs call the functions in one order; the area is from the least to the greatest rank",
	}
	p.Y = y.ticks(5, wholeText)
	var early, late []point
	stretch := max(1, len(t.functions)/256)
	for from := 0; from < len(t.functions); from += stretch {
		to := min(from+stretch, len(t.functions))
		least, most := math.MaxInt, 0
		for i := from; i < to; i++ {
			least, most = min(least, t.functions[i].min), max(most, t.functions[i].max)
		}
		// Both ends of a stretch have its extremes: the area is a staircase.
		for _, i := range []int{from, to - 1} {
			at := plotSize - y.at(float64(i+1))
			early, late = append(early, point{x.at(float64(least)), at}), append(late, point{x.at(float64(most)), at})
		}
	}
	p.Series = append(p.Series, series{Name: "least to greatest rank of all runs", Shape: "area", Color: "never", Path: bandPath(early, late)})
	mean := make(map[*starter]float64, len(t.functions))
	for i := range t.functions {
		mean[&t.functions[i]] = y.at(float64(i + 1))
	}
	points, thinned := t.scatter(p, drawn, func(f *starter) (float64, bool) { return mean[f], true })
	return p, points, thinned
}

// scatter adds the first calls of the runs to a plot. at returns the height of a function, if it has one.
func (t *timeline) scatter(p *plot, drawn []int, at func(*starter) (float64, bool)) (*plotData, bool) {
	x := linearAxis(1, float64(t.longest()))
	p.X = x.ticks(6, wholeText)
	points, thinned := newPlotData(p.Key), false
	for n, i := range drawn {
		type dot struct {
			point
			function int32
		}
		var all []dot
		for rank, f := range t.runs[i].calls {
			if y, ok := at(&t.functions[f]); ok {
				all = append(all, dot{point{x.at(float64(rank + 1)), plotSize - y}, f})
			}
		}
		// All runs share the dots of a plot, so that more runs do not make a larger page.
		kept := thin(len(all), maxPlotPoints/len(drawn), func(i int) float64 { return all[i].y })
		thinned = thinned || len(kept) < len(all)
		var shown []point
		for _, k := range kept {
			shown = append(shown, all[k].point)
			if all[k].function < maxStarters {
				points.addPoint(all[k].point, all[k].function, int32(n))
			}
		}
		p.Series = append(p.Series, series{Name: t.runName(i), Shape: "dots", Color: runColor(n), Path: dotPath(shown), Width: dotWidth(len(shown))})
	}
	return points, thinned
}

func dotWidth(n int) float64 {
	switch {
	case n <= 200:
		return 7
	case n <= 1000:
		return 5
	}
	return 3
}

func wholeText(v float64) string { return countText(uint64(math.Round(v))) }

// orderUntil are the shares of first calls, in percent, in the table of orders. Each is one of curveShares.
var orderUntil = []float64{25, 50, 75, 100}

func (t *timeline) addCurves(src *source, text *timelineText, data *timelineData) error {
	orders := pageOrders(src.view, t)
	if orders == nil {
		return nil
	}
	text.NoBalanced = t.callCount() > maxBalancedCalls
	for _, u := range orderUntil {
		text.Percents = append(text.Percents, strconv.FormatFloat(u, 'f', -1, 64)+" %")
	}
	for i, o := range orders {
		row := orderRow{Name: o.name, About: o.about, Color: runColor(i)}
		for k := range pageSizes {
			row.Cells = append(row.Cells, newOrderCell(&o.scores[k], &orders[0].scores[k]))
		}
		text.Orders, data.Orders = append(text.Orders, row), append(data.Orders, o.name)
	}
	for k := range pageSizes {
		p, points := drawCurves(orders, k, len(t.runs) > 1)
		h, err := p.html()
		if err != nil {
			return err
		}
		text.Curves, data.Curves = append(text.Curves, h), append(data.Curves, points)
	}
	return nil
}

// newOrderCell compares a score with base, the score of the program as it is linked.
func newOrderCell(s, base *order.Score) orderCell {
	c := orderCell{PageSize: pageText(s.PageSize), Pages: tenthsText(s.Pages), Area: tenthsText(s.Area), Usage: percentText(s.Executed / s.Touched)}
	for _, u := range orderUntil {
		c.Until = append(c.Until, tenthsText(s.Until[int(u*curveSteps/100)-1]))
	}
	if base.Area > 0 && s != base {
		c.Change = "0 %"
		if s.Area != base.Area {
			c.Change = fmt.Sprintf("%+.1f %%", 100*(s.Area/base.Area-1))
		}
	}
	return c
}

func pageText(size uint64) string { return fmt.Sprintf("%d KiB", size>>10) }

// drawCurves draws the page faults of orders for one page size: over the first
// calls of the run, or over their share if there are several runs.
func drawCurves(orders []pageOrder, size int, several bool) (*plot, *plotData) {
	called := int(math.Round(orders[0].scores[size].Called))
	x := linearAxis(0, float64(called))
	most := 0.0
	for _, o := range orders {
		most = max(most, o.scores[size].Pages)
	}
	y := linearAxis(0, most)
	title := pageText(pageSizes[size]) + " pages"
	p := &plot{
		Key: "curve" + strconv.Itoa(size), Title: title, Label: "Page faults over first calls, " + title,
		XTitle: "functions called so far", YTitle: "pages touched", X: x.ticks(6, wholeText), Y: y.ticks(5, wholeText),
	}
	if several {
		x = linearAxis(0, 100)
		p.XTitle, p.X = "first calls made, in percent", x.ticks(5, wholeText)
	}
	points := newPlotData(p.Key)
	// Where curves coincide, the lower ones show at the sides.
	for n, o := range orders {
		line := []point{{0, plotSize}}
		for i, pages := range o.scores[size].Until {
			made, thing := float64(i+1)*100/curveSteps, int32((i+1)*10000/curveSteps)
			if !several {
				thing = int32(callsAt(i, called))
				made = float64(thing)
			}
			at := point{x.at(made), plotSize - y.at(pages)}
			if last := line[len(line)-1]; last.x == at.x {
				continue
			}
			line = append(line, at)
			points.addPoint(at, thing, int32(n))
			points.Value = append(points.Value, tenths(pages))
		}
		p.Series = append(p.Series, series{Name: o.name, Shape: "line", Color: runColor(n), Path: stepPath(line), Width: max(5-float64(n), 1.5)})
	}
	return p, points
}
