// Package irpgocmd is what the commands know of IRPGO profiles, and of the heap
// profiles that share their indexed format; and "profuse salvage".
package irpgocmd
