//go:build !linux

package watch

// hasWriter cannot tell here.
func hasWriter(string) (yes, known bool) { return false, false }
