// Package export writes profiles of any format, through their neutral view, in the formats that other tools read.
//
//	losses, err := export.Write(w, "pprof", p.View(name, nil), export.Options{})
//
// Most formats cannot hold everything. [Write] returns what a file lacks, or represents in an unusual way, in
// words for the user. docs/export.md has a table of what each format lacks, and the schema of the JSON formats.
//
// # Errors
//
// [Write] returns the errors of the writer, and an error if the profile or the format does not support
// an option. It writes nothing if an option is unsupported.
//
// # Memory
//
// Folded, speedscope, JSON, NDJSON and CSV stream the view and hold only its names in memory. Callgrind holds the
// sums per line and call. pprof holds every stack, because its library writes whole profiles.
//
// # Names
//
// Functions have their names for linkers or the virtual machine, demangled on request, or
// their ID if they have no name.
package export
