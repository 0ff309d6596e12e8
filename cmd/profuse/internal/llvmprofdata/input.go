package llvmprofdata

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/internal/inputs"
	"github.com/profuse-pgo/profuse/irpgo"
)

// input returns the input of that name, "-" being standard input.
func (t *tool) input(name string) (inputs.Input, error) {
	if name != inputs.Stdin {
		return inputs.File(name), nil
	}
	ins, err := inputs.Expand([]string{name}, inputs.Options{Stdin: t.takeStdin()})
	if err != nil {
		return inputs.Input{}, err
	}
	return ins[0], nil
}

// readList returns the text of a list of inputs.
func (t *tool) readList(name string) ([]byte, error) {
	if name == inputs.Stdin {
		return io.ReadAll(t.takeStdin())
	}
	return os.ReadFile(name)
}

// takeStdin returns standard input the first time, and nothing after that.
func (t *tool) takeStdin() io.Reader {
	if t.stdinTaken.Swap(true) {
		return strings.NewReader("")
	}
	return t.Stdin
}

// readProfile opens the profile that the command line names for one command.
// The failure is in LLVM's words.
func (t *tool) readProfile(use func(*irpgo.Reader) error) error {
	return t.readProfileNamed(t.opt.profileFile, use)
}

func (t *tool) readProfileNamed(name string, use func(*irpgo.Reader) error) error {
	in, err := t.input(name)
	if err != nil {
		return &failure{whence: name, message: readingWords(err)}
	}
	data, err := in.Open(nil)
	if err != nil {
		return &failure{whence: name, message: readingWords(err)}
	}
	defer data.Close()
	warn := once(func(w irpgo.Warning) {
		// LLVM has no doubts about counters here.
		if code(w.Err) != irpgo.CodeCounterValueTooLarge {
			t.msg.warn(w.File, details(w.Err))
		}
	})
	err = inputs.Guard(func() error {
		r, err := irpgo.NewReader(name, data.Bytes(), irpgo.ReaderOptions{Lenient: true, Warn: warn})
		if err != nil {
			return err
		}
		return use(r)
	}, data)
	if f := (*failure)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	return inFile(err, name)
}
