// Package mipcmd implements the commands' operations on Machine IR Profiles, and "profuse mip".
package mipcmd
