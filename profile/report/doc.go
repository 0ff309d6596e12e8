// Package report writes one HTML file that shows a profile of any format: its
// totals, its functions, and whatever else the profile has.
//
//	err := report.Write(w, []report.Source{{View: v}}, report.Options{})
//
// The file needs no other file and no network, and its security policy forbids all
// other scripts. Where scripts do not run, as in the preview of a mail or on a server whose policy
// forbids them, the page shows short tables, which this package makes. The scripts in assets/ replace
// the tables with tables and drawings that a reader can search, sort and zoom. Without scripts, the flame
// graph and the treemap are indented tables. This package draws plots, and scripts make them interactive.
//
// # How a page is made
//
// A page is one tab. A function makes it from the view of a profile, or returns nil if the profile has no data for
// it; report.go lists these functions. The page ID consists of
//
//   - assets/ID.tmpl, the page without scripts,
//   - assets/ID.js, its script, if it has one,
//   - assets/ID.css, rules that only this page needs, if any,
//   - data for the script, marshalled to JSON, see data.go.
//
// # Errors and limits
//
// [Write] returns the errors of the writer and of Options.Progress, and an error if there are no profiles.
//
// A list without scripts has at most 200 rows. The data of a page omits what no screen could show, and the page
// says so. Memory is proportional to the functions and names of the profile.
package report
