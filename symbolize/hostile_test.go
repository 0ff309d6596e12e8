package symbolize

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// exercise does everything that can be done with a file, which may be broken in any way. What must hold is that it
// ends, that all errors are of the one type, and that Frames and Batch agree.
func exercise(t testing.TB, data []byte, arch string) {
	t.Helper()
	typed := func(err error) {
		t.Helper()
		if _, split := errors.AsType[*splitError](err); !split {
			hostile.CheckType(t, "hostile", err)
		}
	}
	f, err := New("hostile", data, Options{Arch: arch, SymbolTable: true, NoDebugFiles: true, Workers: 2})
	if typed(err); err != nil {
		return
	}
	defer f.Close()
	var addrs []uint64
	for _, s := range f.Sections {
		if len(addrs) < 64 {
			addrs = append(addrs, s.Addr, s.Addr+s.Size/2, s.Addr+s.Size-1)
		}
		_, err := s.Data()
		typed(err)
	}
	for _, s := range f.Segments {
		if s.Executable && len(addrs) < 1000 {
			for i := range uint64(64) {
				addrs = append(addrs, s.Addr+s.MemSize/64*i)
			}
		}
	}
	f.preferredBase()
	symbols, err := f.Symbols()
	if typed(err); err == nil {
		n := 0
		for s := range symbols {
			if n++; n > 100 {
				break
			}
			addrs = append(addrs, s.Addr)
		}
	}
	_, err = f.DebugFile()
	typed(err)
	problems, err := f.problems()
	typed(err)
	typed(errors.Join(problems...))

	frames := make([][]Frame, len(addrs))
	err = f.Batch(addrs, func(i int, fr []Frame) { frames[i] = fr })
	typed(err)
	_, symbolsErr := f.symbolTable()
	_, debugErr := f.debugData()
	if symbolsErr != nil || debugErr != nil {
		return
	}
	for i, a := range addrs {
		one, err := f.Frames(a)
		if typed(err); !slices.Equal(one, frames[i]) {
			t.Errorf("%#x: Frames says %+v, Batch %+v", a, one, frames[i])
		}
	}
}

// TestDamaged cuts every fixture at every byte, flips its bits, one at a time, and overwrites runs of bytes with
// others from the same file: tables that are well formed but in the wrong place.
func TestDamaged(t *testing.T) {
	for _, fx := range fixtures(t) {
		data := oracle.ReadFile(t, fx.file)
		t.Run(fx.name+"/cut", func(t *testing.T) {
			t.Parallel()
			for _, cut := range hostile.Cuts(data, 37) {
				exercise(t, cut, fx.arch)
			}
		})
		t.Run(fx.name+"/flipped", func(t *testing.T) {
			t.Parallel()
			for bit, flipped := range hostile.Flips(data, 29*5) {
				if bit%29 == 0 {
					exercise(t, flipped, fx.arch)
				}
			}
		})
		t.Run(fx.name+"/scrambled", func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			for range 2000 / oracle.Step(20) {
				b := bytes.Clone(data)
				for range 1 + r.IntN(4) {
					n := 1 + r.IntN(64)
					copy(b[r.IntN(len(b)):], data[r.IntN(len(b)-n):][:n])
				}
				exercise(t, b, fx.arch)
			}
		})
	}
}

func FuzzFile(f *testing.F) {
	for _, fx := range fixtures(f) {
		f.Add(oracle.ReadFile(f, fx.file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		exercise(t, data, "")
		exercise(t, data, "arm64")
	})
}

// problems returns why parts of the debug information are ignored, if any are: unknown versions or damage. It does
// not look for problems: what has not been needed yet has not been read.
func (f *File) problems() ([]error, error) {
	d, err := f.debugData()
	if err != nil {
		return nil, err
	}
	problems := d.data.Problems()
	if d.dwp != nil {
		problems = append(problems[:len(problems):len(problems)], d.dwp.Problems()...)
	}
	return problems, nil
}
