package report

import (
	"fmt"
	"html/template"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/profuse-pgo/profuse/profile"
)

// templateFuncs are the functions of all templates. They print numbers as profuse.format of core.js does.
var templateFuncs = template.FuncMap{
	"count":   anyCountText,
	"clean":   clean,
	"share":   percentAttr,
	"bytes":   bytesText,
	"percent": percentText,
	"value":   valueText,
	// hundredths of a percent, for the boxes of drawings
	"hundredths": func(share float64) string { return hundredthsText(100 * share) },
}

// anyCountText is countText for integers of any type, which must not be negative.
func anyCountText(n any) string {
	v := reflect.ValueOf(n)
	if v.CanInt() {
		return countText(uint64(v.Int()))
	}
	return countText(v.Uint())
}

func countText(n uint64) string {
	s := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i := range len(s) {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func bytesText(n uint64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return strconv.FormatUint(n, 10) + " B"
	}
	x, u := float64(n)/1024, 0
	for x >= 1023.95 && u < len(units)-1 {
		x, u = x/1024, u+1
	}
	return fmt.Sprintf("%.1f %ciB", x, units[u])
}

// percentText prints a share of 1. Only 0 is printed as 0 %, and only 1 as 100 %.
func percentText(x float64) string {
	switch {
	case x == 0:
		return "0 %"
	case x == 1:
		return "100 %"
	case x > 0 && x < 0.0005:
		return "<0.1 %"
	case x < 1 && x > 0.9995:
		return ">99.9 %"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

func valueText(n uint64, unit profile.Unit) string {
	switch unit {
	case profile.Bytes:
		return bytesText(n)
	case profile.Count:
		return countText(n)
	case profile.Milliseconds:
		return countText(n) + " ms"
	}
	return countText(n) + " " + clean(string(unit))
}

func secondsText(v float64) string {
	switch {
	case v <= 0:
		return "0 s"
	case v < 0.9995e-3:
		return threeDigits(v*1e6) + " µs"
	case v < 0.9995:
		return threeDigits(v*1e3) + " ms"
	}
	return threeDigits(v) + " s"
}

// clean escapes characters that are invisible or change the direction of text, as Go
// does: "\u202e". An attacker may have chosen the names.
func clean(s string) string {
	for i, r := range s {
		if (r < ' ' || r > '~') && (!unicode.IsPrint(r) || r == unicode.ReplacementChar) {
			quoted := strconv.Quote(s[i:])
			return s[:i] + strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
		}
	}
	return s
}
