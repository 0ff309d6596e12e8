package gcov

import "github.com/profuse-pgo/profuse/internal/flaw"

// Oddities returns remarks about what released tools write, but users should know.
func (c *Counts) Oddities() (remarks []error) {
	if c.tail > 0 {
		remarks = append(remarks, flaw.In("end").Field("bytes behind the end").Got(c.tail).Want("0").
			Hint("an older file was longer; the runtime does not shorten it").Remark())
	}
	placeholders := 0
	for i := range c.Functions {
		if c.Functions[i].Placeholder {
			placeholders++
		}
	}
	if placeholders > 0 {
		remarks = append(remarks, flaw.In("function").Field("functions without records").Got(placeholders).Want("0").
			Hint("the linker took these functions from other objects").Remark())
	}
	return remarks
}

// Doubts returns remarks about counts and their notes that do not fit, or contradict each other.
func (u *Unit) Doubts() (remarks []error) {
	doubt := func(what string, n int, hint string) {
		if n > 0 {
			remarks = append(remarks, flaw.In("counters").Field(what).Got(n).Want("0").Hint(hint).Remark())
		}
	}
	negative, unsolved := 0, 0
	for r := range u.Results() {
		negative += r.BelowZero
		if r.Unsolved {
			unsolved++
		}
	}
	doubt("functions whose flow graph has changed", len(u.Misfits), "the notes and the counts are of different builds")
	doubt("functions that the notes do not have", u.Missing, "the notes and the counts are of different builds")
	doubt("arcs with counts below zero", negative, "threads lost counts; -fprofile-update=atomic makes counts exact")
	doubt("functions whose counts do not determine all blocks", unsolved, "the notes may be damaged")
	return remarks
}
