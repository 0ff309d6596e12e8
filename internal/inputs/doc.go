// Package inputs is everything between the words of a command line and the
// bytes of profiles.
//
// [ExpandResponse] replaces @file arguments; [Expand] turns the rest, files,
// folders, patterns and "-", into a list of [Input]; and [Input.Each] yields
// the bytes of each: one [Data] for a file, compressed or not, and one for
// every member of a tar archive.
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
// up to 500 times the compressed bytes where it is more than 256 MiB. Containers
// within containers are opened four levels deep.
//
// Of the errors, those about contents are *[profile.FormatError]; those of the
// system are passed on as they are, usually a *[fs.PathError].
package inputs
