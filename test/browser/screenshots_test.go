package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestScreenshots leaves a picture of every page of every fixture, light, dark
// and narrow, in $PROFUSE_SCREENSHOTS, for people to look at.
func TestScreenshots(t *testing.T) {
	folder := os.Getenv("PROFUSE_SCREENSHOTS")
	if folder == "" {
		t.Skip("PROFUSE_SCREENSHOTS names no folder")
	}
	oracle.NoError(t, os.MkdirAll(folder, 0o777))
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			address := f.file(t)
			b := newTab(t)
			for _, look := range []struct {
				name, theme string
				width       int64
			}{{"light", "light", 1280}, {"dark", "dark", 1280}, {"narrow", "light", 390}} {
				b.size(look.width, 900)
				b.open(address + "#theme=" + look.theme)
				b.eachPage(func(at place) {
					name := fmt.Sprintf("%s-%d-%s-%s.png", f.name, at.set, at.page, look.name)
					picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
					if err != nil {
						t.Fatal(err)
					}
					oracle.WriteFile(t, filepath.Join(folder, name), picture)
				})
			}
		})
	}
}
