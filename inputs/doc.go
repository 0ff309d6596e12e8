// Package inputs opens the files that profiles come in: it finds them,
// decompresses them, and takes them out of archives.
//
// [Expand] turns the names of files and folders, patterns and "-" for standard
// input into a list of [Input]. [Input.Each] yields the bytes of an input: one
// [Data] for a file, compressed with gzip or zstd or not, and one for every
// member of a tar archive.
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
// # Reading or mapping
//
// Small files are read, into memory that the [Reader] uses again; large ones
// are mapped where the system can. A mapped file that another process cuts
// short faults when it is touched. [Input.Each] turns that into an error; who
// uses [Input.Open] must do so with [Guard].
//
// # Hostile input
//
// What a compressed file expands to is not known before it is expanded.
// Memory grows only as bytes arrive, for one profile at a time, up to 16 GiB, and
// up to 500 times the compressed bytes where it is more than 256 MiB.
// [Options.MaxSize] lowers the first limit. Containers within containers are
// opened four levels deep.
//
// Of the errors, those about contents are *[profile.FormatError]; those of the
// system are passed on as they are, usually a *[fs.PathError].
package inputs
