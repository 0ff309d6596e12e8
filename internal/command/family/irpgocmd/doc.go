// Package irpgocmd implements the commands' operations on IRPGO profiles, and on
// the heap profiles that share the indexed format, and "profuse salvage".
package irpgocmd
