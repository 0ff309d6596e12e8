package clopt

import (
	"cmp"
	"fmt"
	"strconv"
)

// ReleaseVariable is the environment variable that names the LLVM release whose words and bytes the tools use.
const ReleaseVariable = "PROFUSE_LLVM_RELEASE"

// The releases, by their major versions. LLVM 23 could not be run: what the tools do otherwise for it is by its sources.
const (
	defaultRelease = 22
	newestRelease  = 23
)

// ParseRelease returns the release that the environment names; defaultRelease if text is empty.
func ParseRelease(text string) (release int, err error) {
	release, err = strconv.Atoi(cmp.Or(text, strconv.Itoa(defaultRelease)))
	if err != nil || release < defaultRelease || release > newestRelease {
		return 0, fmt.Errorf("%s is %q, want %d or %d", ReleaseVariable, text, defaultRelease, newestRelease)
	}
	return release, nil
}

// IsRelease reports whether the tool speaks as a release or a later one.
func (e Env) IsRelease(release int) bool { return cmp.Or(e.Release, defaultRelease) >= release }

// LLVMVersion is the whole version of the release.
func (e Env) LLVMVersion() string {
	if e.IsRelease(newestRelease) {
		return "23.1.0"
	}
	return "22.1.8"
}

// VersionText names the release in the form that build scripts search for.
func (e Env) VersionText(tool string) string {
	return "profuse, speaking " + tool + "\n  LLVM version " + e.LLVMVersion() + "\n"
}
