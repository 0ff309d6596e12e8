package memprof

// Thresholds classify contexts by averages over their blocks.
type Thresholds struct {
	// ColdAccessDensity is the accesses per byte and second of lifetime below
	// which blocks are cold (-memprof-lifetime-access-density-cold-threshold).
	ColdAccessDensity float32
	// ColdLifetime is the least lifetime of cold blocks, in seconds (-memprof-ave-lifetime-cold-threshold).
	ColdLifetime uint32
	// HotAccessDensity is the accesses per byte and second of lifetime above which blocks are hot
	// (-memprof-min-ave-lifetime-access-density-hot-threshold).
	HotAccessDensity uint32
	// UseHot tells hot contexts from other contexts that are not cold. Clang 17 to 19
	// always do so, later releases with -memprof-use-hot-hints.
	UseHot bool
}

// DefaultThresholds are the default limits of clang 20 to 22.
var DefaultThresholds = Thresholds{ColdAccessDensity: 0.05, ColdLifetime: 200, HotAccessDensity: 1000}

// Compilers' words for the temperature of a context (llvm::AllocationType).
const (
	notCold = "notcold"
	cold    = "cold" // long-lived and rarely accessed
	hot     = "hot"
)

// Classify returns the temperature of a context in the compiler's word: "notcold", "cold"
// or "hot" (memprof::getAllocType). It computes in single precision, like the compiler.
// Unknown fields count as zero, as in files; a context without allocations is not cold.
func (t Thresholds) Classify(m *MIB) string {
	density := float32(float32(m.TotalLifetimeAccessDensity)/float32(m.AllocCount)) / 100
	switch lifetime := float32(m.TotalLifetime) / float32(m.AllocCount); {
	case density < t.ColdAccessDensity && lifetime >= float32(t.ColdLifetime)*1000:
		return cold
	case t.UseHot && density > float32(t.HotAccessDensity):
		return hot
	}
	return notCold
}
