package formats

import (
	"fmt"

	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/memprof"
	"github.com/profuse-pgo/profuse/mip"
)

// Versions says in words which versions of the format are read and which are
// written: "1 to 13". A format that is never written has "" for that, one
// without version numbers "all".
func (f Format) Versions() (read, written string) {
	const all = "all"
	span := func(first, last int) string { return fmt.Sprintf("%d to %d", first, last) }
	switch f {
	case IRPGORaw:
		return span(1, irpgo.RawVersionMax), ""
	case IRPGOIndexed:
		heap := ", heap profiles in them " + span(0, memprof.IndexedVersionMax)
		return span(1, irpgo.IndexedVersionMax) + heap, span(irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax) + heap
	case MemProfRaw:
		return span(memprof.RawVersionMin, memprof.RawVersionMax), ""
	case IRPGOText, MemProfYAML, MIPYAML:
		return all, all
	case MIPRaw, MIPRet, MIPMap, Binary:
		return fmt.Sprintf("up to %d", mip.VersionMax), ""
	case MIPProfile:
		return fmt.Sprintf("up to %d", mip.VersionMax), fmt.Sprint(mip.VersionMax)
	case IprofProfile:
		return "0 and 1", "0.4 to 1.1"
	}
	return "", ""
}
