//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

// ignoreFileSizeSignal is for systems that have it.
func ignoreFileSizeSignal() {}
