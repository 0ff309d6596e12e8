package report

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// themes reads the variables of report.css: light, dark by choice, dark by system.
func themes(t *testing.T) [3]map[string]string {
	css := string(asset("report.css"))
	var out [3]map[string]string
	variable := regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6});`)
	for i, selector := range []string{"\n:root {", `:root[data-theme="dark"] {`, `:root:not([data-theme="light"]) {`} {
		_, rest, ok := strings.Cut(css, selector)
		if !ok {
			t.Fatalf("no rule %q", selector)
		}
		body, _, _ := strings.Cut(rest, "}")
		out[i] = make(map[string]string)
		for _, m := range variable.FindAllStringSubmatch(body, -1) {
			out[i][m[1]] = m[2]
		}
	}
	return out
}

// contrast is that of WCAG 2.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(colour string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		c := float64(n) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

func TestColours(t *testing.T) {
	all := themes(t)
	if !maps.Equal(all[1], all[2]) {
		t.Error("the two dark themes differ")
	}
	categories := []string{"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9"}
	heats := []string{"hot", "warm", "cold", "never"}
	for i, theme := range all[:2] {
		want := func(text, ground string, least float64) {
			t.Helper()
			if theme[text] == "" || theme[ground] == "" {
				t.Errorf("theme %d: --%s or --%s is missing", i, text, ground)
			} else if c := contrast(theme[text], theme[ground]); c < least {
				t.Errorf("theme %d: --%s on --%s has a contrast of %.2f, want %.1f", i, text, ground, c, least)
			}
		}
		for _, text := range slices.Concat([]string{"fg", "muted", "accent"}, heats) {
			want(text, "bg", 4.5)
			want(text, "surface", 4.5)
		}
		for _, text := range []string{"fg", "muted", "accent"} {
			want(text, "select", 4.5)
		}
		want("fg", "miss", 4.5)
		want("hot", "miss", 4.5)
		want("accent-fg", "accent", 4.5)
		for _, ground := range heats {
			want("bg", ground, 4.5)
		}
		for _, c := range categories {
			want("fg", c, 4.5)
			want(c, "bg", 3)
		}
	}
}
