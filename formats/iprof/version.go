package iprof

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// A Version is a version of the format. Major changes break readers, Minor changes add
// members, Patch changes do not affect readers.
type Version struct {
	Major, Minor, Patch uint32
}

// The known versions of files. 0.2.0 and 0.4.0 are not documented; 0.4.0 has the layout of 1.0.0.
var (
	version020 = Version{0, 2, 0}
	version040 = Version{0, 4, 0}
	version100 = Version{1, 0, 0}
	version110 = Version{1, 1, 0}
)

// String returns "1.0.0".
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch) }

func (v Version) compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Major, o.Major), cmp.Compare(v.Minor, o.Minor), cmp.Compare(v.Patch, o.Patch))
}

// known reports whether v is one of the known versions, whatever its patch level.
func (v Version) known() bool {
	v.Patch = 0
	return v == version020 || v == version040 || v == version100 || v == version110
}

// Writable reports whether [Write] can write v: 0.4.0 and the known versions from 1.0.0 on.
func (v Version) Writable() bool { return v.known() && v.compare(version040) >= 0 }

func (v Version) holds(k Kind) bool { return k != TypeChecks || v.compare(version110) >= 0 }

// supported reports whether a file of version v can be read, as of unknown minor versions.
func (v Version) supported() bool { return v.Major <= 1 }

func (v Version) dialect() *dialect {
	if v.compare(Version{0, 3, 0}) < 0 {
		return &dialectBefore04
	}
	return &dialectSince04
}

// parseVersion parses "1.0.0".
func parseVersion(s string) (v Version, err error) {
	bad := fmt.Errorf("version %q, want three numbers as in 1.0.0", s)
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return v, bad
	}
	for i, p := range []*uint32{&v.Major, &v.Minor, &v.Patch} {
		n, err := strconv.ParseUint(parts[i], 10, 32)
		if err != nil || parts[i][0] == '+' {
			return Version{}, bad
		}
		*p = uint32(n)
	}
	return v, nil
}
