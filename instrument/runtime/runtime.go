// Package runtime is the part of MIP instrumentation that runs in the
// instrumented program: a C source that the program's own compiler compiles,
// and that writes the raw profile when the program ends. Package driver
// compiles and links it; a build without the driver does so with
//
//	cc -Os -fPIC -c src/runtime.c
//
// One copy belongs into every linked image, program or library, that has
// instrumented code.
package runtime

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
)

//go:embed src/runtime.c
var source []byte

// NoDump is the macro to define for a runtime that writes profiles only when
// the program calls __llvm_dump_mip_profile or
// __llvm_dump_mip_profile_with_filename.
const NoDump = "PROFUSE_MIP_NO_DUMP"

// Source returns the runtime, a file of GNU C99 for ELF systems and macOS.
func Source() []byte { return bytes.Clone(source) }

// Hash returns the SHA-256 of the source in hexadecimal digits, to tell
// compiled copies of different versions apart.
func Hash() string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}
