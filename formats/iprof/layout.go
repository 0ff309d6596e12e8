package iprof

import "fmt"

// The layout of a file since 0.4.0. Keys may come in any order; tools write
// everything on one line without blanks and without a line end.
//
//	{
//	  "version": "1.0.0",
//	  "types":   [ {"id": 4, "name": "int"}, … ],
//	  "methods": [ {"id": 2, "name": "get", "signature": [DECLARING, RETURN, PARAMETER…]}, … ],
//	  "callCountProfiles":     [ {"ctx": "5:0<3:2<1:3", "records": [COUNT]}, … ],
//	  "conditionalProfiles":   [ {"ctx": "2:9<1:3", "records": [TARGET-BCI, INDEX, COUNT, …]}, … ],
//	  "virtualInvokeProfiles": [ {"ctx": "2:9<1:3", "records": [TYPE, COUNT, …]}, … ],
//	  "monitorProfiles":       [ {"ctx": "0:0", "records": [TYPE, COUNT, …]} ],
//	  "samplingProfiles":      [ {"ctx": "2:9<1:3", "records": [COUNT]}, … ],
//	  "instanceOfProfiles":    [ {"ctx": "2:9<1:3", "records": [TYPE, COUNT, …]}, … ]    (since 1.1.0)
//	}
//
// 0.2.0 names and arranges the same things differently:
//
//	"types":             [ {"id": 4, "typeName": "int"}, … ]
//	"methods":           [ {"id": 2, "methodName": "get", "signature": […]}, … ]
//	"hotnessPoints":     [ {"methodBciList": "5:0,3:2,1:3", "records": [COUNT]}, … ]
//	"conditionalPoints", "invokePoints": likewise
//	"monitorsProfile":   {"records": [TYPE, COUNT, …]}

// A Kind is one of the sections that hold counts. [Profile.Sections] has one for each.
type Kind int

const (
	// CallCounts say how many times methods were entered. Records are [count]; the first frame has BCI 0.
	CallCounts Kind = iota
	// Conditionals count the outcomes of branches and switches. Records are (target BCI, index, count)*.
	Conditionals
	// VirtualInvokes are the types of receivers at calls. Records are (type, count)*.
	VirtualInvokes
	// Monitors are the types synchronized on: one entry with the context 0:0. Records are (type, count)*.
	Monitors
	// Samples are whole stacks. Records are [count].
	Samples
	// TypeChecks are the types of objects at casts and instanceof, since 1.1.0. Records are (type, count)*.
	TypeChecks

	NumKinds // the number of kinds
)

// kinds describes each Kind.
var kinds = [NumKinds]struct {
	name  string // of the stack set in a view
	key   string // since 0.4.0, as tools write it
	old   string // in 0.2.0
	arity int
}{
	CallCounts:     {"calls", "callCountProfiles", "hotnessPoints", 1},
	Conditionals:   {"branches", "conditionalProfiles", "conditionalPoints", 3},
	VirtualInvokes: {"receivers", "virtualInvokeProfiles", "invokePoints", 2},
	Monitors:       {"locks", "monitorProfiles", "monitorsProfile", 2},
	Samples:        {"samples", "samplingProfiles", "", 1},
	TypeChecks:     {"type_checks", "instanceOfProfiles", "", 2},
}

// schemaTypeChecks is how the JSON schema of 1.1.0 and the manual spell the key of TypeChecks.
const schemaTypeChecks = "instanceofProfiles"

// The other keys.
const (
	keyVersion    = "version"
	keyTypes      = "types"
	keyMethods    = "methods"
	keyID         = "id"
	keyName       = "name"
	keySignature  = "signature"
	keyContext    = "ctx"
	keyRecords    = "records"
	keyTypeName   = "typeName"      // 0.2.0
	keyMethodName = "methodName"    // 0.2.0
	keyOldContext = "methodBciList" // 0.2.0
)

// monitorContext is the context of the one entry of Monitors.
const monitorContext = "0:0"

// String returns the name of the kind, which is also the name of its stack set in a view: "calls",
// "branches", "receivers", "locks", "samples", "type_checks".
func (k Kind) String() string {
	if k < 0 || k >= NumKinds {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kinds[k].name
}

// Key returns the key of the section in files, "callCountProfiles".
func (k Kind) Key() string { return kinds[k].key }

// Arity returns the number of integers of a record; the last one is a count.
func (k Kind) Arity() int { return kinds[k].arity }

// hasTypes reports whether records are pairs of a type's id and a count.
func (k Kind) hasTypes() bool { return kinds[k].arity == 2 }

// kindOfKey returns the kind of the section with the given key, in any of its spellings since 0.4.0.
func kindOfKey(key string) (Kind, bool) { return dialectSince04.kind(key) }

// A dialect holds the key names of a range of versions.
type dialect struct {
	typeName, methodName string
	context              string
	separator            byte
	old                  bool // sections have their old keys, Monitors is an object
}

var (
	dialectSince04  = dialect{keyName, keyName, keyContext, '<', false}
	dialectBefore04 = dialect{keyTypeName, keyMethodName, keyOldContext, ',', true}
)

func (d *dialect) kind(key string) (Kind, bool) {
	for k := range kinds {
		name := kinds[k].key
		if d.old {
			name = kinds[k].old
		}
		if name != "" && key == name {
			return Kind(k), true
		}
	}
	return TypeChecks, !d.old && key == schemaTypeChecks
}
