// Package perfdata reads recordings of Linux perf: perf.data, as a file or from a pipe, compressed or not, of either
// byte order; and the text that "perf script" prints of one, as llvm-profgen's --perfscript takes it.
//
// [Read] passes the records to a [Handler], in the order in which perf processes them, and returns the [Facts] of the
// recording. It reads once from front to back, and its memory does not grow with the number of samples.
//
//	facts, err := perfdata.Read(name, data, &perfdata.Handler{
//		Sample: func(s *perfdata.Sample) error {
//			for _, b := range s.Branches {
//				…
//			}
//			return nil
//		},
//	}, perfdata.Options{})
//
// # Hostile input
//
// Every size in the file is compared with the bytes left before it is used. A recording that was cut short is read as
// far as it goes; Facts.Cut says where it ends. Other faults are errors, a *[profile.FormatError] with the offset and
// the number of the record. Compressed data may have 1,000 times their size, or 4 GiB if that is more.
package perfdata

import (
	"github.com/profuse-pgo/profuse/profile"
)

// A Format is a form of recordings.
type Format int

// The forms of recordings.
const (
	FormatFile   Format = iota + 1 // perf.data, as perf record writes it to a file
	FormatPipe                     // perf.data, as perf record writes it to a pipe
	FormatScript                   // the text of perf script
)

// A Handler receives the records of a recording. A nil function receives nothing. What the pointers refer to is
// valid until the function returns, except strings. An error ends the reading, and Read returns it as it is.
type Handler struct {
	// Begin is called before the first record, with what is known by then: of a file all but the sums, of a pipe little.
	// Reading goes on to fill the facts.
	Begin   func(*Facts) error
	Sample  func(*Sample) error
	Mapping func(*Mapping) error
	Command func(*Command) error
	Fork    func(*Task) error
	Exit    func(*Task) error
	Lost    func(*Lost) error
}

// A Sample is one sample.
type Sample struct {
	PID, TID int32  // -1 if unknown
	Time     uint64 // nanoseconds of the clock of the recording; 0 if unknown
	IP       uint64
	Event    int    // index in Facts.Events
	Period   uint64 // events that the sample stands for; 0 if unknown
	Count    uint64 // equal samples that this one stands for; 1 except in aggregated text
	Mode     uint8  // what ran: 1 the kernel, 2 the program, 3 a hypervisor, 4 and 5 kernel and program of a guest
	// Branches are the last taken branches, the newest first.
	Branches []Branch
	// Chain is the call chain: the address of the sample, then return addresses, the innermost first. It may have
	// markers, see [IsMarker].
	Chain []uint64
}

// A Branch is a branch that was taken. The bits of Flags are the bits of little-endian files in files of both byte
// orders (perf_branch_entry): 0 mispredicted, 1 predicted, 2 in a transaction, 3 aborted it, 4–19 cycles since the
// branch before, 20–23 type, 24–25 speculation, 26–29 further types, 30–32 privilege.
type Branch struct {
	From, To, Flags uint64
}

// IsMarker reports whether an entry of a call chain is no address but says that the following addresses are of the
// kernel, of the user, or of a guest (PERF_CONTEXT_KERNEL and others).
func IsMarker(entry uint64) bool { return entry >= 0xffff_ffff_ffff_f001 }

// A Mapping is a part of a file that was mapped into the memory of a process (MMAP, MMAP2).
type Mapping struct {
	PID, TID          int32 // PID -1: the kernel
	Time              uint64
	Addr, Len, Offset uint64
	// Exec reports whether code may run in it, as far as the record tells.
	Exec    bool
	BuildID []byte // of the record; nil if it has none. Facts.BuildIDs may have one.
	File    string

	// The rest is for printing, and 0 in records without it (MMAP, or MMAP2 with a build id).
	Old          bool // a MMAP record, without protection
	Prot, Flags  uint32
	Major, Minor uint32
	Inode        uint64
	Generation   uint64
}

// A Command is the name that a thread has taken (COMM).
type Command struct {
	PID, TID int32
	Time     uint64
	Name     string
	// Exec reports whether the process has executed another program, which drops its mappings.
	Exec bool
}

// A Task is a thread that began or ended (FORK, EXIT). A new process (PID != Parent) has the mappings of its parent.
type Task struct {
	PID, TID, Parent, ParentTID int32
	Time                        uint64
}

// Lost says that the kernel, whose buffer was full, dropped records (LOST) or samples (LOST_SAMPLES).
type Lost struct {
	Event   int // index in Facts.Events
	Count   uint64
	Samples bool // all are samples
	Time    uint64
}

// Facts are what is known of a recording.
type Facts struct {
	Format     Format
	BigEndian  bool
	Compressed bool // at least one record is compressed
	Directory  bool // it is one of the files of a recording by several threads

	Events   []Event
	BuildIDs []BuildID // of the header

	Host, Release, PerfVersion, Arch, CPU string // "" if unknown
	CommandLine                           []string

	Records     int // of all types, also in compressed data; lines of text
	Samples     uint64
	Branched    uint64 // samples with branches
	Chained     uint64 // samples with a call chain that has an address
	Branches    uint64
	Mappings    int
	First, Last uint64 // times of the first and the last sample; 0 if unknown

	LostRecords uint64
	LostSamples uint64
	UnknownIDs  uint64 // samples of an event that the recording does not describe
	Late        uint64 // records that came after records of a later round
	TraceBytes  uint64 // data of hardware tracing (AUXTRACE), which are not read
	Unreadable  uint64 // samples of text that are not read because a line has another form

	// Cut says that the recording was cut short, and where; nil if it is whole.
	Cut error
}

// An Event is what was counted to take samples (perf_event_attr).
type Event struct {
	Name         string // "cycles:u"; of recordings without names, as perf names it
	Type         uint32 // perf_type_id
	Config       uint64
	Period       uint64 // or samples per second
	Frequency    bool   // Period is the number of samples per second
	SampleType   uint64 // PERF_SAMPLE_ bits
	BranchSample uint64 // PERF_SAMPLE_BRANCH_ bits
	Flags        uint64 // bit fields as in little-endian files
	Samples      uint64 // of this event
	IDs          []uint64
}

// A BuildID tells the build of a file that has been mapped.
type BuildID struct {
	PID  int32 // -1: of any process
	ID   []byte
	File string
}

// Options adjust [Read].
type Options struct {
	Warn func(profile.Warning) // receives warnings; nil drops them
}
