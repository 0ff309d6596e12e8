package profdata

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
	"github.com/profuse-pgo/profuse/internal/llvm/llvmerr"
	"github.com/profuse-pgo/profuse/profile"
)

func (t *tool) input(name string) (inputs.Input, error) {
	if name != inputs.Stdin {
		return inputs.File(name, t.Inputs()), nil
	}
	opt := t.Inputs()
	opt.Stdin = t.takeStdin()
	ins, err := inputs.Expand([]string{name}, opt)
	if err != nil {
		return inputs.Input{}, err
	}
	return ins[0], nil
}

func (t *tool) readList(name string) ([]byte, error) {
	if name == inputs.Stdin {
		return io.ReadAll(t.takeStdin())
	}
	return os.ReadFile(name)
}

// takeStdin returns standard input at the first call and, as LLVM does, an empty reader at all others.
func (t *tool) takeStdin() io.Reader {
	if t.stdinTaken.Swap(true) {
		return strings.NewReader("")
	}
	return t.Stdin
}

// read passes the bytes of an input to use. The bytes are valid only during the call. Errors of reading have LLVM's words.
func (t *tool) read(name string, use func(data []byte) error) error {
	in, err := t.input(name)
	opened := false
	if err == nil {
		err = in.One(func(d *inputs.Data) error {
			opened = true
			return use(d.Bytes())
		})
	}
	if err != nil && !opened {
		return &failure{whence: name, message: readingWords(err)}
	}
	return err
}

// readProfile passes a profile to use. All errors have LLVM's words. It prints the first warning about each field.
func (t *tool) readProfile(name string, use func(*irpgo.Reader) error) error {
	warn := once(func(w profile.Warning) {
		// LLVM does not warn about suspicious counters here.
		if code(w.Err) != llvmerr.CounterValueTooLarge {
			t.msg.warn(w.File, details(w.Err))
		}
	})
	err := t.read(name, func(data []byte) error {
		r, err := irpgo.NewReader(name, data, irpgo.ReaderOptions{Lenient: true, Warn: warn})
		if err != nil {
			return err
		}
		return use(r)
	})
	if f := (*failure)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	return inFile(err, name)
}
