package iprof

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/test/oracle"
)

var update = flag.Bool("update", false, "write testdata/iprof anew")

const fixtureDir = "../../testdata/iprof"

// fixtures are the files of testdata/iprof; README.md there describes them.
func fixtures(t testing.TB) map[string][]byte {
	small := smallProfile()
	twin := shuffled(rand.New(rand.NewPCG(7, 7)), small, 3)
	checks := smallProfile()
	checks.Version = version110
	must(t, checks.Sections[TypeChecks].add([]Frame{{4, 7}}, 9, 12, 11, 3))
	must(t, checks.Sections[TypeChecks].add([]Frame{{4, 7}, {2, 5}}, 12, 1))
	recorded := encode(t, small, WriteOptions{})
	return map[string][]byte{
		"fib.iprof":       encode(t, fibProfile(t), WriteOptions{}),
		"even-odd.iprof":  encode(t, evenOddProfile(t), WriteOptions{}),
		"small.iprof":     recorded,
		"app.iprof":       encode(t, appProfile(), WriteOptions{}),
		"twin-x3.iprof":   encode(t, twin, WriteOptions{}),
		"checks.iprof":    encode(t, checks, WriteOptions{}),
		"indented.iprof":  encode(t, small, WriteOptions{Indent: "    "}),
		"small-0.2.iprof": oldText(small),
		"small-0.4.iprof": encode(t, small, WriteOptions{Version: version040}),
		"schema-spelling.iprof": bytes.Replace(encode(t, checks, WriteOptions{}),
			[]byte(`"instanceOfProfiles"`), []byte(`"instanceofProfiles"`), 1),
		"unresolved.iprof": []byte(`{"version":"1.0.0","types":[{"id":-1,"name":""}],"methods":[{"id":-1,"name":"","signature":[]}],` +
			`"callCountProfiles":[{"ctx":"1666:0","records":[10]},{"ctx":"3228:0<1666:5","records":[10]}],"conditionalProfiles":[],` +
			`"virtualInvokeProfiles":[{"ctx":"1666:9","records":[0,11553462028917]}],"monitorProfiles":[{"ctx":"0:0","records":[]}],"samplingProfiles":[]}`),
		"truncated.iprof": recorded[:bytes.Index(recorded, []byte(`"conditionalProfiles"`))-20],
		"future.iprof": []byte(`{"version":"1.7.0","types":[{"id":0,"name":"void"},{"id":1,"name":"A","loader":"app"}],` +
			`"methods":[{"id":1,"name":"m","signature":[1,0]}],"callCountProfiles":[{"ctx":"1:0","records":[5],"since":[1, 2]}],` +
			`"ceConditionalProfilesV2":[ {"stage":"HIGH_TIER","ctx":"1:4","successors":[7,9]} ],"samplingProfiles":[]}`),
	}
}

// TestFixtures compares testdata/iprof with what the code above makes;
// "go test ./formats/iprof -run TestFixtures -update" writes it.
func TestFixtures(t *testing.T) {
	made := fixtures(t)
	for name, want := range made {
		path := filepath.Join(fixtureDir, name)
		if *update {
			oracle.WriteFile(t, path, want)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what TestFixtures makes: %v", name, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(fixtureDir, "*.iprof"))
	must(t, err)
	for _, f := range files {
		if made[filepath.Base(f)] == nil {
			t.Errorf("%s is made by nothing", f)
		}
	}
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	return oracle.ReadFile(t, filepath.Join(fixtureDir, name))
}

func readFixture(t testing.TB, name string) *Profile {
	t.Helper()
	return read(t, fixture(t, name))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, data []byte) *Profile {
	t.Helper()
	p, err := Read("test", data, ReaderOptions{})
	must(t, err)
	return p
}

func written(p *Profile, opt WriteOptions) ([]byte, error) {
	var b bytes.Buffer
	err := Write(&b, p, opt)
	return b.Bytes(), err
}

func encode(t testing.TB, p *Profile, opt WriteOptions) []byte {
	t.Helper()
	data, err := written(p, opt)
	must(t, err)
	return data
}

// appProfile is what a recording of testdata/iprof/app would be if the compiler inlined all that main calls.
func appProfile() *Profile {
	p := newProfile(version100)
	for i, prim := range primitives {
		p.Types = append(p.Types, Type{TypeID(i), prim.name})
	}
	for i, name := range []string{
		"java.lang.Object", "app.Main", "app.Zoo", "app.Zoo$Cat", "app.Zoo$Dog", "app.Zoo$Animal",
		"[Ljava.lang.String;", "java.io.PrintStream", "java.lang.IllegalStateException",
	} {
		p.Types = append(p.Types, Type{TypeID(9 + i), name})
	}
	const integer, void, object, main, zoo, cat, dog, strings, stream, state = 4, 8, 9, 10, 11, 12, 13, 15, 16, 17
	p.Methods = []Method{
		{1, "main", []TypeID{main, void, strings}},
		{2, "report", []TypeID{main, void, integer}},
		{3, "fail", []TypeID{main, void}},
		{4, "<init>", []TypeID{zoo, void}},
		{5, "feed", []TypeID{zoo, integer, integer}},
		{6, "<init>", []TypeID{cat, void}},
		{7, "eat", []TypeID{cat, integer, integer}},
		{8, "<init>", []TypeID{dog, void}},
		{9, "eat", []TypeID{dog, integer, integer}},
		{10, "<init>", []TypeID{object, void}},
		{11, "println", []TypeID{stream, void, integer}},
		{12, "<init>", []TypeID{state, void}},
	}
	addTo(p, CallCounts, "1:0", 1)
	addTo(p, CallCounts, "4:0<1:4", 1)
	addTo(p, CallCounts, "5:0<1:21", 100)
	addTo(p, CallCounts, "6:0<5:21<1:21", 75)
	addTo(p, CallCounts, "8:0<5:10<1:21", 25)
	addTo(p, CallCounts, "7:0<5:35<1:21", 72)
	addTo(p, CallCounts, "9:0<5:35<1:21", 24)
	addTo(p, CallCounts, "2:0<1:33", 1)
	addTo(p, CallCounts, "10:0", 101)
	addTo(p, CallCounts, "11:0", 1)
	addTo(p, Conditionals, "1:15", 32, 0, 1, 18, 1, 100)
	addTo(p, Conditionals, "5:3<1:21", 17, 0, 75, 6, 1, 25)
	addTo(p, Conditionals, "5:28<1:21", 33, 0, 96, 31, 1, 4)
	addTo(p, Conditionals, "2:1<1:33", 7, 0, 1, 4, 1, 0)
	addTo(p, VirtualInvokes, "5:35<1:21", cat, 72, dog, 24)
	addTo(p, Monitors, "0:0", stream, 1)
	addTo(p, Samples, "7:0<5:35<1:21", 3)
	addTo(p, Samples, "5:28<1:21", 2)
	addTo(p, Samples, "11:2<2:11<1:33", 1)
	return p
}

func parseContext(s string) ([]Frame, error) {
	c, at, want := parseFrames(nil, []byte(s), '<')
	if want != "" {
		return nil, fmt.Errorf("context %q: want %s at position %d", s, want, at)
	}
	return c, nil
}

func contextText(c []Frame) string { return string(appendContext(nil, c)) }

// add appends an entry, unless no file can have its context or number of records.
func (s *Section) add(ctx []Frame, records ...int64) error {
	at := flaw.In(s.kind.Key()).InRecord(len(s.ends))
	switch {
	case len(ctx) == 0:
		return at.Field("context").Got("empty").Want("at least one frame").Corrupt()
	case !s.kind.fits(len(records)):
		return at.Field("number of records").Got(len(records)).Want(s.kind.wantRecords()).Corrupt()
	}
	s.append(ctx, records)
	return nil
}

func addTo(p *Profile, k Kind, ctx string, records ...int64) {
	c, err := parseContext(ctx)
	if err == nil {
		err = p.Sections[k].add(c, records...)
	}
	if err != nil {
		panic(err)
	}
}

// smallProfile has every oddity that real files have.
func smallProfile() *Profile {
	p := newProfile(version100)
	for i, prim := range primitives {
		p.Types = append(p.Types, Type{TypeID(i), prim.name})
	}
	p.Types = append(p.Types, Type{9, "java.lang.Object"}, Type{10, "app.Main"}, Type{11, "app.Zoo$Cat"}, Type{12, "app.Zoo$Dog"},
		Type{15, "[Ljava.lang.String;"}, Type{17, "app.Main$$Lambda/0xe1988ad9f06c144a025b413f8a9a021e6"}, Type{18, "unused.Größe"})
	p.Methods = []Method{
		{1, "main", []TypeID{10, 8, 15}},
		{2, "loop", []TypeID{10, 8, 4}},
		{3, "<init>", []TypeID{11, 8}},
		{4, "pick", []TypeID{10, 9, 4, 6}},
		{5, "pick", []TypeID{10, 9, 4}},
		{8, "get", []TypeID{17, 9}},
		{9, "unused", []TypeID{18, 1, 2, 3}},
	}
	add := func(k Kind, ctx string, records ...int64) { addTo(p, k, ctx, records...) }
	add(CallCounts, "1:0", 1)
	add(CallCounts, "2:0<1:3", 4)
	add(CallCounts, "4:0<2:9<1:3", 1<<40)
	add(CallCounts, "4:0", 24491824436273)
	add(CallCounts, "3:0<4:-6<2:9", 7)
	add(Conditionals, "2:5<1:3", 20, 0, 10, 53, 1, 1)
	add(Conditionals, "4:12", 227, 0, 0, 176, 1, 0, 198, 2, 0, 204, 3, 94, -5, 1, 0, -5, 0, 0)
	add(Conditionals, "4:-1", -1, 0, 5, -1, 1, 6)
	add(Conditionals, "4:-4<2:9", -4, 0, 13, -4, 1, 0)
	add(VirtualInvokes, "2:17<1:3", 11, 3, 12, 1)
	add(VirtualInvokes, "8:4", 10, 60)
	add(Monitors, "0:0", 9, 4, 11, 1)
	add(Samples, "4:3<2:9<1:3", 10)
	add(Samples, "2:9<2:9<2:9<1:3", 2)
	p.reindex()
	return p
}

// fibProfile has the numbers of the first example of the format's document, with some made-up names.
func fibProfile(t testing.TB) *Profile {
	p := newProfile(version100)
	p.Order = []string{keyVersion, keyTypes, keyMethods, "monitorProfiles", "virtualInvokeProfiles", "callCountProfiles", "conditionalProfiles", "samplingProfiles"}
	names := map[TypeID]string{
		9: "java.lang.Object", 10: "Fib", 629: "java.lang.System", 2280: "java.lang.String", 4823: "[Ljava.lang.String;",
		700: "java.io.PrintStream", 701: "com.oracle.svm.core.thread.PlatformThreads", 702: "java.lang.Thread",
	}
	for i, prim := range primitives {
		names[TypeID(i)] = prim.name
	}
	monitors := []int64{9, 4, 10, 1, 579, 9, 619, 10, 1213, 1, 1972, 1, 2284, 2, 2337, 1, 2612, 2, 3474, 3, 3654, 61, 3807, 3, 3820, 7, 4060, 2, 4127, 3, 4725, 6}
	for i := 0; i < len(monitors); i += 2 {
		if id := TypeID(monitors[i]); names[id] == "" {
			names[id] = fmt.Sprintf("example.Type%d", id)
		}
	}
	for _, id := range []TypeID{1322, 3660} {
		names[id] = fmt.Sprintf("example.Type%d", id)
	}
	for id, name := range names {
		p.Types = append(p.Types, Type{id, name})
	}
	slices.SortFunc(p.Types, func(a, b Type) int { return int(a.ID - b.ID) })
	methods := map[MethodID]Method{
		19547: {Name: "main", Signature: []TypeID{10, 8, 4823}},
		19551: {Name: "fibonacci", Signature: []TypeID{10, 8}},
		4669:  {Name: "print", Signature: []TypeID{700, 8, 2280}},
		3236:  {Name: "valueOf", Signature: []TypeID{2280, 2280, 9}},
		11823: {Name: "sleep", Signature: []TypeID{701, 8}},
		12811: {Name: "sleepNanos0", Signature: []TypeID{702, 8, 6}},
		12810: {Name: "sleepNanos", Signature: []TypeID{702, 8, 6}},
		12855: {Name: "sleep", Signature: []TypeID{702, 8, 6}},
	}
	add := func(k Kind, ctx string, records ...int64) {
		c, err := parseContext(ctx)
		must(t, err)
		must(t, p.Sections[k].add(c, records...))
		for _, f := range c {
			if _, ok := methods[f.Method]; !ok && k != Monitors {
				methods[f.Method] = Method{Name: fmt.Sprintf("method%d", f.Method), Signature: []TypeID{9, 8}}
			}
		}
	}
	add(Monitors, "0:0", monitors...)
	add(VirtualInvokes, "3236:11<4669:2<19551:34", 2280, 10)
	add(VirtualInvokes, "6886:9<6882:23", 1322, 2, 2280, 60, 3660, 56)
	add(CallCounts, "19551:0", 1)
	add(CallCounts, "4669:0<19551:34", 10)
	add(Conditionals, "19551:11", 20, 0, 10, 53, 1, 1)
	add(Samples, "11823:38<12811:1<12810:33<12855:25<19551:17<19547:9<19529:10<6305:105<5998:67<5941:0<5903:50<2684:23<2685:1", 10)
	add(Samples, "22500:23<22353:65<22210:15<22187:246<22032:20<22030:1<22027:22<11795:68<11793:12<43854:2", 1)
	for id, m := range methods {
		m.ID = id
		p.Methods = append(p.Methods, m)
	}
	slices.SortFunc(p.Methods, func(a, b Method) int { return int(a.ID - b.ID) })
	p.reindex()
	return p
}

// evenOddProfile has the second example of the document, with inlined calls.
func evenOddProfile(t testing.TB) *Profile {
	p := newProfile(version100)
	p.Types = []Type{{0, "void"}, {1, "EvenOrOddLength"}, {2, "java.lang.String"}, {3, "[Ljava.lang.String;"}}
	p.Methods = []Method{
		{1, "main", []TypeID{1, 0, 3}},
		{2, "printEvenOrOdd", []TypeID{1, 0, 2}},
		{3, "printEven", []TypeID{1, 0}},
		{4, "printOdd", []TypeID{1, 0}},
		{5, "print", []TypeID{1, 0, 2}},
	}
	for i, ctx := range []string{"1:0", "2:0<1:3", "3:0<2:9<1:3", "5:0<3:2<2:9<1:3", "5:0<3:2<2:2<1:3", "4:0", "5:0<4:2", "5:0"} {
		c, err := parseContext(ctx)
		must(t, err)
		must(t, p.Sections[CallCounts].add(c, int64(i+1)))
	}
	p.reindex()
	return p
}

// shuffled returns p, counted several times, with other ids and everything in another order.
func shuffled(rng *rand.Rand, p *Profile, times int64) *Profile {
	q := newProfile(p.Version)
	types := rng.Perm(2 * len(p.Types))
	methods := rng.Perm(2*len(p.Methods) + 1)
	methods = slices.DeleteFunc(methods, func(i int) bool { return i == 0 })
	typeIDs, methodIDs := map[TypeID]TypeID{}, map[MethodID]MethodID{}
	for i, t := range p.Types {
		typeIDs[t.ID] = TypeID(types[i])
		q.Types = append(q.Types, Type{TypeID(types[i]), t.Name})
	}
	for i, m := range p.Methods {
		methodIDs[m.ID] = MethodID(methods[i])
		sig := make([]TypeID, len(m.Signature))
		for j, t := range m.Signature {
			sig[j] = typeIDs[t]
		}
		q.Methods = append(q.Methods, Method{MethodID(methods[i]), m.Name, sig})
	}
	rng.Shuffle(len(q.Types), func(i, j int) { q.Types[i], q.Types[j] = q.Types[j], q.Types[i] })
	rng.Shuffle(len(q.Methods), func(i, j int) { q.Methods[i], q.Methods[j] = q.Methods[j], q.Methods[i] })
	for k := range NumKinds {
		s := &p.Sections[k]
		for _, i := range rng.Perm(s.Len()) {
			ctx, records := slices.Clone(s.Context(i)), slices.Clone(s.Records(i))
			for j := range ctx {
				if k != Monitors {
					ctx[j].Method = methodIDs[ctx[j].Method]
				}
			}
			for j := 0; j < len(records); j += k.Arity() {
				if k.hasTypes() {
					records[j] = int64(typeIDs[TypeID(records[j])])
				}
				last := j + k.Arity() - 1
				records[last], _ = Weight{uint64(times), 1}.apply(records[last])
			}
			if k.hasTypes() { // types are in order of their ids, usually
				records = sortRecords(records, k, new(Added))
			}
			if err := q.Sections[k].add(ctx, records...); err != nil {
				panic(err)
			}
		}
	}
	q.reindex()
	return q
}

func oldText(p *Profile) []byte {
	var b strings.Builder
	b.WriteString("{\n  \"version\": \"0.2.0\",\n  \"types\": [")
	sep := func(i int) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n    ")
	}
	for i, t := range p.Types {
		sep(i)
		fmt.Fprintf(&b, `{ "id": %d, "typeName": %s }`, t.ID, appendString(nil, t.Name))
	}
	b.WriteString("\n  ],\n  \"methods\": [")
	for i, m := range p.Methods {
		sep(i)
		fmt.Fprintf(&b, `{ "id": %d, "methodName": %s, "signature": %s }`, m.ID, appendString(nil, m.Name), strings.ReplaceAll(fmt.Sprint(m.Signature), " ", ", "))
	}
	list := func(records []int64) string { return strings.ReplaceAll(fmt.Sprint(records), " ", ", ") }
	for _, k := range []Kind{CallCounts, Conditionals, VirtualInvokes} {
		fmt.Fprintf(&b, "\n  ],\n  %q: [", kinds[k].old)
		for i := range p.Sections[k].Len() {
			sep(i)
			fmt.Fprintf(&b, `{ "methodBciList": %q, "records": %s }`,
				strings.ReplaceAll(contextText(p.Sections[k].Context(i)), "<", ","), list(p.Sections[k].Records(i)))
		}
	}
	fmt.Fprintf(&b, "\n  ],\n  \"monitorsProfile\": {\n    \"records\": %s\n  }\n}\n", list(p.Sections[Monitors].Records(0)))
	return []byte(b.String())
}

// randomProfile makes a profile of about n methods, with contexts and records as recordings have them.
func randomProfile(rng *rand.Rand, version Version, methods int) *Profile {
	p := newProfile(version)
	for i, prim := range primitives {
		p.Types = append(p.Types, Type{TypeID(i), prim.name})
	}
	classes := max(3, methods/7)
	id := TypeID(len(p.Types))
	for i := range classes {
		name := fmt.Sprintf("org.%s.%s.%s%d", pick(rng, words), pick(rng, words), pick(rng, words), i)
		switch rng.IntN(12) {
		case 0:
			name = "[L" + name + ";"
		case 1:
			name += fmt.Sprintf("$$Lambda/0x%032x", rng.Uint64())
		}
		p.Types = append(p.Types, Type{id, name})
		id += TypeID(1 + rng.IntN(16)/15)
	}
	anyType := func() TypeID { return p.Types[rng.IntN(len(p.Types))].ID }
	seen := map[string]bool{}
	mid := MethodID(1)
	for len(p.Methods) < methods {
		m := Method{ID: mid, Name: pick(rng, words) + pick(rng, words), Signature: []TypeID{p.Types[9+rng.IntN(classes)].ID, anyType()}}
		for rng.IntN(5) < 2 {
			m.Signature = append(m.Signature, anyType())
		}
		if key := fmt.Sprint(m.Name, m.Signature); seen[key] {
			continue
		} else {
			seen[key] = true
		}
		p.Methods = append(p.Methods, m)
		mid += MethodID(1 + rng.IntN(10)/9)
	}
	p.reindex()
	randomEntries(rng, p, methods)
	return p
}

var words = strings.Fields("order basket line price stock user session token cache index query parser buffer route frame codec get set find load store")

func pick(rng *rand.Rand, from []string) string { return from[rng.IntN(len(from))] }

func randomEntries(rng *rand.Rand, p *Profile, n int) {
	frame := func(bci int) Frame {
		f := Frame{p.Methods[rng.IntN(len(p.Methods))].ID, int32(rng.IntN(300))}
		if bci >= 0 {
			f.BCI = int32(bci)
		} else if rng.IntN(50) == 0 {
			f.BCI = -1 - int32(rng.IntN(6))
		}
		return f
	}
	count := func() int64 { return int64(rng.Uint64() >> (20 + rng.IntN(43))) }
	share := [NumKinds]int{CallCounts: 55, Conditionals: 35, VirtualInvokes: 4, Samples: 4, TypeChecks: 2}
	for k := range NumKinds {
		if k == Monitors {
			var records []int64
			for _, i := range rng.Perm(len(p.Types))[:min(5, len(p.Types))] {
				records = append(records, int64(p.Types[i].ID), count())
			}
			_ = p.Sections[k].add([]Frame{{}}, sortRecords(records, k, new(Added))...)
			continue
		}
		if k == TypeChecks && p.Version.compare(version110) < 0 {
			continue
		}
		var seen contextIndex
		s := &p.Sections[k]
		seen = newContextIndex(func(e uint32) []Frame { return s.Context(int(e)) })
		for range (n*share[k] + 99) / 100 {
			leaf := -1
			if k == CallCounts {
				leaf = 0
			}
			ctx := []Frame{frame(leaf)}
			depth := 3
			if k == Samples {
				depth = 25
			}
			for rng.IntN(depth+1) > 0 {
				ctx = append(ctx, frame(-1))
			}
			_, slot, ok := seen.find(ctx)
			if ok {
				continue
			}
			var records []int64
			switch {
			case k.Arity() == 1:
				records = []int64{1 + count()}
			case k == Conditionals:
				records = []int64{int64(rng.IntN(300)), 0, count(), int64(rng.IntN(300)), 1, 1 + count()}
				if rng.IntN(30) == 0 {
					records = append(records, 7, 2, count(), -5, 1, 0, -5, 0, 0)
				}
			default:
				for _, i := range rng.Perm(min(40, len(p.Types)))[:1+rng.IntN(3)] {
					records = append(records, int64(p.Types[i].ID), 1+count())
				}
				records = sortRecords(records, k, new(Added))
			}
			must2(s.add(ctx, records...))
			seen.add(uint32(s.Len()-1), slot)
		}
	}
}

func must2(err error) {
	if err != nil {
		panic(err)
	}
}

// contextNames returns a context with names in place of ids: "Fib.fibonacci:34<Fib.main:9".
func contextNames(p *Profile, c []Frame) string {
	var names []string
	for _, f := range c {
		names = append(names, fmt.Sprintf("%s:%d", p.MethodName(f.Method), f.BCI))
	}
	return strings.Join(names, "<")
}

// methodText returns a method with its descriptor: "Fib.main([Ljava/lang/String;)V".
func methodText(r MethodRef) string {
	return r.Class + "." + r.Name + classfile.Descriptor(r.Parameters, r.Return)
}
