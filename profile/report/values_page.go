package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"

	"github.com/profuse-pgo/profuse/internal/saturate"
	"github.com/profuse-pgo/profuse/profile"
)

const (
	maxSites      = 40_000 // limits the sites in the script's data to the most frequent ones
	maxTargets    = 24     // limits the targets of one site
	staticSites   = 60     // the number of sites that are listed without scripts
	staticTargets = 4      // the number of their targets that are listed
)

var kindTitles = map[profile.EdgeKind]string{
	profile.Call: "Calls", profile.IndirectCall: "Indirect calls", profile.Receiver: "Receivers",
	profile.TypeCheck: "Type checks", profile.MemOpSize: "Memory operations",
}

var kindWords = map[profile.EdgeKind]string{
	profile.Call: "Call", profile.IndirectCall: "Indirect call", profile.Receiver: "Receiver",
	profile.TypeCheck: "Type check", profile.MemOpSize: "Memory",
}

// valuesText is the data of the page's template. The limits of LLVM's passes are in it
// because the page explains them.
type valuesText struct {
	Kinds                   []kindRow
	Sites, Functions        uint64
	Judged, JudgedSizes     bool
	HotCount                uint64
	Rows                    []siteRow
	More, Left              uint64
	Sizes                   template.HTML
	OfRest, OfTotal, Most   int
	SizeCount, OfRestSizes  int
	MostSizes, GreatestSize int
}

type kindRow struct {
	Title                        string
	Sites, Single, Total         uint64
	Top, Unknown, Promoted, Part string
}

type siteRow struct {
	Kind, Name, Place string
	Total             uint64
	Targets           []targetRow
	More              uint64
	Fate              string
	Promoted          bool
}

type targetRow struct {
	Name     string
	Unknown  bool
	Count    uint64
	Share    string
	Width    string // of the bar, in percent
	Promoted bool
}

// valuesData is the script's data: columns by site, the most frequent first, and by target, grouped by site.
type valuesData struct {
	Kinds    []string  `json:"kinds"`
	Short    []string  `json:"short"` // for one of a kind
	Kind     []int     `json:"kind"`  // index of Kinds
	Caller   []int     `json:"caller"`
	Place    []int32   `json:"place"`
	Line     []int32   `json:"line,omitempty"`
	Bytecode bool      `json:"bytecode"` // Place is a bytecode index
	Total    []float64 `json:"total"`
	Fate     []int     `json:"fate,omitempty"`
	Promoted []int     `json:"promoted,omitempty"`
	First    []int     `json:"first"`  // of its targets
	Number   []int     `json:"number"` // of targets, those left out included
	Fates    []string  `json:"fates,omitempty"`
	Target   []int64   `json:"target"` // the number of a name, -1 for unknown targets, and -2-size for sizes
	Count    []float64 `json:"count"`
}

// valuesPage shows the targets, types and sizes observed at single sites; nil if the profile has no edges.
func valuesPage(src *source) (*page, error) {
	if !src.features.Edges {
		return nil, nil
	}
	t := newSiteTable(src)
	if t == nil {
		return nil, nil
	}
	text := &valuesText{
		Sites: uint64(len(t.sites)), Functions: uint64(t.callers),
		OfRest: promoteOfRest, OfTotal: promoteOfTotal, Most: maxPromoted,
		SizeCount: minSizeCount, OfRestSizes: versionOfRest, MostSizes: maxVersions, GreatestSize: maxVersionSize,
	}
	text.HotCount = src.heat.hot
	for _, k := range t.kinds {
		text.Judged = text.Judged || k.kind == profile.IndirectCall
		text.JudgedSizes = text.JudgedSizes || k.kind == profile.MemOpSize
		text.Kinds = append(text.Kinds, newKindRow(k))
	}
	var err error
	if sizes := t.sizes(); len(sizes) > 0 {
		if text.Sizes, err = drawSizes(sizes); err != nil {
			return nil, err
		}
	}
	for i := range t.sites[:min(len(t.sites), staticSites)] {
		text.Rows = append(text.Rows, t.row(src, &t.sites[i]))
	}
	text.More = uint64(len(t.sites) - len(text.Rows))
	text.Left = uint64(max(0, len(t.sites)-maxSites))
	return newPage("values", "Values", text, t.data(src))
}

// newKindRow words the sums of a kind. Only indirect calls and sizes have a fate.
func newKindRow(k kindTotal) kindRow {
	part := func(n uint64) string {
		if k.total == 0 {
			return "–"
		}
		return percentText(float64(n) / float64(k.total))
	}
	row := kindRow{Title: kindTitles[k.kind], Sites: uint64(k.sites), Single: uint64(k.single), Total: k.total, Top: part(k.top), Unknown: "–", Promoted: "–", Part: "–"}
	// A size is always known.
	if k.kind != profile.MemOpSize {
		row.Unknown = part(k.unknown)
	}
	if k.kind == profile.IndirectCall || k.kind == profile.MemOpSize {
		row.Promoted, row.Part = countText(uint64(k.promoted)), part(k.direct)
	}
	return row
}

func (s *valueSite) placeText(bytecode bool) string {
	place := "site " + strconv.Itoa(int(s.site))
	if bytecode {
		place = "bytecode " + strconv.Itoa(int(s.site))
	}
	if s.line > 0 {
		place += fmt.Sprintf(", line %d", s.line)
	}
	return place
}

func (s *valueSite) targetName(src *source, t *valueTarget) string {
	switch {
	case s.kind == profile.MemOpSize:
		return sizeText(t.size)
	case t.unknown():
		return "unknown"
	}
	return src.edgeName(t.symbol)
}

func sizeText(size uint64) string {
	switch low, high := sizeRangeOf(size); {
	case high == math.MaxUint64 && size == low:
		return fmt.Sprintf("%d bytes and more", low)
	case low == high || size != low:
		return countText(size) + " bytes"
	default:
		return fmt.Sprintf("%d to %d bytes", low, high)
	}
}

func (t *siteTable) row(src *source, s *valueSite) siteRow {
	row := siteRow{
		Kind: kindTitles[s.kind], Name: src.edgeName(s.caller), Place: s.placeText(src.features.Bytecodes),
		Total: s.total, Fate: s.fate.String(), Promoted: s.fate == isPromoted,
	}
	direct := s.promotedTargets()
	for i := range s.targets[:min(len(s.targets), staticTargets)] {
		target := &s.targets[i]
		share := s.share(target.count)
		r := targetRow{
			Name: s.targetName(src, target), Unknown: s.kind != profile.MemOpSize && target.unknown(),
			Count: target.count, Share: percentText(share), Width: hundredthsText(share * 100),
		}
		// Promoted calls are the first targets; promoted sizes may be any.
		for k := range direct {
			r.Promoted = r.Promoted || direct[k] == *target
		}
		row.Targets = append(row.Targets, r)
	}
	row.More = uint64(len(s.targets) - len(row.Targets))
	return row
}

func (t *siteTable) data(src *source) *valuesData {
	d := &valuesData{Bytecode: src.features.Bytecodes}
	kinds := make(map[profile.EdgeKind]int)
	for i, k := range t.kinds {
		kinds[k.kind] = i
		d.Kinds, d.Short = append(d.Kinds, kindTitles[k.kind]), append(d.Short, kindWords[k.kind])
	}
	lines, judged := false, false
	for i := range t.sites[:min(len(t.sites), maxSites)] {
		s := &t.sites[i]
		d.Kind, d.Caller = append(d.Kind, kinds[s.kind]), append(d.Caller, src.names.add(src.edgeName(s.caller)))
		d.Place, d.Line, d.Total = append(d.Place, s.site), append(d.Line, s.line), append(d.Total, float64(s.total))
		d.Fate, d.Promoted = append(d.Fate, int(s.fate)), append(d.Promoted, s.promoted)
		d.First, d.Number = append(d.First, len(d.Target)), append(d.Number, len(s.targets))
		lines, judged = lines || s.line > 0, judged || s.fate != notPredicted
		for k := range s.targets[:min(len(s.targets), maxTargets)] {
			target := &s.targets[k]
			d.Count = append(d.Count, float64(target.count))
			switch {
			case s.kind == profile.MemOpSize:
				// JavaScript's numbers hold integers of 53 bits.
				d.Target = append(d.Target, -2-int64(min(target.size, 1<<52)))
			case target.unknown():
				d.Target = append(d.Target, -1)
			default:
				d.Target = append(d.Target, int64(src.names.add(src.edgeName(target.symbol))))
			}
		}
	}
	// Columns without data are left out, and the script shows none.
	if !lines {
		d.Line = nil
	}
	if judged {
		d.Fates = fateWords[:]
	} else {
		d.Fate, d.Promoted = nil, nil
	}
	return d
}

func drawSizes(sizes []sizeRange) (template.HTML, error) {
	type bar struct {
		Short, Long  string
		Count        uint64
		Share, Width string // of the total; of the bar in percent
	}
	total, most := uint64(0), uint64(1)
	for _, s := range sizes {
		total, most = saturate.Add(total, s.count), max(most, s.count)
	}
	var bars []bar
	for _, s := range sizes {
		b := bar{Count: s.count, Long: sizeText(s.min), Width: hundredthsText(100 * float64(s.count) / float64(most))}
		switch {
		case s.max == math.MaxUint64:
			b.Short = "≥ " + strconv.FormatUint(s.min, 10)
		case s.max == s.min:
			b.Short = strconv.FormatUint(s.min, 10)
		default:
			b.Short = fmt.Sprintf("%d–%d", s.min, s.max)
		}
		if total > 0 {
			b.Share = percentText(float64(s.count) / float64(total))
		}
		bars = append(bars, b)
	}
	return execute("values-sizes", struct {
		Bars  []bar
		Total uint64
	}{bars, total})
}
