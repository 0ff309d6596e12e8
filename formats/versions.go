package formats

import (
	"fmt"

	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/formats/memprof"
	"github.com/profuse-pgo/profuse/formats/mip"
)

// sampleVersion is the one version of the binary sample profiles of all releases since
// LLVM 3.9.
const sampleVersion = "103"

// Versions returns the versions of the format that are read and those that are written,
// in words: "1 to 13". written is "" for a format that is never written; a format without
// version numbers has "all".
func (f Format) Versions() (read, written string) {
	const all = "all"
	span := func(first, last int) string { return fmt.Sprintf("%d to %d", first, last) }
	switch f {
	case IRPGORaw:
		return span(1, irpgo.RawVersionMax), ""
	case IRPGOIndexed:
		heap := ", heap profiles in them " + span(0, memprof.SectionVersionMax)
		return span(1, irpgo.IndexedVersionMax) + heap, span(irpgo.IndexedVersionMinWritten, irpgo.IndexedVersionMax) + heap
	case IRPGOPartial:
		return "1", "1"
	case MemProfRaw:
		return span(1, memprof.RawVersionMax), ""
	case IRPGOText, MemProfYAML, MIPYAML:
		return all, all
	case MIPRaw, MIPRet, MIPMap, Binary:
		return fmt.Sprintf("up to %d", mip.VersionMax), ""
	case MIPProfile:
		return fmt.Sprintf("up to %d", mip.VersionMax), fmt.Sprint(mip.VersionMax)
	case IprofProfile:
		return "0 and 1", "0.4 to 1.1"
	case SampleText:
		return all, all
	case SampleBinary, SampleExtended:
		return sampleVersion, sampleVersion
	case SampleCompact:
		return sampleVersion, ""
	case SampleGCov:
		return "704", ""
	}
	return "", ""
}
