//go:build !linux

package watch

// hasWriter reports that it does not know.
func hasWriter(string) (yes, known bool) { return false, false }
