package memlimit

import "os"

// machine returns the memory of the machine in bytes.
func machine() int64 { return meminfo(os.DirFS("/")) }
