package instrument

import (
	"bytes"
	"math/bits"
	"strconv"
)

// zeros is a set of bytes of registers: the lowest of rax, rcx, rdx and rbx,
// then the second ones, which have names, too.
type zeros byte

var zeroNames = [8]string{"%al", "%cl", "%dl", "%bl", "%ah", "%ch", "%dh", "%bh"}

// name returns a register in the set, "" if it is empty.
func (z zeros) name() string {
	if z == 0 {
		return ""
	}
	return zeroNames[bits.TrailingZeros8(uint8(z))]
}

// registers is what is known between two instructions.
type registers struct {
	zero zeros
	// What the flags tell: the bytes that are zero if the operands compared
	// last were equal, the first at most the second, or less, unsigned.
	equal, atMost, less zeros
}

// and keeps what both know.
func (r registers) and(o registers) registers {
	return registers{r.zero & o.zero, r.equal & o.equal, r.atMost & o.atMost, r.less & o.less}
}

// operand is a general register by the bytes that are of interest.
type operand struct {
	zeros         // those of it that have names; none for other registers
	register bool // general
	wide     bool // of 16 bits or more
}

var x86Operands = func() map[string]operand {
	m := map[string]operand{}
	for i, c := range []string{"a", "c", "d", "b"} {
		low, high := zeros(1)<<i, zeros(16)<<i
		m["%"+c+"l"] = operand{low, true, false}
		m["%"+c+"h"] = operand{high, true, false}
		for _, name := range []string{"%" + c + "x", "%e" + c + "x", "%r" + c + "x"} {
			m[name] = operand{low | high, true, true}
		}
	}
	for _, c := range []string{"si", "di", "bp", "sp"} {
		m["%"+c+"l"] = operand{0, true, false}
		for _, name := range []string{"%" + c, "%e" + c, "%r" + c} {
			m[name] = operand{0, true, true}
		}
	}
	for i := 8; i < 32; i++ {
		name := "%r" + strconv.Itoa(i)
		m[name+"b"] = operand{0, true, false}
		for _, suffix := range []string{"", "d", "w"} {
			m[name+suffix] = operand{0, true, true}
		}
	}
	return m
}()

// opKind is what an instruction writes.
type opKind byte

const (
	opUnknown  opKind = iota // anything
	opNothing                // neither registers nor flags
	opMove                   // the last operand, the first into it
	opExtend                 // the last operand, the first byte of the first into it
	opResult                 // the last operand
	opArith                  // the last operand, and flags that say whether it is zero
	opFlags                  // flags, and the last operand
	opCompare                // flags of the difference
	opTest                   // flags of the conjunction
	opMultiply               // as opFlags; with one operand rax and rdx
	opDivide                 // rax and rdx
	opSignRDX                // rdx
	opExchange               // both operands
)

var x86Ops = func() map[string]opKind {
	m := map[string]opKind{}
	add := func(k opKind, suffixes string, list string) {
		for name := range names(list) {
			if suffixes == "" {
				m[name] = k
				continue
			}
			m[name] = k
			for _, c := range suffixes {
				m[name+string(c)] = k
			}
		}
	}
	const sizes = "bwlq"
	add(opMove, sizes, "mov movabs")
	add(opExtend, "", "movzb movzbl movzbw movzbq")
	add(opResult, "", "movzwl movzwq movswl movswq movsbl movsbw movsbq movslq bswap bswapl bswapq")
	add(opResult, sizes, "lea not pop")
	add(opArith, sizes, "add sub and or xor neg inc dec")
	add(opFlags, sizes, "adc sbb shl sal shr sar rol ror shld shrd bts btr btc bsf bsr tzcnt lzcnt popcnt bt")
	add(opCompare, sizes, "cmp")
	add(opTest, sizes, "test")
	add(opMultiply, sizes, "imul")
	add(opDivide, sizes, "mul div idiv")
	add(opSignRDX, "", "cltd cqto cwtd")
	add(opNothing, "", "nop nopw nopl cltq cwtl endbr64 ud2 mfence lfence sfence pause")
	add(opNothing, sizes, "push")
	add(opExchange, sizes, "xchg")
	for cc := range names("e ne z nz a ae b be na nae nb nbe c nc g ge l le ng nge nl nle o no p np pe po s ns") {
		m["set"+cc] = opResult
		m["cmov"+cc], m["cmov"+cc+"w"], m["cmov"+cc+"l"], m["cmov"+cc+"q"] = opResult, opResult, opResult, opResult
	}
	// Vectors: the last operand may be a general register.
	add(opResult, "", `movss movsd movaps movups movapd movupd movdqa movdqu movd movlps movhps movlpd movhpd movhlps movlhps
		movmskps movmskpd pmovmskb addss addsd subss subsd mulss mulsd divss divsd sqrtss sqrtsd minss minsd maxss maxsd
		addps addpd subps subpd mulps mulpd divps divpd xorps xorpd andps andpd andnps andnpd orps orpd
		pxor pand pandn por paddb paddw paddd paddq psubb psubw psubd psubq pmullw pmuludq pslld psrld psllq psrlq psrad
		psllw psrlw psraw pslldq psrldq pcmpeqb pcmpeqw pcmpeqd pcmpgtb pcmpgtw pcmpgtd pshufd pshuflw pshufhw shufps
		shufpd punpcklbw punpcklwd punpckldq punpcklqdq punpckhbw punpckhwd punpckhdq punpckhqdq unpcklps unpcklpd
		unpckhps unpckhpd packuswb packssdw packsswb pinsrw pextrw cvtsi2sd cvtsi2sdl cvtsi2sdq cvtsi2ss cvtsi2ssl
		cvtsi2ssq cvttsd2si cvttsd2sil cvttsd2siq cvttss2si cvttss2sil cvttss2siq cvtsd2ss cvtss2sd cvtdq2pd cvtdq2ps
		cvttpd2dq cvttps2dq cvtps2pd cvtpd2ps`)
	add(opFlags, "", "ucomiss ucomisd comiss comisd")
	return m
}()

// x86Args cuts the operands of an instruction in AT&T syntax at the commas
// outside of parentheses.
func x86Args(text []byte) (args [3][]byte, n int) {
	depth, start := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && depth == 0:
			if n == len(args) {
				return args, n + 1
			}
			args[n] = bytes.TrimSpace(text[start:i])
			n++
			start = i + 1
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		}
	}
	if n == 1 && len(args[0]) == 0 {
		n = 0
	}
	return args, n
}

// immediate returns the bytes of zero of a number, and the number.
func immediate(text []byte) (v int64, ok bool) {
	if len(text) < 2 || text[0] != '$' {
		return 0, false
	}
	v, err := strconv.ParseInt(string(text[1:]), 0, 64)
	return v, err == nil
}

// zerosOf returns which of the bytes of a register are zero that holds v.
func (o operand) zerosOf(v int64) zeros {
	z := o.zeros
	const low, high = zeros(0x0f), zeros(0xf0)
	if !o.wide { // its one byte is the lowest of v
		if v&0xff != 0 {
			return 0
		}
		return z
	}
	if v&0xff != 0 {
		z &^= low
	}
	if v>>8&0xff != 0 {
		z &^= high
	}
	return z
}

// step is what is known after an instruction in AT&T syntax.
func (r registers) step(text []byte) registers {
	word, rest := splitWord(text)
	kind := x86Ops[string(word)]
	args, n := x86Args(rest)
	if kind == opUnknown || n > len(args) {
		return registers{}
	}
	var first, last operand
	if n > 0 {
		first, last = x86Operands[string(args[0])], x86Operands[string(args[n-1])]
	}
	same := n == 2 && first.register && string(args[0]) == string(args[1])
	number, isNumber := immediate(args[0])
	zero, flags := zeros(0), false // of the last operand
	switch kind {
	case opNothing:
		return r
	case opMove:
		switch {
		case isNumber:
			zero = last.zerosOf(number)
		case first.register && n == 2:
			zero = r.moved(first, last)
		}
	case opExtend:
		// The second byte becomes zero, the lowest is copied.
		zero = last.zeros & 0xf0
		if r.zero&first.zeros == first.zeros && first.zeros != 0 {
			zero = last.zeros
		}
	case opArith:
		flags = true
		switch word[0] {
		case 'x', 's': // xor, sub
			if same {
				zero = last.zeros
			} else if isNumber && word[0] == 'x' {
				zero = r.zero & last.zerosOf(number)
			}
		case 'a':
			if word[1] == 'n' { // and
				zero = last.zeros & r.zero
				if isNumber {
					zero |= last.zerosOf(number)
				}
			}
		case 'o':
			if isNumber {
				zero = r.zero & last.zerosOf(number)
			}
		}
	case opFlags:
		flags = true
		left := word[0] == 's' && word[1] != 'b' && word[2] == 'l' && n == 2 // shl, sal
		if left && isNumber && last.wide && number >= 8 && number < 16 {
			zero = last.zeros & 0x0f
		}
	case opMultiply:
		flags = true
		if n == 1 {
			return registers{zero: r.zero &^ (raxBytes | rdxBytes)}
		}
	case opDivide:
		return registers{zero: r.zero &^ (raxBytes | rdxBytes)}
	case opSignRDX:
		return r.without(rdxBytes)
	case opExchange:
		return r.without(first.zeros | last.zeros)
	case opCompare:
		out := registers{zero: r.zero}
		if isNumber && last.register {
			out.equal = last.zerosOf(number)
			if last.wide && number >= 0 {
				if number < 256 {
					out.atMost = last.zeros & 0xf0
				}
				if number <= 256 {
					out.less = last.zeros & 0xf0
				}
			}
		}
		return out
	case opTest:
		out := registers{zero: r.zero}
		if same {
			out.equal = last.zeros
		}
		return out
	}
	out := r.without(last.zeros)
	out.zero |= zero
	if flags {
		out.equal, out.atMost, out.less = 0, 0, 0
		if kind == opArith {
			out.equal = last.zeros
		}
	}
	return out
}

const raxBytes, rdxBytes, lowBytes = zeros(0x11), zeros(0x44), zeros(0x0f)

// without forgets bytes that are written.
func (r registers) without(written zeros) registers {
	return registers{r.zero &^ written, r.equal &^ written, r.atMost &^ written, r.less &^ written}
}

// moved returns the zero bytes of a register that another is copied to.
func (r registers) moved(from, to operand) (z zeros) {
	have := r.zero & from.zeros
	if from.wide != to.wide {
		return 0
	}
	if !from.wide {
		if have != 0 {
			return to.zeros
		}
		return 0
	}
	if have&0x0f != 0 {
		z |= to.zeros & 0x0f
	}
	if have&0xf0 != 0 {
		z |= to.zeros & 0xf0
	}
	return z
}

// taken and fallen are what is known after a conditional branch.
func (r registers) taken(branch []byte) registers {
	switch string(branch) {
	case "je", "jz":
		r.zero |= r.equal
	case "jbe", "jna":
		r.zero |= r.atMost
	case "jb", "jc", "jnae":
		r.zero |= r.less
	}
	return r
}

func (r registers) fallen(branch []byte) registers {
	switch string(branch) {
	case "jne", "jnz":
		r.zero |= r.equal
	case "ja", "jnbe":
		r.zero |= r.atMost
	case "jae", "jnb", "jnc":
		r.zero |= r.less
	}
	return r
}
