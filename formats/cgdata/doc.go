// Package cgdata reads, merges and writes codegen data, which LLVM 20 to 22 make in one build for the next, to make programs
// smaller: indexed files (.cgdata), text, and the sections __llvm_outline and __llvm_merge of object files.
//
//	var m cgdata.Merger
//	err := cgdata.ReadObjects("a.o", data, "", func(o *cgdata.Object) error {
//		m.Add(o.Data)
//		return nil
//	})
//	…
//	err = m.Data().Write(w, false)
//
// [Data] has two parts. The tree has the sequences of instructions that the machine outliner moved into functions, as
// prefixes of stable hashes; the next build moves such a sequence already where it occurs once in a module. The functions
// occur in several modules and differ only in some operands; the next build merges them into one with parameters.
//
// # Agreement with LLVM
//
// [Data.Write] writes the bytes of llvm-cgdata 22, and [Merger.Data] trims functions as it does. LLVM's tool takes only
// objects for a merge; here merged files can be merged further.
//
// # Hostile input
//
// Errors are *[profile.FormatError]. Sizes in a file are checked against the bytes that are left before memory is
// allocated, and trees of any depth are read without recursion, up to 65536 levels.
package cgdata
