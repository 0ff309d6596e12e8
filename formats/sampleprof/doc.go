// Package sampleprof reads, merges and writes LLVM's sample profiles, which AutoFDO and
// CSSPGO collect by sampling a running program, and which clang -fprofile-sample-use reads.
//
// [Read] reads all five encodings: text, binary, extensible binary, the compact binary of
// LLVM 8 to 16, and the gcov format for GCC. A [Profile] is free of encodings;
// [Profile.Write] writes the first three, with the bytes of llvm-profdata 22. A [Merger] adds profiles up:
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
// [Merged.WritePartial] writes sums that can be added up later, in any tree, as if all profiles had been
// added at once.
//
// [Profile.Flatten], [Profile.Nest] and [Profile.TrimColdContexts] change the contexts
// and inlined functions of a profile.
//
// # Limits
//
// Functions may be inlined into each other 1,000 levels deep, and contexts have at most as
// many frames. Compressed sections inflate to at most
// 8 MiB together, or twenty times the size of the file up to 32 MiB, or six times its size.
// Format versions other than 103 are refused.
package sampleprof
