// Package memprofcmd shows, checks and reads heap profiles (MemProf). Package irpgocmd merges them,
// because they share the indexed format with IRPGO profiles.
package memprofcmd
