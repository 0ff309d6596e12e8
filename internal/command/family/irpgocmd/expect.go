package irpgocmd

import (
	"errors"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/merge"
)

// minIDDigits is how many first digits of a binary id may stand for it.
const minIDDigits = 8

// expectedIDs are the binary ids of option --expect-binary-id, in hexadecimal; none expects
// nothing.
type expectedIDs []string

// String is for package flag, which shows it as the default: there is none.
func (e *expectedIDs) String() string { return "" }

// Set adds an id, or the beginning of one.
func (e *expectedIDs) Set(s string) error {
	s = strings.ToLower(s)
	if len(s) < minIDDigits || strings.Trim(s, "0123456789abcdef") != "" {
		return errors.New("want a binary id in hexadecimal, or at least its first 8 digits")
	}
	*e = append(*e, s)
	return nil
}

// admit returns an error about a profile with none of these ids, [merging.ErrOtherProgram], which
// counts as the loss of an input. A profile without ids is refused, too: nothing says that it
// belongs to the program.
func (e expectedIDs) admit(name string, ids []string) error {
	if len(e) == 0 {
		return nil
	}
	for _, id := range ids {
		for _, want := range e {
			if strings.HasPrefix(id, want) {
				return nil
			}
		}
	}
	wrong := flaw.File(name).Field("binary id").Got(strings.Join(ids, ", ")).Want(strings.Join(e, " or ")).
		Hint("it is of another program or build")
	if len(ids) == 0 {
		wrong = wrong.Got("missing").Hint("programs have one if they are linked with -Wl,--build-id")
	}
	return wrong.Because(merging.ErrOtherProgram)
}

// admitHeap is admit for a heap profile that is a file of its own. YAML has no ids; of a raw
// profile the build ids of all its programs and libraries are asked, because any of them may be the
// expected one.
func (e expectedIDs) admitHeap(p *merge.Profile, format formats.Format) error {
	if len(e) == 0 || format != formats.MemProfRaw {
		return e.admit(p.Name, nil)
	}
	return e.admit(p.Name, originOf(p.Name, p.Data).Needs)
}
