package covmap

import "cmp"

// A Mapping is the coverage mapping of one program, library or object file: what
// the counters of its profiles mean in the sources.
type Mapping struct {
	Name    string // the file as opened; for a member of an archive "lib.a(member.o)"
	Arch    string // of a slice of a universal file with several; "" for other files
	BuildID []byte // GNU build id or LC_UUID; nil without one
	// Records are the functions in the order of the file. One name may occur several times: a function in a header
	// is compiled into every object that includes it.
	Records []Record
	LeftOut []Mismatch // damaged records
}

// A Record maps one function (LLVM's CoverageMappingRecord).
type Record struct {
	Name string // as profiles have it; "file.c:f" for a static function
	Ref  uint64 // irpgo.NameRef(Name)
	Hash uint64 // of the control flow, as in profiles; 0 for a function that was never emitted

	list    *fileList
	mapping []byte
	at      int64 // file offset of mapping
}

// A fileList is the list of file names of one translation unit.
type fileList struct {
	version int // of the mappings that refer to it, from 1
	names   []string
}

// A Kind is the purpose of a region. The values are the numbers in llvm-cov's JSON.
type Kind uint8

// Kinds of regions. Upstream they are called CodeRegion, ExpansionRegion and so on.
const (
	Code       Kind = iota // code that runs as often as a counter says
	Expansion              // a macro or an include, which has a virtual file of its own
	Skipped                // text that the preprocessor left out
	Gap                    // text between statements; it has a counter but no code
	Branch                 // a condition with two outcomes
	Decision               // a boolean expression whose conditions MC/DC looks at
	MCDCBranch             // a condition of a Decision
)

// A Position is a line and a column of a source file, both from 1. The column of
// the end of a whole line is 2^32-1.
type Position struct{ Line, Column uint32 }

func (p Position) key() uint64 { return uint64(p.Line)<<32 | uint64(p.Column) }

func (p Position) before(q Position) bool { return p.key() < q.key() }

func comparePositions(a, b Position) int { return cmp.Compare(a.key(), b.key()) }

// A counter is an encoded reference to a counter or an expression of a function: the two low bits
// are its kind, the other bits the number of the counter or expression.
type counter uint32

// Kinds of counters.
const (
	zeroCounter = iota
	counterNumber
	subtraction
	addition
)

func (c counter) constant() bool { return c&3 == zeroCounter }

// A region is a range of a source file with the counter that counts it.
type region struct {
	Start, End Position
	Count      counter // for branches: of the true outcome
	False      counter // of the false outcome of a branch
	File       uint32  // virtual file that the region is in, see [body]
	Expanded   uint32  // virtual file that an Expansion stands for

	// Bits and Conditions describe a Decision: the bits of its test vectors end
	// before bit number Bits of the function's bitmap.
	Bits       int32
	Conditions int16
	// ID numbers an MCDCBranch in its decision. NextTrue and NextFalse are the IDs of the conditions
	// that are evaluated next, -1 if the decision ends.
	ID, NextTrue, NextFalse int16

	Kind Kind
}

type expression struct {
	Left, Right counter
	Add         bool // otherwise Right is subtracted
}
