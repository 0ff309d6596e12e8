package instrument

import "github.com/profuse-pgo/profuse/internal/mip/asm"

// x86Probes prints probes for x86_64.
type x86Probes struct{}

// entryProbe needs no register: the record is addressed from rip, and no
// function takes an argument in the flags.
func (x86Probes) entryProbe(dst []byte, p *probe) []byte {
	if !p.counts {
		if !p.threads {
			return x86Store(dst, p, 0)
		}
		// No function takes anything in the flags.
		dst = inSyntax(dst, p.syntax, "\tcmpb\t$0, "+p.at(0)+"(%rip)\n", "\tcmp\tbyte ptr [rip + "+p.at(0)+"], 0\n")
		dst = append(dst, "\tje\t"+p.label+"\n"...)
		dst = x86Store(dst, p, 0)
		return append(dst, p.label+":\n"...)
	}
	lock := ""
	if p.atomic {
		lock = "lock "
	}
	pass := "jne" // not the first call
	if p.samples {
		pass = "js" // not yet the call to sample
	}
	rest := "\t" + pass + "\t" + p.label + "\n\tcall\t" + p.helper() + "\n" + p.label + ":\n"
	att := "\t" + lock + "incl\t" + p.record + "(%rip)\n" + rest
	intel := "\t" + lock + "inc\tdword ptr [rip + " + p.record + "]\n" + rest
	return inSyntax(dst, p.syntax, att, intel)
}

func (x86Probes) blockProbe(dst []byte, p *probe, offset int) []byte { return x86Store(dst, p, offset) }

// x86Store appends the store of a zero byte, which changes no flags and no
// registers.
func x86Store(dst []byte, p *probe, offset int) []byte {
	at := p.at(offset)
	return inSyntax(dst, p.syntax, "\tmovb\t$0, "+at+"(%rip)\n", "\tmov\tbyte ptr [rip + "+at+"], 0\n")
}

// inSyntax appends the form for the syntax in effect. The rarer syntaxes, which
// only hand-written text uses, are switched off around the probe.
func inSyntax(dst []byte, syntax asm.X86Syntax, att, intel string) []byte {
	switch syntax {
	case asm.AttPrefix:
		return append(dst, att...)
	case asm.IntelNoPrefix:
		return append(dst, intel...)
	}
	dst = append(dst, "\t.att_syntax prefix\n"...)
	dst = append(dst, att...)
	if syntax == asm.AttNoPrefix {
		return append(dst, "\t.att_syntax noprefix\n"...)
	}
	return append(dst, "\t.intel_syntax prefix\n"...)
}
