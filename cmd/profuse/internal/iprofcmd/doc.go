// Package iprofcmd is what the commands know of profiles of GraalVM native images,
// and "profuse iprof".
package iprofcmd
