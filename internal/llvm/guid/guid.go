// Package guid computes LLVM's 64-bit identities of names, and the hashes in MIP files that are made from them.
package guid

import (
	"crypto/md5"
	"encoding/binary"
	"strings"
)

// Of returns the first eight bytes of the MD5 of a name, read as little-endian
// (llvm::MD5Hash, which gives GUIDs and the name references of profiles).
func Of(name string) uint64 {
	var memory [256]byte // converting a longer name allocates
	sum := md5.Sum(append(memory[:0], name...))
	return binary.LittleEndian.Uint64(sum[:8])
}

// Canonical (sampleprof::FunctionSamples::getCanonicalFnName) removes the suffixes that optimizers append to names
// of functions: ".llvm." and ".part." with the component after it. It keeps ".__uniq.".
func Canonical(name string) string {
	for _, suffix := range []string{".llvm.", ".part."} {
		at := strings.LastIndex(name, suffix)
		if at >= 0 && strings.LastIndexByte(name, '.') == at+len(suffix)-1 {
			name = name[:at]
		}
	}
	return name
}
