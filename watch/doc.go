// Package watch keeps the sum of the profiles that land in a folder: it merges
// each once it is complete, and then deletes it, archives it, or leaves it
// there and remembers it. It knows no format; what adds profiles up is a
// [Merge].
//
//	err := watch.Run(ctx, watch.Options{
//		Dir: "profiles", Output: "app.profdata", Merge: merge, Done: watch.Delete,
//	})
//
// [Run] tells what happens as an [Event] to [Options.Report] and returns when ctx
// is done. A file that cannot be merged is an event ([Refused]), and so is what
// is tried again ([Trouble]). Errors are about the options, the output
// ([errForeign], [ErrOutput]) and, with [Options.Once], files that were left out
// ([ErrRefused]). Memory is in proportion to the number of files that are
// remembered, besides what the Merge needs.
//
// # What is guaranteed
//
// Every state in which a file was left alone for [Options.Settle] counts once,
// also if the process is killed or the power fails at any moment:
//
//   - A file is deleted or moved only after the output that contains it has
//     reached the disk, and its folder has too.
//   - What the output contains stands in a journal beside it (see [journalOf]),
//     which names the output it belongs to by a hash. The journal is written
//     first, with the hashes of the output before and after, so that whichever
//     of the two a crash leaves behind, it says what is in it.
//
// A file that counted already is recognised by its path, size, time of
// modification and contents together; contents alone would not do, since two
// runs of one program often leave the same bytes, and both count. A file that
// was rewritten has another time and counts again. One that was renamed within
// the folder is recognised by its inode, where there are inodes. One with the
// same path, size, time and contents on another inode is the same: folders are
// copied, and not all file systems keep their numbers.
//
// This needs a file system that keeps what it was told to sync, and whose
// times are finer than Settle.
//
// What cannot be guaranteed: a program that rewrites its own file before the
// old contents were merged has discarded those itself. Files that accumulate
// (LLVM's %m pools) hold the counts of earlier states again, and should be
// merged when nobody writes to them any more. Between the last look at a file
// and its deletion are a few microseconds in which a program can open it.
package watch
