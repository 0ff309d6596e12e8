package report

import "html/template"

// A plot is a chart with two axes. Its texts have their size whatever the width
// of the page; see plotSize.
type plot struct {
	Key    string // what the page's script calls it
	Title  string // what is seen, in a few words
	Label  string // for those who do not see it; the title if empty
	XTitle string
	YTitle string
	X, Y   []tick // from the left, from below
	Tall   bool
	Series []series
	Lines  []plotLine
}

// A series is one kind of marks in a plot, by which the legend calls it.
type series struct {
	Name  string
	Shape string // "dots", "blobs", which shine through, "line" or "area"
	Color string // suffix of the classes "stroke-" and "fill-": "c0", "hot"
	Path  string
	// Width of the pen, in pixels; 0 for that of the style.
	Width float64
	// Unnamed series are not in the legend.
	Unnamed bool
}

// A plotLine is a threshold.
type plotLine struct {
	At   float64 // percent of the axis
	Text string
	// Upright lines stand on the x axis.
	Upright bool
}

// FromTop is where SVG has what is At from below.
func (t tick) FromTop() float64 { return tenths(100 - t.At) }

// FromTop is where SVG has what is At from below.
func (l plotLine) FromTop() float64 { return tenths(100 - l.At) }

// Legend reports whether a legend is needed.
func (p *plot) Legend() bool {
	named := 0
	for _, s := range p.Series {
		if !s.Unnamed {
			named++
		}
	}
	return named > 1
}

// html draws the plot.
func (p *plot) html() (template.HTML, error) {
	if p.Label == "" {
		p.Label = p.Title
	}
	return execute("plot", p)
}

// plotData is what a script knows of a plot: where its points are, in its
// coordinates, y from the top down, and which of the page's things they are.
type plotData struct {
	Key   string    `json:"key"`
	X     []float64 `json:"x"`
	Y     []float64 `json:"y"`
	Thing []int32   `json:"thing"`
	Part  []int32   `json:"part"` // the series, or what the page says
	// Value is what a point stands for, where the thing does not say it.
	Value []float64 `json:"value,omitempty"`
}

// newPlotData has no points yet. Scripts are spared null.
func newPlotData(key string) *plotData {
	return &plotData{Key: key, X: []float64{}, Y: []float64{}, Thing: []int32{}, Part: []int32{}}
}

func (d *plotData) add(p point, thing, part int32) {
	d.X, d.Y = append(d.X, tenths(p.x)), append(d.Y, tenths(p.y))
	d.Thing, d.Part = append(d.Thing, thing), append(d.Part, part)
}
