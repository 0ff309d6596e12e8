package memlimit

import (
	"math"
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                      uint32
	total, available                                  uint64 // memory of the machine
	totalPageFile, availablePageFile                  uint64
	totalVirtual, availableVirtual, availableExtended uint64
}

// machine returns the memory of the machine in bytes.
func machine() int64 {
	var s memoryStatus
	s.length = uint32(unsafe.Sizeof(s))
	ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s)))
	if ok == 0 || s.total == 0 || s.total > math.MaxInt64 {
		return none
	}
	return int64(s.total)
}

func process() int64 { return none }
