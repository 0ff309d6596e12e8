package memprof

import (
	"fmt"
	"io"
)

// WriteShow writes the output of "llvm-profdata show --memory" of LLVM 22 for an indexed
// profile: the summary as comments, then the profile as YAML.
func WriteShow(w io.Writer, p *Profile) error {
	if _, err := io.WriteString(w, p.showSummary()); err != nil {
		return err
	}
	return WriteYAML(w, p)
}

// showSummary returns the text of the summary: of the stored one, or else of a computed
// one.
func (p *Profile) showSummary() string {
	s := p.summarize(DefaultThresholds)
	if p.summary != nil {
		s = *p.summary
	}
	text := fmt.Sprintf(`---
# MemProfSummary:
#   Total contexts: %d
#   Total cold contexts: %d
#   Total hot contexts: %d
#   Maximum cold context total size: %d
#   Maximum warm context total size: %d
#   Maximum hot context total size: %d
`, s.NumContexts, s.NumColdContexts, s.NumHotContexts, s.MaxColdTotalSize, s.MaxWarmTotalSize, s.MaxHotTotalSize)
	if d := p.DataAccess; d != nil {
		text += fmt.Sprintf(`#   Num hot symbols and string literals: %d
#   Num known cold symbols: %d
#   Num known cold string literals: %d
`, len(d.Records), len(d.ColdSymbols), len(d.ColdHashes))
	}
	return text
}
