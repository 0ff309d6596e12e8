// Package iprofcmd implements the commands' operations on profiles of GraalVM native images, and "profuse iprof".
package iprofcmd
