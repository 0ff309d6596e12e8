// Package console writes the output of commands: tables and names for people, JSON for programs,
// errors for both, and result files.
package console
