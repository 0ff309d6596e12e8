package profdata

import (
	"io"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

// showHeap (showMemProfProfile) shows a raw profile or the memprof section of an indexed one. It
// recognizes the format by the first bytes.
func (t *tool) showHeap(out io.Writer) error {
	name := t.opt.profileFile
	if t.opt.showFormat == showJSON {
		return &failure{message: "JSON output is not supported for MemProf"}
	}
	return t.read(name, func(data []byte) error {
		if heapKindOf(data) == rawHeap {
			warn := func(w profile.Warning) { t.msg.warn(name, details(w.Err)) }
			raw, programs, err := t.readRawHeap(name, data)
			if err != nil {
				return &failure{message: heapWords(err)}
			}
			p, about, err := raw.Symbolize(programs, memprof.SymbolizeOptions{LLVMCompat: true, KeepNames: true, Warn: warn})
			if err != nil {
				return &failure{message: heapWords(err)}
			}
			return memprof.WriteRawShow(out, raw, p, about)
		}
		if f, ok := irpgo.Detect(data); !ok || f != irpgo.FormatIndexed {
			return &failure{whence: name, message: words(&llvmerr.Error{Code: llvmerr.BadMagic})}
		}
		r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Lenient: true})
		if err != nil {
			return &failure{whence: name, message: words(err)}
		}
		section := r.MemProf()
		if section == nil {
			return &failure{whence: name, message: "the profile has no memprof section"} // LLVM crashes
		}
		p, err := section.Profile()
		if err != nil {
			return &failure{whence: name, message: words(err)}
		}
		return memprof.WriteShow(out, p)
	})
}
