package profdata

import "github.com/profuse-pgo/profuse/formats/irpgo"

// A valueKind is a kind of values with LLVM's words for it.
type valueKind struct {
	kind                     int
	number, results, profile string
}

// valueKinds returns the kinds that the options ask for.
func (s *shower) valueKinds() (kinds []valueKind) {
	if s.opt.icTargets {
		kinds = append(kinds, valueKind{irpgo.IndirectCallTarget, "Indirect Call Site Count", "Indirect Target", "indirect call sites"})
	}
	if s.opt.vtables {
		kinds = append(kinds, valueKind{irpgo.VTableTarget, "Number of instrumented vtables", "VTable", "vtable"})
	}
	if s.opt.memopSizes {
		kinds = append(kinds, valueKind{irpgo.MemOPSize, "Number of Memory Intrinsics Calls", "Memory Intrinsic Size", "memory intrinsic calls sizes"})
	}
	return kinds
}

// siteStats sums up the value sites of one kind in the functions shown.
type siteStats struct {
	sites      uint64
	withValues uint64
	values     uint64
	histogram  []uint64 // [n]: sites with n+1 values
}

// values (traverseAllValueSites) prints the values of every site of one kind, each with its share
// of the site's total, and counts them.
func (s *shower) values(v *[irpgo.NumValueKinds][][]irpgo.ValueData, kind int) {
	stats := &s.sites[kind]
	stats.sites += uint64(len(v[kind]))
	for i, site := range v[kind] {
		if len(site) == 0 {
			continue
		}
		stats.values += uint64(len(site))
		stats.withValues++
		for len(stats.histogram) < len(site) {
			stats.histogram = append(stats.histogram, 0)
		}
		stats.histogram[len(site)-1]++

		var total uint64
		for _, d := range site {
			total += d.Count
		}
		total = max(total, 1)
		for _, d := range site {
			s.printf("\t[ %2d, ", i)
			if kind == irpgo.MemOPSize {
				s.printf("%4d", d.Value)
			} else {
				s.printf("%s", s.r.Symbols().Name(d.Value))
			}
			// LLVM prints the count as a signed number.
			s.printf(", %10d ] (%.2f%%)\n", int64(d.Count), float64(d.Count)*100/float64(total))
		}
	}
}

// siteTotals (showValueSitesStats) prints the sums over all sites of one kind.
func (s *shower) siteTotals(title string, kind int) {
	stats := &s.sites[kind]
	s.printf("Statistics for %s profile:\n", title)
	s.printf("  Total number of sites: %d\n", stats.sites)
	s.printf("  Total number of sites with values: %d\n", stats.withValues)
	s.printf("  Total number of profiled values: %d\n", stats.values)
	s.printf("  Value sites histogram:\n\tNumTargets, SiteCount\n")
	for i, n := range stats.histogram {
		if n > 0 {
			s.printf("\t%d, %d\n", i+1, n)
		}
	}
}
