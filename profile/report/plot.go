package report

import "html/template"

// A plot is a chart with two axes. The size of its texts does not depend on the width of the page; see plotSize.
type plot struct {
	Key    string // its name in the page's script
	Title  string
	Label  string // description for screen readers; the title if empty
	XTitle string
	YTitle string
	X, Y   []tick // from the left, from below
	Tall   bool
	Series []series
	Lines  []plotLine
}

// A series is the marks of one kind in a plot, with their name in the legend.
type series struct {
	Name    string
	Shape   string // "dots", "blobs" (translucent dots), "line" or "area"
	Color   string // suffix of the classes "stroke-" and "fill-": "c0", "hot"
	Path    string
	Width   float64 // of the pen, in pixels; 0 for the width in the style sheet
	Unnamed bool    // not in the legend
}

type plotLine struct {
	At      float64 // percent of the axis
	Text    string
	Upright bool // lines stand on the x axis
}

// FromTop returns the position from above, as SVG counts.
func (t tick) FromTop() float64 { return tenths(100 - t.At) }

// FromTop returns the position from above, as SVG counts.
func (l plotLine) FromTop() float64 { return tenths(100 - l.At) }

func (p *plot) Legend() bool {
	named := 0
	for _, s := range p.Series {
		if !s.Unnamed {
			named++
		}
	}
	return named > 1
}

func (p *plot) html() (template.HTML, error) {
	if p.Label == "" {
		p.Label = p.Title
	}
	return execute("plot", p)
}

// plotData are the points of a plot for a script: their coordinates, y growing downward, and for each
// point the number of its function, context or other thing of the page.
type plotData struct {
	Key   string    `json:"key"`
	X     []float64 `json:"x"`
	Y     []float64 `json:"y"`
	Thing []int32   `json:"thing"`
	Part  []int32   `json:"part"`            // the series, or what the page says
	Value []float64 `json:"value,omitempty"` // the value of a point if the thing does not have it
}

// newPlotData returns a plotData without points. Its columns are empty, not null, in JSON.
func newPlotData(key string) *plotData {
	return &plotData{Key: key, X: []float64{}, Y: []float64{}, Thing: []int32{}, Part: []int32{}}
}

// addPoint adds a point; part is a series or what the page says.
func (d *plotData) addPoint(p point, thing, part int32) {
	d.X, d.Y = append(d.X, tenths(p.x)), append(d.Y, tenths(p.y))
	d.Thing, d.Part = append(d.Thing, thing), append(d.Part, part)
}
