// Package runtime is the part of MIP instrumentation that runs in the
// instrumented program: a C source that the program's own compiler compiles,
// and that writes the raw profile when the program ends. Package driver
// compiles and links it; a build without the driver writes [Source] to a file
// and does so with
//
//	cc -Os -fPIC -c runtime.c
//
// One copy belongs into every linked image, program or library, that has
// instrumented code.
package runtime

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"slices"
)

//go:embed src/runtime.c
var base []byte

//go:embed src/callgraph.c
var callGraph []byte

//go:embed src/arm.c
var armHelpers []byte

// source is one translation unit: the parts share what is static.
var source = slices.Concat(base, callGraph, armHelpers)

// NoDump is the macro to define for a runtime that writes profiles only when
// the program calls __llvm_dump_mip_profile or
// __llvm_dump_mip_profile_with_filename.
const NoDump = "PROFUSE_MIP_NO_DUMP"

// RuntimeBuffer is the macro to define, as a number of bytes, for a runtime that
// records call edges: programs instrumented with mip.ReturnAddress need it. An
// edge takes 12 bytes.
const RuntimeBuffer = "PROFUSE_MIP_RUNTIME_BUFFER"

// Source returns the runtime, a file of GNU C99 for ELF systems and macOS.
func Source() []byte { return bytes.Clone(source) }

// Hash returns the SHA-256 of the source in hexadecimal digits, to tell
// compiled copies of different versions apart.
func Hash() string {
	sum := sha256.Sum256(source)
	return hex.EncodeToString(sum[:])
}
