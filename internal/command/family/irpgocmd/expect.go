package irpgocmd

import (
	"errors"
	"strings"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/command/merging"
	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/merge"
)

// minIDDigits is the least number of leading digits that identify a binary id.
const minIDDigits = 8

// expectedIDs are the values of option --expect-binary-id, in hexadecimal.
type expectedIDs []string

// String returns "": the option has no default.
func (e *expectedIDs) String() string { return "" }

// Set adds an id or its leading digits.
func (e *expectedIDs) Set(s string) error {
	s = strings.ToLower(s)
	if len(s) < minIDDigits || strings.Trim(s, "0123456789abcdef") != "" {
		return errors.New("want a binary id in hexadecimal, or at least its first 8 digits")
	}
	*e = append(*e, s)
	return nil
}

// check returns an error ([merging.ErrOtherProgram]) about a profile that has none of the
// expected ids; a profile without ids has none.
func (e expectedIDs) check(name string, ids []string) error {
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

// checkHeap is check for a raw heap profile or one in YAML. A raw profile has the build ids of the
// program and of its libraries, and any of them may be the expected one. YAML has no ids.
func (e expectedIDs) checkHeap(p *merge.Profile, format formats.Format) error {
	if len(e) == 0 || format != formats.MemProfRaw {
		return e.check(p.Name, nil)
	}
	return e.check(p.Name, originOf(p.Name, p.Data).Needs)
}
