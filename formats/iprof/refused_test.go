package iprof

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/profile"
)

// A refusal is a profile that is not merged, and the fields of the error.
type refusal struct {
	what    string
	p       *Profile
	class   error
	section string
	record  int
	field   string
	found   string
}

func (r *refusal) check(t *testing.T, err error) {
	t.Helper()
	var fe *profile.FormatError
	if !errors.As(err, &fe) || profile.ClassOf(fe) != r.class || fe.Section != r.section || fe.Record != r.record || fe.Field != r.field ||
		!strings.HasPrefix(fe.Got, r.found) || fe.Want == "" {
		t.Errorf("%s: %+v", r.what, err)
	}
}

func TestKindString(t *testing.T) {
	p := newProfile(version110)
	if s := Kind(9).String() + Kind(-1).String(); s != "kind 9kind -1" || p.Sections[Samples].kind != Samples {
		t.Error(s)
	}
	names := make(map[string]bool)
	for k := range NumKinds {
		names[k.String()] = k.String() != ""
	}
	if len(names) != int(NumKinds) || !names[Samples.String()] {
		t.Errorf("names %v", names)
	}
}

// TestRefusedMerges: a refused profile leaves no trace, and the error names the place.
func TestRefusedMerges(t *testing.T) {
	good := func() *Profile { return readFixture(t, "small.iprof") }
	negative := good()
	must(t, negative.Sections[Samples].add([]Frame{{1, 0}}, -1))
	last := negative.Sections[Samples].Len() - 1
	noMethod := good()
	must(t, noMethod.Sections[CallCounts].add([]Frame{{1, 0}, {999, 3}}, 1))
	noType := good()
	must(t, noType.Sections[TypeChecks].add([]Frame{{1, 0}}, 999, 1))
	signature := good()
	signature.Methods[2].Signature = signature.Methods[2].Signature[:1]
	later := good()
	later.Version = Version{2, 0, 0}
	for _, tc := range []refusal{
		{"another major version", later, profile.ErrUnsupported, "", -1, "version", "2.0.0"},
		{"never resolved", readFixture(t, "unresolved.iprof"), profile.ErrCorrupt, "", -1, "recording", "not resolved"},
		{"unknown members", readFixture(t, "future.iprof"), profile.ErrUnsupported, readFixture(t, "future.iprof").Unknown[0].Key, -1, "section", "unknown"},
		{"short signature", signature, profile.ErrCorrupt, "methods", 2, "signature", "["},
		{"negative count", negative, profile.ErrCorrupt, Samples.Key(), last, "count", "-1"},
		{"unknown method", noMethod, profile.ErrCorrupt, CallCounts.Key(), noMethod.Sections[CallCounts].Len() - 1, "method 999", "not in the table"},
		{"unknown type", noType, profile.ErrCorrupt, TypeChecks.Key(), 0, "type 999", "not in the table"},
	} {
		m := NewMerger(MergeOptions{})
		_, err := m.AddProfile("good", good(), Weights{})
		must(t, err)
		before, added := encode(t, m.Profile(), WriteOptions{}), m.Added
		_, err = m.AddProfile("f", tc.p, Weights{})
		tc.check(t, err)
		tc.check(t, m.Accepts("f", tc.p))
		if m.Added != added || !bytes.Equal(encode(t, m.Profile(), WriteOptions{}), before) {
			t.Errorf("%s left a trace", tc.what)
		}
		if _, err := Renumber(tc.p); err == nil {
			t.Errorf("%s is renumbered", tc.what)
		}
	}
}

// TestMergeWarns: what was left out or cut is told once for each file, and summed up over all Mergers.
func TestMergeWarns(t *testing.T) {
	var warned []string
	opt := MergeOptions{DropUnresolved: true, DropUnknown: true, Warn: func(w profile.Warning) {
		if profile.ClassOf(w.Err) != profile.ErrMismatch {
			t.Errorf("%v", w.Err)
		}
		warned = append(warned, w.String())
	}}
	m := NewMerger(opt)
	p := readFixture(t, "future.iprof")
	must(t, p.Sections[CallCounts].add([]Frame{{999, 0}}, 1))
	first := p.Sections[CallCounts].Context(0)
	must(t, p.Sections[CallCounts].add(append([]Frame{}, first...), math.MaxInt64))
	added, err := m.AddProfile("f", p, Weights{})
	must(t, err)
	if added.Skipped != 1 || added.Saturated != 1 {
		t.Errorf("%+v", added)
	}
	want := []string{
		"f: entries is left out, 1 of them, want only ids that the tables have: mismatching profile",
		fmt.Sprintf("f: counts is too large, 1 of them, want at most %d, which they became: mismatching profile", int64(math.MaxInt64)),
		fmt.Sprintf("f: unknown sections and members is left out, %d of them, want what versions up to 1.1.0 have: mismatching profile", len(p.Unknown)+len(p.Extra)),
	}
	if strings.Join(warned, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant %q", warned, want)
	}
	fork := NewMerger(m.opt)
	_, err = fork.AddProfile("g", p, Weights{})
	must(t, err)
	must(t, m.Merge(fork))
	if sum := m.Added; sum.Skipped != 1 || sum.Saturated < 2 || sum.Entries < added.Entries {
		t.Errorf("%+v", sum)
	}
}

// TestViewLines: methods and bytecodes that ran have the lines that a source gives.
func TestViewLines(t *testing.T) {
	p := readFixture(t, "fib.iprof")
	v := p.View("fib.iprof", ViewOptions{Source: func(ref MethodRef) (Source, bool) {
		if ref.Class != "Fib" {
			return Source{}, false
		}
		return Source{File: "Fib.java", StartLine: 100, Line: func(bci int) (int, bool) { return 100 + bci, bci != 53 }}, true
	}})
	lines, ok := v.(profile.LineView)
	if !ok {
		t.Fatal("no lines")
	}
	got := make(map[uint32]uint64)
	for l := range lines.Lines() {
		if l.File != "Fib.java" || l.Function.File != l.File {
			t.Errorf("%+v", l)
		}
		got[l.Number] = max(got[l.Number], l.Count)
	}
	for range lines.Lines() {
		break // an iteration may end early
	}
	// The conditional at 11 led ten times to 20 and once to 53, without a line; 34 called ten times.
	if got[100] != 1 || got[111] != 11 || got[120] != 10 || got[134] != 10 || got[153] != 0 {
		t.Errorf("%v", got)
	}
}
