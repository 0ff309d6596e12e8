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
// Small files are read into buffers that the [Reader] reuses; large ones are mapped
// into memory where the system supports it. Access to a mapped file that another
// process has truncated faults. [Input.Each] turns the fault into an error; callers
// of [Input.Open] use [Guard] for that.
//
// # Hostile input
//
// The size of a compressed file is unknown until it is decompressed. Memory grows
// only as bytes arrive, for one profile at a time, up to 16 GiB, and above 256 MiB
// up to 500 times the compressed bytes. [Options.MaxSize] sets the first limit.
// Containers within containers are opened four levels deep.
//
// Errors about contents are *[profile.FormatError]; errors of the system are
// returned unchanged, usually a *[fs.PathError].
package inputs
