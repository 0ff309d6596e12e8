// Package sampleprof reads, merges and writes LLVM's sample profiles, which AutoFDO and
// CSSPGO collect by sampling a running program, and which clang -fprofile-sample-use reads.
//
// [Read] reads all five encodings: text, binary, extensible binary, the compact binary of
// LLVM 8 to 16, and the gcov format for GCC. A [Profile] is independent of the encoding.
// [Profile.Write] writes the first three encodings, with the bytes of llvm-profdata 22. A [Merger]
// adds profiles up:
//
//	m := sampleprof.NewMerger(sampleprof.MergeOptions{})
//	for _, name := range names {
//		data, err := os.ReadFile(name)
//		...
//		_, err = m.AddFile(name, data, sampleprof.ReaderOptions{}, 1)
//		...
//	}
//	err := m.Finish().Write(w, sampleprof.WriteOptions{})
//
// With [WriteOptions.Partial], [Merged.Write] writes partial sums: however inputs are grouped into
// them, the sum of the partial sums is the sum of all inputs.
//
// [Profile.Convert] changes contexts and inlining.
//
// # Limits
//
// Functions may be inlined 1,000 levels deep, and contexts may have 1,000 frames. The compressed
// sections of a file together inflate to at most 8 MiB, or twenty times the file size up to 32 MiB,
// or six times the file size, whichever is greatest. Format versions other than 103 are refused.
package sampleprof
