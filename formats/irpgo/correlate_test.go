package irpgo_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
	"github.com/profuse-pgo/profuse/test/alike"
	"github.com/profuse-pgo/profuse/test/hostile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// correlateFixture reads the program and the raw profile of a kind.
func correlateFixture(t testing.TB, kind string) (program, raw []byte) {
	t.Helper()
	dir := filepath.Join(oracle.Root(t), "testdata", "correlate")
	var err error
	if program, err = os.ReadFile(filepath.Join(dir, kind+".elf")); err == nil {
		raw, err = os.ReadFile(filepath.Join(dir, kind+".profraw"))
	}
	oracle.NoError(t, err)
	return program, raw
}

func correlate(kind string, program []byte, warn func(profile.Warning)) (*irpgo.Correlation, error) {
	f, err := symbolize.New("program", program, symbolize.Options{NoDebugFiles: true})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return irpgo.Correlate(f, irpgo.CorrelateOptions{From: kind, Warn: warn})
}

func TestCorrelate(t *testing.T) {
	for _, kind := range []string{"debug-info", "binary"} {
		t.Run(kind, func(t *testing.T) {
			program, raw := correlateFixture(t, kind)
			c := oracle.Must(correlate(kind, program, func(w profile.Warning) { t.Error(w) }))(t)
			opt := irpgo.ReaderOptions{Correlate: func([][]byte) (*irpgo.Correlation, error) { return c, nil }}
			p := oracle.Must(irpgo.Read("raw", raw, opt))(t)
			var got bytes.Buffer
			oracle.NoError(t, irpgo.WriteText(&got, p, irpgo.TextOptions{}))
			want := oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", "correlate", kind+".proftext"))
			alike.Values(t, "-llvm +profuse", string(want), got.String())
			// Twice, in one file, is twice the counts.
			twice := oracle.Must(irpgo.Read("raw", append(raw[:len(raw):len(raw)], raw...), opt))(t)
			for i := range twice.Functions {
				for j, r := range twice.Functions[i].Records {
					for k, n := range r.Counts {
						if once := p.Functions[i].Records[j].Counts[k]; n != 2*once {
							t.Fatalf("%s: counter %d is %d, want %d", r.Name, k, n, 2*once)
						}
					}
				}
			}
		})
	}
}

// A profile that has everything is not asked about, unless reading is lenient,
// and then the answer is refused as LLVM does.
func TestCorrelateUnnecessary(t *testing.T) {
	program, _ := correlateFixture(t, "binary")
	c, err := correlate("binary", program, nil)
	oracle.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(oracle.Root(t), "testdata", "irpgo", "clang22", "tool-b.profraw"))
	oracle.NoError(t, err)
	opt := irpgo.ReaderOptions{Correlate: func([][]byte) (*irpgo.Correlation, error) { return c, nil }}
	if _, err := irpgo.Read("raw", data, opt); err != nil {
		t.Error(err)
	}
	opt.Lenient = true
	_, err = irpgo.Read("raw", data, opt)
	if got := llvmerr.Message(err); !errors.Is(err, profile.ErrMismatch) || got != "debug info/binary for correlation is not necessary" {
		t.Errorf("%v, in LLVM's words %q", err, got)
	}
}

// The wrong program is refused with the reason.
func TestCorrelateWrongProgram(t *testing.T) {
	debug, _ := correlateFixture(t, "debug-info")
	binary, _ := correlateFixture(t, "binary")
	for _, c := range []struct {
		kind    string
		program []byte
		want    string
	}{
		{"binary", debug, "could not find section (__llvm_covdata)"},
		{"debug-info", binary, "could not find any profile data metadata in correlated file"},
	} {
		_, err := correlate(c.kind, c.program, nil)
		if !errors.Is(err, profile.ErrMismatch) || !strings.HasSuffix(llvmerr.Message(err), c.want) {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
}

// Whatever a program is cut or flipped to, the raw profile is read or refused.
func TestCorrelateHostile(t *testing.T) {
	for _, kind := range []string{"debug-info", "binary"} {
		program, raw := correlateFixture(t, kind)
		try := func(program []byte) {
			c, err := correlate(kind, program, nil)
			if err != nil {
				return
			}
			_, err = irpgo.Read("raw", raw, irpgo.ReaderOptions{
				Correlate: func([][]byte) (*irpgo.Correlation, error) { return c, nil },
			})
			if err != nil && profile.ClassOf(err) == profile.Unreadable {
				t.Errorf("%s: an error without class: %v", kind, err)
			}
		}
		for n, cut := range hostile.Cuts(program, 17*37) {
			if n%17 == 0 {
				try(cut)
			}
		}
		for bit, flipped := range hostile.Flips(program, 89*37) {
			if bit%89 == 0 {
				try(flipped)
			}
		}
	}
}
