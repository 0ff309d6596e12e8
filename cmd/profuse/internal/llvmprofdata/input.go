package llvmprofdata

import (
	"bytes"
	"io"
	"os"
	"strings"

	"github.com/profuse-pgo/profuse/internal/inputs"
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

// The first bytes of memory profiles.
var (
	memprofRaw  = []byte("\x81rforpm\xff")
	memprofYAML = []byte("---")
)

// isMemProf recognises the memory profiles that merge takes for such. The
// sections of memory profiles in indexed files are another matter.
func isMemProf(data []byte) bool {
	return bytes.HasPrefix(data, memprofRaw) || bytes.HasPrefix(data, memprofYAML)
}
