package memprof

// Temperature is how an allocation context is used, as compilers see it
// (llvm::AllocationType).
type Temperature int

const (
	// Warm blocks are neither cold nor hot; compilers call them "notcold".
	Warm Temperature = iota
	// Cold blocks live long and are rarely accessed.
	Cold
	// Hot blocks are accessed often.
	Hot
)

// String returns "warm", "cold" or "hot".
func (t Temperature) String() string {
	switch t {
	case Cold:
		return "cold"
	case Hot:
		return "hot"
	}
	return "warm"
}

// Thresholds classify contexts by averages over their blocks.
type Thresholds struct {
	// ColdAccessDensity is the accesses per byte and second of lifetime below
	// which blocks are cold (-memprof-lifetime-access-density-cold-threshold).
	ColdAccessDensity float32
	// ColdLifetime is the least lifetime of cold blocks, in seconds
	// (-memprof-ave-lifetime-cold-threshold).
	ColdLifetime uint32
	// HotAccessDensity is the accesses per byte and second of lifetime above
	// which blocks are hot
	// (-memprof-min-ave-lifetime-access-density-hot-threshold).
	HotAccessDensity uint32
	// UseHot distinguishes hot contexts from warm ones, as clang 17 to 19 do, and
	// later releases with -memprof-use-hot-hints.
	UseHot bool
}

// DefaultThresholds are those of clang 20 to 22.
var DefaultThresholds = Thresholds{ColdAccessDensity: 0.05, ColdLifetime: 200, HotAccessDensity: 1000}

// Classify returns the temperature of a context (memprof::getAllocType), computed in
// single precision like the compiler. Unknown fields count as zero, as in files; a
// context without allocations is not cold.
func (t Thresholds) Classify(m *MIB) Temperature {
	density := float32(float32(m.TotalLifetimeAccessDensity)/float32(m.AllocCount)) / 100
	switch lifetime := float32(m.TotalLifetime) / float32(m.AllocCount); {
	case density < t.ColdAccessDensity && lifetime >= float32(t.ColdLifetime)*1000:
		return Cold
	case t.UseHot && density > float32(t.HotAccessDensity):
		return Hot
	}
	return Warm
}
