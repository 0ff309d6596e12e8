// Package memprofcmd shows, checks and reads heap profiles (MemProf). Package irpgocmd
// merges them with the other profiles of LLVM.
package memprofcmd
