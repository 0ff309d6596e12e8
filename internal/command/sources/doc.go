// Package sources finds the files and programs that a command line names.
package sources
