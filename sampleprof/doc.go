// Package sampleprof reads, merges and writes LLVM's sample profiles: AutoFDO and CSSPGO
// profiles, which clang -fprofile-sample-use takes.
package sampleprof
