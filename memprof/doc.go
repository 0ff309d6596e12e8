// Package memprof reads, merges and writes LLVM MemProf heap profiles.
package memprof
