package memlimit

import "os"

func machine() int64 { return meminfo(os.DirFS("/")) }
