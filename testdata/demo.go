// Package testdata carries the real profiles that "profuse demo" works on, so
// that it runs from the binary alone.
package testdata

import "embed"

// Demo holds the raw profiles of three runs of one program, built by clang 22
// with -fprofile-generate, and the program's sources.
//
//go:embed irpgo/clang22/ir-run1.profraw irpgo/clang22/ir-run2.profraw irpgo/clang22/ir-run3.profraw
//go:embed irpgo/src/store.c irpgo/src/store.h irpgo/src/main.c irpgo/src/report.cpp
var Demo embed.FS

// The paths of the files in [Demo].
var (
	DemoRuns = []string{
		"irpgo/clang22/ir-run1.profraw",
		"irpgo/clang22/ir-run2.profraw",
		"irpgo/clang22/ir-run3.profraw",
	}
	DemoSources = []string{
		"irpgo/src/store.c",
		"irpgo/src/store.h",
		"irpgo/src/main.c",
		"irpgo/src/report.cpp",
	}
)
