package irpgocmd

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// correlations caches the correlation data of programs, for profiles without data records and
// names (LLVM's -profile-correlate). It reads a program when a profile first needs it.
type correlations struct {
	programs *symbolize.Programs
	warn     func(profile.Warning) // about debug information

	mu sync.Mutex
	// read has a function for each program, which reads it once. Workers call it without mu, and
	// wait for the worker that reads.
	read map[*symbolize.File]func() (*irpgo.Correlation, error)
}

// ofProgram returns the correlation data of a program: from its data sections if it was built for
// that, otherwise from its debug information.
func (a *correlations) ofProgram(f *symbolize.File) (*irpgo.Correlation, error) {
	a.mu.Lock()
	read := a.read[f]
	if read == nil {
		read = sync.OnceValues(func() (*irpgo.Correlation, error) {
			return irpgo.Correlate(f, irpgo.CorrelateOptions{Warn: a.warn})
		})
		if a.read == nil {
			a.read = make(map[*symbolize.File]func() (*irpgo.Correlation, error))
		}
		a.read[f] = read
	}
	a.mu.Unlock()
	return read()
}

// forProfile returns the correlation data for a profile that names these binary ids, from the
// first of their programs that has any. For a profile without ids only one program may be given.
func (a *correlations) forProfile(ids [][]byte) (*irpgo.Correlation, error) {
	var failed error
	for _, id := range ids {
		for f, err := range a.programs.Find(id) {
			if err != nil {
				return nil, err
			}
			c, err := a.ofProgram(f)
			if err == nil {
				return c, nil
			}
			failed = cmp.Or(failed, err)
		}
	}
	if failed != nil {
		return nil, failed
	}
	var known []string
	var last *symbolize.File
	for i, f := range a.programs.Files {
		known, last = append(known, fmt.Sprintf("%s (%s)", a.programs.Names[i], cmp.Or(hex.EncodeToString(f.BuildID), "no id"))), f
	}
	for _, dir := range a.programs.Folders {
		known = append(known, "one in "+dir)
	}
	if len(known) == 0 {
		return nil, nil
	}
	// Without ids to compare, a single named program is assumed to be the right one.
	if len(known) == 1 && last != nil && (len(ids) == 0 || len(last.BuildID) == 0) {
		return a.ofProgram(last)
	}
	found := "no binary id"
	if len(ids) > 0 {
		found = "binary id " + hex.EncodeToString(ids[0])
	}
	return nil, flaw.In("binary ids").Field("program to correlate with").Got(found).
		Want("the program " + strings.Join(known, " or ")).Mismatch()
}
