// Package mipcmd is what the commands know of Machine IR Profiles, and "profuse
// mip".
package mipcmd
