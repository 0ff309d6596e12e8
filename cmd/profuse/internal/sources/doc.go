// Package sources finds out what the files are that a command line names.
package sources
