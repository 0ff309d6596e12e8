package watch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Some formats of outputs do not hold the whole sum. A state file beside the output then holds it and is the base
// of the next sum. The state file is written before the journal, has a different name for each output, and is
// removed after the next output is written, so that a run after a crash finds the right one.

// stateDigits are the digits in the name of a state file.
const stateDigits = 16

// stateOf returns the path of the state file of an output, "app.profdata.watch." and digits.
func (w *watcher) stateOf(o outputState) string {
	// Two outputs may have the same bytes, but not the same number of files.
	id := sha256.Sum256(fmt.Append(nil, o.hash, o.Files, o.Profiles))
	return w.Output + journalSuffix + "." + hex.EncodeToString(id[:])[:stateDigits]
}

// isState reports whether a file beside the output has the name of a state file.
func (w *watcher) isState(name string) bool {
	digits, ok := strings.CutPrefix(name, filepath.Base(w.Output)+journalSuffix+".")
	return ok && len(digits) == stateDigits && strings.Trim(digits, "0123456789abcdef") == ""
}

// base returns the base of the next sum, "" if there is none.
func (w *watcher) base() string {
	if !w.out.exists() {
		return ""
	}
	if state := w.stateOf(w.out); exists(state) {
		return state
	}
	return w.Output
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// dropStates removes the state files of other outputs.
func (w *watcher) dropStates() {
	dir, keep := filepath.Dir(w.Output), filepath.Base(w.stateOf(w.out))
	entries, _ := os.ReadDir(dir) // what cannot be listed now will be later
	for _, e := range entries {
		if name := e.Name(); w.isState(name) && name != keep {
			os.Remove(filepath.Join(dir, name))
		}
	}
}
