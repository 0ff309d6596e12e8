package irpgocmd

import (
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestDivide: a sum of profiles with weights, divided, is that of the profiles.
func TestDivide(t *testing.T) {
	tested := 0
	for _, f := range oracle.Fixtures(t) {
		if f.Format != "indexed" && f.Format != "text" || f.Path == "text/saturation.proftext" || f.Path == "text/values.proftext" {
			continue // some sums saturate
		}
		var texts [2]string
		for i, weight := range []uint64{1, 100} {
			r, err := irpgo.NewReader(f.Path, f.Bytes(t), irpgo.ReaderOptions{})
			if err != nil || r.Info.Variant.Has(irpgo.HasMemProf) {
				break
			}
			m := irpgo.NewMerger(irpgo.MergeOptions{})
			if _, err := m.Add(r, weight); err != nil {
				break
			}
			p := m.Finish().Profile()
			if p.Variant.Has(irpgo.SingleByte) {
				divide(p, 2) // what ran stays
			}
			divide(p, weight)
			var b strings.Builder
			if err := irpgo.WriteText(&b, p, irpgo.TextOptions{}); err != nil {
				t.Fatal(err)
			}
			texts[i] = b.String()
		}
		if texts[0] != texts[1] {
			t.Errorf("%s:\n%s\nwant\n%s", f.Path, texts[1], texts[0])
		}
		if texts[0] != "" {
			tested++
		}
	}
	if tested < 10 {
		t.Errorf("%d profiles tested", tested)
	}
	p, err := irpgo.Read("text", []byte(":ir\nf\n1\n3\n14\n15\n4\n1\n0\n1\n2\na:5\nb:4\n\n"), irpgo.ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	divide(p, 10)
	var b strings.Builder
	if err := irpgo.WriteText(&b, p, irpgo.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "\n1\n2\n0\n") || !strings.Contains(got, "\n1\n** External Symbol **:1\n") {
		t.Errorf("%s", got)
	}
}
