package instrument

import "github.com/profuse-pgo/profuse/internal/mip/asm"

type x86Probes struct{}

// entryProbe needs no register: the record is addressed from rip, and no
// function takes an argument in the flags.
func (x86Probes) entryProbe(t *asm.Text, p *probe) {
	switch {
	case !p.counts && !p.threads:
		x86Store(t, p, 0)
		return
	case !p.counts:
		suffix, size, pass := "b", "byte", "je"
		if p.hits {
			pass = "jne"
		}
		if p.width > 1 {
			suffix, size = "l", "dword"
		}
		inSyntax(t, p.syntax, "\tcmp"+suffix+"\t$0, "+p.at(0)+"(%rip)", "\tcmp\t"+size+" ptr [rip + "+p.at(0)+"], 0")
		t.Lines(pass + "\t" + p.label)
		x86Store(t, p, 0)
		t.Line(p.label, ":")
		return
	}
	lock := ""
	if p.atomic {
		lock = "lock "
	}
	pass := "jne" // not the first call
	if p.samples {
		pass = "js" // not yet the call to sample
	}
	rest := "\n\t" + pass + "\t" + p.label + "\n\tcall\t" + p.helper() + "\n" + p.label + ":"
	inSyntax(t, p.syntax, "\t"+lock+"incl\t"+p.record+"(%rip)"+rest, "\t"+lock+"inc\tdword ptr [rip + "+p.record+"]"+rest)
}

func (x86Probes) blockProbe(t *asm.Text, p *probe, offset int) { x86Store(t, p, offset) }

// x86Store prints the store that marks a byte of coverage, which changes no flags and no
// registers: zero in raw records, and not zero in words of hits.
func x86Store(t *asm.Text, p *probe, offset int) {
	at, mark := p.at(offset), "0"
	if p.width > 1 {
		inSyntax(t, p.syntax, "\tmovl\t%esp, "+at+"(%rip)", "\tmov\tdword ptr [rip + "+at+"], esp")
		return
	}
	if p.hits {
		mark = "1"
	}
	inSyntax(t, p.syntax, "\tmovb\t$"+mark+", "+at+"(%rip)", "\tmov\tbyte ptr [rip + "+at+"], "+mark)
}

// inSyntax prints the lines for the syntax in effect. It switches off the rarer
// syntaxes, which only hand-written text uses, around the lines.
func inSyntax(t *asm.Text, syntax asm.X86Syntax, att, intel string) {
	switch syntax {
	case asm.AttPrefix:
		t.Line(att)
	case asm.IntelNoPrefix:
		t.Line(intel)
	case asm.AttNoPrefix:
		t.Line("\t.att_syntax prefix\n", att, "\n\t.att_syntax noprefix")
	default:
		t.Line("\t.att_syntax prefix\n", att, "\n\t.intel_syntax prefix")
	}
}
