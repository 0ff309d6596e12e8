//go:build !linux || !amd64

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "pages: only for Linux on x86_64")
	os.Exit(1)
}
