// Command profuse merges, shows and converts compiler profiles.
//
// When it is started as llvm-profdata, llvm-cov or llvm-mipdata, it takes the command line of that tool.
package main

import "github.com/profuse-pgo/profuse/internal/command"

func main() { command.Main(nil) }
