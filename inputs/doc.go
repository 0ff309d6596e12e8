// Package inputs opens the files that profiles come in: it finds them,
// decompresses them, and takes them out of archives.
//
// [Expand] turns the names of files and folders, patterns and "-" for standard input into a list of [Input].
// [Input.Each] yields the bytes of an input: one [Data] for a file, compressed with gzip or zstd or not, and one
// for every member of a tar archive.
//
//	ins, err := inputs.Expand(args, inputs.Options{})
//	…
//	var r inputs.Reader // one per goroutine
//	defer r.Close()
//	for _, in := range ins {
//		err := in.Each(&r, func(d *inputs.Data) error {
//			return decode(d.Name(), d.Bytes(), in.Weight)
//		})
//	}
//
// # Reading
//
// Files are read, not mapped: what another process does to a file cannot change the bytes of a [Data]. A [Reader]
// reuses its buffers. Buffers of 1 MiB and more lie outside of Go's heap, so a profile takes as much memory as its
// file. Package internal/object maps programs.
//
// # Files that are being written
//
// Programs write their profiles when they end; LLVM's runtime ("%m") writes over and over into
// the same file, which keeps its size. The bytes read must be the contents of the file at one
// moment. The package makes sure of two things:
//
//   - The size and the times (mtime, ctime) of the file are the same before and after it
//     was read. They show every write in between if the clock has ticked since the last
//     change before the file is read. If it has not, the package waits up to 10 ms.
//   - Nobody is in the middle of writing it. A file written less than 2 s ago is
//     read under the lock that LLVM's runtime takes (fcntl; Linux only), and once
//     no process has it open for writing (Linux, own files). The package waits for the lock
//     for 10 s, and for other writers for 3 s. A writer that keeps a file open but pauses for
//     2 s counts as finished.
//
// A file that changed is read again, three times in all. If it changes each time, the error
// says that the file changed while it was read. Its class is [profile.Unreadable], or
// [profile.ErrTruncated] if the file is shorter now.
//
// Older files are not locked; they cost only the second look at their times. Files on other machines are never
// locked, because a request for a lock may block. The package does not notice writes through a mapping (a program
// with continuous counters, "%c", whose profile changes all the time), a writer that sets mtime and ctime back, and
// a writer that does not lock the file, cannot be seen to have it open, and pauses between two writes. Times of FAT
// and exFAT, which are multiples of 2 s and 10 ms, hide a write within such an interval: nobody keeps the pool of a
// running program on such a disk.
//
// # Hostile input
//
// The size of a compressed file or a pipe is unknown until it is read. Memory grows only as bytes arrive, for one
// profile at a time. Without [Options.MaxSize] the limits are
//
//   - 16 GiB, half of the memory limit of the process ([debug.SetMemoryLimit]), and what
//     [Options.Recognize] says about the format, whichever is least;
//   - decompressed: 128 MiB or 1/32 of what Recognize says, but 20 times all
//     compressed bytes read if that is more;
//   - all members of a compressed archive: 2 GiB, or 100 times the compressed bytes;
//   - 256 MiB of zeros in a row.
//
// Containers within containers are opened four levels deep.
//
// Errors about contents are *[profile.FormatError]; errors of the system are
// returned unchanged, usually a *[fs.PathError].
package inputs
