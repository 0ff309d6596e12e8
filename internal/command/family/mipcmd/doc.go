// Package mipcmd implements "profuse mip", and what the commands for all formats do with
// Machine IR Profiles.
package mipcmd
