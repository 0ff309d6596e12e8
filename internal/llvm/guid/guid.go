// Package guid computes the 64-bit identities that LLVM gives names, and the hashes of MIP files
// that derive from them.
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

// Canonical removes the suffixes that optimizers append to the name of a function that they
// promote or split: ".llvm." and ".part." with the component after it
// (sampleprof::FunctionSamples::getCanonicalFnName). It keeps ".__uniq.".
func Canonical(name string) string {
	for _, suffix := range []string{".llvm.", ".part."} {
		at := strings.LastIndex(name, suffix)
		if at >= 0 && strings.LastIndexByte(name, '.') == at+len(suffix)-1 {
			name = name[:at]
		}
	}
	return name
}
