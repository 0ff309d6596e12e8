// Package guid computes the 64-bit identity that LLVM gives a name.
package guid

import (
	"crypto/md5"
	"encoding/binary"
)

// Of returns the first eight bytes of the MD5 of a name, read as little-endian
// (llvm::MD5Hash, which gives GUIDs and the name references of profiles).
func Of(name string) uint64 {
	var memory [256]byte // converting a longer name allocates
	sum := md5.Sum(append(memory[:0], name...))
	return binary.LittleEndian.Uint64(sum[:8])
}
