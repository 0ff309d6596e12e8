// Package ctxprof reads, merges and writes contextual profiles, which LLVM 22 uses in the thin link and in its
// pre-inliner: binary files (.ctxprof) and YAML.
//
//	p, err := ctxprof.Read("run.ctxprof", data, nil)
//	…
//	for _, root := range p.Roots {
//		fmt.Println(p.Names[root.GUID], root.Total)
//	}
//
// A contextual profile has the counters of a function once for each call path that leads to the function from a root, such
// as the entry of a request. Functions have no names in the files, only the low half of the MD5 of their names, the
// GUID; callers may fill [Profile.Names].
//
// # Agreement with LLVM
//
// [Profile.Write] writes the bytes of llvm-ctxprof-util 22, binary as with its option --ctx-prof-include-empty and YAML
// as its command toYAML. [Read] also takes what LLVM refuses or passes over: it adds up the profiles of concatenated files,
// and functions that occur twice at one place, and warns of both.
//
// # Hostile input
//
// Errors are *[profile.FormatError]. Sizes in a file are checked against the bytes that are left before memory is
// allocated. Contexts nest at most 16384 deep, more than LLVM's reader survives.
package ctxprof
