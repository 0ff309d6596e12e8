// Package console writes what commands have to say: tables and names for people,
// JSON for programs, errors for both, and the files of results.
package console
