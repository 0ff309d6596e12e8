// Package watch merges the profiles that arrive in a folder into one output. It merges each profile once it is
// complete, and then deletes it, archives it, or leaves it in place and remembers it. The package is independent of
// formats: a [Merge] merges the profiles.
//
//	err := watch.Run(ctx, watch.Options{
//		Dir: "profiles", Output: "app.profdata", Merge: merge, Delete: true,
//	})
//
// [Run] reports progress as [Event] values to [Options.Report] and returns when ctx is
// done. A file that cannot be merged is an event ([Refused]), and so is a failure that
// Run will retry ([Trouble]). Errors concern the options, the output (one of another
// origin, or [ErrOutput]) and, with [Options.Once], refused files ([ErrRefused]). Apart
// from the Merge, memory is proportional to the number of remembered files.
//
// # Guarantees
//
// Every version of a file that stays unchanged for [Options.Settle] counts exactly once,
// even if the process is killed or the power fails at any moment:
//
//   - Run deletes or moves a file only after the output that contains it, and the
//     entry of the output in its folder, are on disk.
//   - A journal beside the output, OUTPUT.watch, lists the files in it and identifies
//     the output by a hash. Run writes the journal first, with the hashes of the old
//     and the new output, so after a crash it describes whichever of the two is there.
//
// Run recognizes a file that has counted by path, size, modification time and contents together. Contents alone are
// not enough, because two runs of one program often write the same bytes, and both count. A rewritten file has
// another time and counts again. A file that was renamed within the folder is recognized by its inode, on systems
// with inodes. A file with the same path, size, time and contents but another inode is the same file, because
// folders are copied and some file systems change inode numbers.
//
// This requires a file system that honours sync and whose timestamps are finer than Settle.
//
// Not guaranteed: a program that rewrites its own file before the old contents were merged loses them. Files that
// accumulate counts (LLVM's %m pools) contain the counts of earlier versions again; merge them when no process
// writes to them any more. Between the last check of a file and its deletion a program has a few microseconds in
// which it could open the file.
package watch
