package mip

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/profuse-pgo/profuse/profile"
)

const edgesType = callGraph | ReturnAddress

// edgesMap is a program of three functions, and code of others in between.
func edgesMap() *Profile {
	return &Profile{Type: edgesType, ModuleHash: 0xdeadbeef, Functions: []Function{
		{Name: "main", RawOffset: 0x28, Address: -0x100, Size: 0x20},
		{Name: "callee", RawOffset: 0x38, Address: -0xe0, Size: 0x10},
		{Name: "twin", RawOffset: 0x48, Address: -0xe0, Size: 0x10}, // folded with the one before
	}}
}

// edgesRet is what a run of it might leave behind its raw records.
const edgesRet = `
	fb4d4950 0800 1200 1c000000 efbeadde 0000000000000000 00000000 20000000
	38000000 10ffffff 05000000
	38000000 20ffffff 02000000
	38000000 50ffffff 03000000
	28000000 00000000 01000000
	38000000 10ffffff 01000000
	00000000 00000000 00000000`

func edgesRun(t testing.TB) *Profile {
	t.Helper()
	r, err := NewReader("ret", unhex(t, edgesRet), nil)
	if err != nil {
		t.Fatal(err)
	}
	if in := r.Info; in.Format != FormatRet || in.PointerSize != 8 || in.Type != edgesType {
		t.Errorf("info %+v", in)
	}
	m := mergerOf(t, edgesMap(), nil)
	if err := m.Add(r, 1); err != nil {
		t.Fatal(err)
	}
	return m.Profile()
}

// TestReturnAddresses: a return address belongs to the function that the call before it is in.
func TestReturnAddresses(t *testing.T) {
	p := edgesRun(t)
	want := edgesMap()
	want.Functions[0].CallEdges = []CallEdge{{0, 1}}
	want.Functions[1].CallEdges = []CallEdge{{-0xf0, 6}, {-0xe0, 2}, {-0xb0, 3}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	calls := []Call{
		{Caller: -1, Callee: 0, CallEdge: CallEdge{0, 1}},
		{Caller: 0, Callee: 1, Offset: 0x10, CallEdge: CallEdge{-0xf0, 6}},
		{Caller: 0, Callee: 1, Offset: 0x20, CallEdge: CallEdge{-0xe0, 2}}, // the call is the last of main
		{Caller: -1, Callee: 1, CallEdge: CallEdge{-0xb0, 3}},
	}
	if diff := cmp.Diff(calls, p.Calls()); diff != "" {
		t.Error(diff)
	}
	var edges []string
	for e := range p.View("", ViewOptions{}).Edges() {
		edges = append(edges, fmt.Sprint(e.Kind, " ", e.Caller.Name, " ", e.Site, " ", e.Target.Name, " ", e.Count))
	}
	if diff := cmp.Diff([]string{"call main 0 callee 6", "call main 1 callee 2"}, edges); diff != "" {
		t.Error(diff)
	}
	inFolded := Profile{Type: edgesType, Functions: edgesMap().Functions}
	inFolded.Functions[0].CallEdges = []CallEdge{{-0xd1, 1}, {-0xd0, 1}, {-0xcf, 1}}
	got := ""
	for _, c := range inFolded.Calls() {
		got += fmt.Sprint(c.Caller, " ")
	}
	if got != "1 1 -1 " {
		t.Errorf("callers in folded code: %s", got)
	}
}

// TestEdgesGolden: the layouts that the format leaves to us.
func TestEdgesGolden(t *testing.T) {
	p := edgesRun(t)
	record := unhex(t, "03000000 10ffffff 0600000000000000 20ffffff 0200000000000000 50ffffff 0300000000000000")
	if !strings.Contains(string(mipOf(t, p, WriteOptions{})), string(record)) {
		t.Errorf("the .mip has no % x", record)
	}
	yaml := yamlOf(t, p)
	if want := `    Call Edges:
      - Section Relative Source Address: 0xFFFFFF10
        Weight:          6
      - Section Relative Source Address: 0xFFFFFF20
        Weight:          2
      - Section Relative Source Address: 0xFFFFFF50
        Weight:          3
`; !strings.Contains(yaml, want) {
		t.Errorf("the YAML has no %s:\n%s", want, yaml)
	}
	for _, data := range [][]byte{mipOf(t, p, WriteOptions{}), mipOf(t, p, WriteOptions{DocumentLayout: true}), []byte(yaml)} {
		if diff := cmp.Diff(p, read(t, data)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestReturnAddressesRejected: what makes samples of return addresses
// unreadable, alone and behind raw records.
func TestReturnAddressesRejected(t *testing.T) {
	base := edgesMap()
	good := rawOf(edgesMap(), 8)
	for _, tt := range []struct {
		name  string
		data  []byte
		class error
		says  string
	}{
		{"cut off", unhex(t, edgesRet)[:68], profile.ErrTruncated, "callee is cut off"},
		{"cut off in a record", unhex(t, edgesRet)[:75], profile.ErrTruncated, "return address is cut off after 3 bytes"},
		{"not a record", patched(t, edgesRet, 0x20, 0x39), profile.ErrMismatch, "callee is 0x39"},
		{"after the end", append(unhex(t, edgesRet), 1), profile.ErrCorrupt, "1 bytes later"},
		{"another module", patched(t, edgesRet, 12, 1), profile.ErrMismatch, "ModuleHash"},
		{"another type", patched(t, edgesRet, 8, 0x1e), profile.ErrMismatch, "ProfileType"},
		{"raw without them", good[:len(good)-44], profile.ErrTruncated, "return addresses is missing"},
		{"raw with some", good[:len(good)-1], profile.ErrTruncated, "cut off after 3 bytes"},
	} {
		r, err := NewReader("f", tt.data, nil)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		m := mergerOf(t, base, nil)
		if fe := wantError(t, tt.name, m.Add(r, 1), tt.class, tt.says); fe.File != "f" {
			t.Errorf("%s: file %q", tt.name, fe.File)
		}
		if diff := cmp.Diff(base, m.Profile()); diff != "" {
			t.Errorf("%s: left a trace: %s", tt.name, diff)
		}
	}
}

// TestDropped: calls that found no room are told of.
func TestDropped(t *testing.T) {
	data := unhex(t, edgesRet)
	data[len(data)-4] = 9
	var warned []string
	m := mergerOf(t, edgesMap(), &warned)
	r, err := NewReader("ret", data, nil)
	if err == nil {
		err = m.Add(r, 1)
	}
	if err != nil || len(warned) != 1 || !strings.Contains(warned[0], "about 9 calls") {
		t.Errorf("error %v, warnings %q", err, warned)
	}
}

// TestMovedEdges: edges of a profile of another build go where the calls are now, or lose their place.
func TestMovedEdges(t *testing.T) {
	old := edgesRun(t)
	base := edgesMap()
	base.Functions = append([]Function{{Name: "new", RawOffset: 0x58, Address: -0x200, Size: 8}}, base.Functions...)
	base.Functions[1].Address -= 0x40
	base.Functions[3].Size++ // twin
	old.Functions[0].CallEdges = []CallEdge{{-0xd0, 4}}
	for _, tt := range []struct {
		grown uint32 // bytes of main
		want  []CallEdge
		lost  string
	}{
		{0, []CallEdge{{-0x130, 6}, {-0x120, 2}, {0, 3}}, "is 1 from code"},
		{4, []CallEdge{{0, 11}}, "is 3 from code"},
	} {
		base.Functions[1].Size = 0x20 + tt.grown
		var warned []string
		m := mergerOf(t, base, &warned)
		warned = nil
		if err := m.addProfile("old", old, 1); err != nil {
			t.Fatal(err)
		}
		p := m.Profile()
		if diff := cmp.Diff(tt.want, p.Functions[2].CallEdges); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]CallEdge{{-0xd0, 4}}, p.Functions[1].CallEdges); diff != "" {
			t.Error(diff)
		}
		if len(warned) != 1 || !strings.Contains(warned[0], tt.lost) {
			t.Errorf("warnings %q", warned)
		}
	}
}
