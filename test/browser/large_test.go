package browser

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/profile/report"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// largeFunctions is what a large program has.
const largeFunctions = 100_000

// largeProfile is as one of a large C++ program: long names that have much in
// common, few functions that are hot, and many that never ran.
func largeProfile(t *testing.T) profile.View {
	var text strings.Builder
	text.WriteString(":ir\n")
	for i := range largeFunctions {
		space, class := fmt.Sprintf("namespace%d", i%37), fmt.Sprintf("ClassOfModerateLength%d", i/20)
		method := fmt.Sprintf("method%d", i)
		count := 0
		if i%3 > 0 {
			count = 50_000_000 / (i + 1)
		}
		fmt.Fprintf(&text, "_ZN%d%s%d%s%d%sERKNSt6vectorIiEE\n%d\n4\n%d\n%d\n%d\n0\n\n",
			len(space), space, len(class), class, len(method), method, i, count, count/2, count/3)
	}
	return view(t, "large.proftext", []byte(text.String()), formats.ViewOptions{}).View
}

// TestLarge opens a report of many functions and filters it. It says how long
// that takes and what there is; only the size of the file is limited.
func TestLarge(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	sources := []report.Source{{View: largeProfile(t)}}
	start := time.Now()
	address := writeReport(t, "large", sources, report.Options{})
	t.Logf("written in %v", time.Since(start).Round(time.Millisecond))
	if info, err := os.Stat(strings.TrimPrefix(address, "file://")); err != nil {
		t.Error(err)
	} else if info.Size() > 15<<20 {
		t.Errorf("the file has %d bytes", info.Size())
	} else {
		t.Logf("the file has %.1f MB", float64(info.Size())/1e6)
	}
	for _, from := range []struct {
		name, address string
		pages         []string
	}{
		{"file", address, []string{"overview", "functions", "treemap"}},
		{"server", serveReport(t, "large", sources, report.Options{}), []string{"functions"}},
	} {
		b := newTab(t)
		for _, page := range from.pages {
			start := time.Now()
			b.open(from.address + "#page=" + page)
			t.Logf("%s: %s is there after %v", from.name, page, time.Since(start).Round(time.Millisecond))
			if page != "functions" {
				continue
			}
			for _, text := range []string{"method777", "CLASSOFMODERATELENGTH12", "/method\\d*99\\(/", ""} {
				took := value[float64](b, fmt.Sprintf(`(async () => {
					const input = %s.querySelector('input.search');
					const start = performance.now();
					input.value = %q;
					input.dispatchEvent(new Event('input', {bubbles: true}));
					const note = %[1]s.querySelector('.search-note');
					const before = note.textContent;
					while (note.textContent === before) await new Promise(requestAnimationFrame);
					return performance.now() - start;
				})()`, shownPage, text))
				t.Logf("%s: filtered by %q in %.0f ms, the delay after a key press included: %s", from.name, text, took,
					value[string](b, shownPage+`.querySelector('.search-note').textContent`))
			}
			rows := value[int](b, shownPage+`.querySelectorAll('tr[data-row]').length`)
			if rows == 0 || rows > 1000 {
				t.Errorf("%s: %d rows are elements", from.name, rows)
			}
			sorted := value[float64](b, `(async () => {
				const start = performance.now();
				`+shownPage+`.querySelector('th button').click();
				await new Promise(requestAnimationFrame);
				return performance.now() - start;
			})()`)
			t.Logf("%s: sorted by name in %.0f ms", from.name, sorted)
			b.quiet(from.name)
		}
	}
}
