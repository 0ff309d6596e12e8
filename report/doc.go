// Package report writes one HTML file in which a profile of any format can be
// looked at: its totals, its functions, and whatever else the profile has.
//
//	err := report.Write(w, []report.Source{{View: v}}, report.Options{})
//
// The file needs nothing beside it and no network, and its security policy
// forbids every other script. What matters can be read without scripts: short
// tables and drawings, which are made here. The scripts of assets/ replace them
// by what can be searched, sorted and zoomed.
//
// # How a page is made
//
// A page is one tab. A function makes it of a profile's view, or says that the
// profile has nothing to show there; report.go lists these functions. A page
// called ID consists of
//
//   - assets/ID.tmpl, what is read without scripts,
//   - assets/ID.js, which takes over, if the page has a script,
//   - assets/ID.css, rules that only this page needs, if any,
//   - data for the script, marshalled to JSON, see data.go.
//
// # Errors and limits
//
// Errors are those of the writer, of Options.Progress, and of no profile to
// show.
//
// A static list has at most 200 rows. Pages leave out of their data what no
// screen could show, and say so. Memory is in proportion to the profile's
// functions and names.
package report
