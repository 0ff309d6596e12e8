// Package covmap reads LLVM's coverage mapping and evaluates profiles on it.
//
// Programs built with -fprofile-instr-generate -fcoverage-mapping, or by rustc with -C instrument-coverage, hold a
// mapping from counters to regions of the sources. [Read] finds it in programs, libraries, objects and archives,
// and [Evaluate] joins it with a profile:
//
//	maps, err := covmap.Read(path, data, covmap.Options{})
//	cov, err := covmap.Evaluate(maps, profile, covmap.EvaluateOptions{})
//	for _, name := range cov.Files() {
//		file := cov.File(name)
//		…
//	}
//
// # Versions
//
// The package reads mappings of the versions 1 to 7, which LLVM 3.5 to 22 write.
// The model does not depend on the version.
//
// # Hostile input
//
// Errors about the bytes are *[profile.FormatError]. No mapping makes the package
// panic, loop or take memory out of proportion to the file. A [Mapping] has a copy
// of the bytes that it needs, so the file may be closed or truncated afterwards.
package covmap
