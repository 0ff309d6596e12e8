package iprofcmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/formats/iprof"
)

// TestVersions: the help text of --iprof-version has the versions that package iprof writes.
func TestVersions(t *testing.T) {
	listed := strings.FieldsFunc(versions, func(r rune) bool { return r == ',' || r == ' ' })
	for major := range uint32(3) {
		for minor := range uint32(10) {
			v := iprof.Version{Major: major, Minor: minor}
			if slices.Contains(listed, v.String()) != v.Writable() {
				t.Errorf("version %s: listed in %q is %t, want %t", v, versions, !v.Writable(), v.Writable())
			}
		}
	}
}
