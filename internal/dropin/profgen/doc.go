// Package profgen stands in for llvm-profgen of LLVM 22: it makes sample profiles of unsymbolized profiles and programs, with
// the same bytes, messages and exit codes. It refuses what it does not make: profiles with contexts or pseudo probes.
package profgen
