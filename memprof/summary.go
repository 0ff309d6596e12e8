package memprof

// Summary counts the contexts of a profile by their temperature
// (memprof::MemProfSummary).
type Summary struct {
	NumContexts     uint64
	NumColdContexts uint64
	NumHotContexts  uint64
	// The largest TotalSize, in bytes, of the contexts of each temperature.
	MaxColdTotalSize uint64
	MaxWarmTotalSize uint64
	MaxHotTotalSize  uint64
}
