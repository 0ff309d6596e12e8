// Package memprofcmd shows, checks and reads heap profiles (MemProf). They are
// merged with the others of LLVM, by irpgocmd.
package memprofcmd
