// Package export writes profiles of any format, through their neutral view, in
// the formats that other tools read.
//
//	losses, err := export.Write(w, export.Pprof, p.View(name, irpgo.ViewOptions{}), export.Options{})
//
// No format holds everything. What was left out, or stands for something else
// than usual, [Write] returns, in words for the user; [Format.limits] says it
// in general. docs/export.md has both as a table, and the schema of the JSON
// formats.
//
// # Errors
//
// Errors are those of the writer, and of options that the profile or the format
// does not have. The latter are found before anything is written.
//
// # Memory
//
// Folded, speedscope, JSON, NDJSON and CSV go through the view and hold no more
// than its names. Callgrind needs the sums per place and call, and pprof, whose
// library takes whole profiles, every stack.
//
// # Names
//
// Functions are displayed by the names that linkers or the virtual machine
// know them by, demangled if asked for, or by their ID where nothing else is
// known.
package export
