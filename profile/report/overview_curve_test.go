package report

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// Shares of a total that are less than one need no counts: they are neither in the drawing nor have a least count.
func TestCurveOfLittle(t *testing.T) {
	v := &madeView{features: profile.Features{Calls: true}}
	for i, s := range symbolsOf("often", "seldom") {
		v.functions = append(v.functions, profile.Function{Symbol: s, Calls: uint64(3 - 2*i), Covered: true})
	}
	src := made(v)
	c := newCutoffChart(src)
	drawn := 0
	for i, p := range c.Points {
		of := src.summary.Counts.Cutoffs[i]
		if p.None != (of.Values == 0) || p.None != (float64(of.Share)*4 < 1e6) {
			t.Errorf("%s of 4, which takes %d values: none %v", p.Share, of.Values, p.None)
		}
		if !p.None {
			drawn++
		}
	}
	if drawn == 0 || drawn == len(c.Points) || len(c.Lines) != drawn-1 {
		t.Errorf("%d of %d points, %d lines", drawn, len(c.Points), len(c.Lines))
	}
	p, err := overviewPage(src)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(p.Body), "<circle"); n != drawn {
		t.Errorf("%d dots, want %d", n, drawn)
	}
	if n := strings.Count(string(p.Body), `<td class="num">–</td>`); n != len(c.Points)-drawn {
		t.Errorf("%d rows without a count, want %d", n, len(c.Points)-drawn)
	}
	v.functions = v.functions[1:] // called once
	if c := newCutoffChart(made(v)); c != nil {
		t.Errorf("a total of 1 has a curve: %+v", c)
	}
}

func TestSecondsText(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 s", 1e-5: "10 µs", 3e-4: "300 µs", 0.0012345: "1.23 ms", 0.0009996: "1 ms", 0.5: "500 ms", 0.9999: "1 s",
		12.34: "12.3 s", 999.9: "1,000 s", 123456: "123,456 s",
	} {
		if got := secondsText(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
