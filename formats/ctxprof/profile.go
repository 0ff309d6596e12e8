package ctxprof

import (
	"bytes"
	"fmt"

	"github.com/profuse-pgo/profuse/internal/flaw"
	"github.com/profuse-pgo/profuse/internal/saturate"
)

// maxDepth is how deep contexts may nest. llvm-ctxprof-util 22 reads 5000 levels, and dies of 20000.
const maxDepth = 1 << 14

// A Profile holds the counters of functions by call path. Its lists have the order of the YAML that the file could have
// been made of: LLVM writes the callees of a call site, and unhandled functions, in the reverse order.
type Profile struct {
	Roots []Root
	Flat  []Function        // what ran outside of roots
	Names map[uint64]string // linkage names by GUID, as far as the caller knows them; nil in what Read returns
	// Version is the version of a binary file; 0 for YAML, which has none.
	Version int
}

// A Root is a function below which contexts were collected.
type Root struct {
	Context
	// Total counts all entries of the root. The first of its Counters counts the entries that were collected: a thread
	// does not wait for a context that another thread has.
	Total     uint64
	Unhandled []Function // ran below the root, outside of all contexts
}

// A Context is a function at the end of a call path.
type Context struct {
	Function
	Site    uint32    // index of the call site in the caller; 0 in a root
	Callees []Context // by ascending Site
}

// A Function has the counters of a function: the entry count, then the counts of edges, as the instrumentation of LLVM's
// IR numbers them. LLVM's tool also writes functions without counters, which LLVM refuses to read.
type Function struct {
	GUID     uint64
	Counters []uint64
}

// entry returns the entry count.
func (f *Function) entry() uint64 {
	if len(f.Counters) == 0 {
		return 0
	}
	return f.Counters[0]
}

// Detect reports whether data begins as a contextual profile, and whether as YAML. YAML begins with one of its keys.
func Detect(data []byte) (yaml, ok bool) {
	if bytes.HasPrefix(data, []byte(magic)) {
		return false, true
	}
	for line := range bytes.Lines(data[:min(len(data), 1<<12)]) {
		text := bytes.TrimSpace(line)
		if len(text) == 0 || text[0] == '#' || string(text) == "---" {
			continue
		}
		key, rest, found := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		isKey := found && (string(key) == keyContexts || string(key) == keyFlatProfiles)
		return isKey, isKey && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t')
	}
	return false, false
}

// Read reads a binary profile, or one in YAML. It passes what is wrong with a profile that it can read to warn, which may
// be nil, as errors of class [profile.ErrCorrupt] if LLVM 22 refuses the profile, and [profile.ErrMismatch] if LLVM
// passes over it without a word. name is for errors.
func Read(name string, data []byte, warn func(error)) (*Profile, error) {
	if warn == nil {
		warn = func(error) {}
	}
	var err error
	var all []*Profile
	// A profile without anything is an empty mapping, as many a text is.
	if yaml, _ := Detect(data); yaml || string(bytes.TrimSpace(data)) == "{}" {
		var p *Profile
		p, err = readYAML(data)
		all = append(all, p)
	} else {
		all, err = readBinary(data)
	}
	if err != nil {
		return nil, flaw.InFile(err, name)
	}
	p := all[0]
	if len(all) > 1 {
		warn(flaw.File(name).Field("number of profiles").Got(len(all)).Want("1: LLVM reads only the first").Mismatch())
	}
	c := checker{name: name}
	for _, one := range all {
		c.profile(one)
	}
	c.report(warn)
	if len(all) > 1 || c.twice.n > 0 {
		var m Merger
		for _, one := range all {
			m.Add(one, 1)
		}
		v := p.Version
		p = m.Profile(1)
		p.Version = v
	}
	return p, nil
}

// A doubt is one kind of flaw in a profile that can be read.
type doubt struct {
	n     int
	first string // where it was found first
}

func (d *doubt) add(where func() string) {
	if d.n++; d.n == 1 {
		d.first = where()
	}
}

// A checker counts the doubts about a profile.
type checker struct {
	name                           string
	twice, uncounted, over, silent doubt
}

func (c *checker) profile(p *Profile) {
	seen := make(map[uint64]bool, len(p.Roots))
	for i := range p.Roots {
		r := &p.Roots[i]
		where := func() string { return fmt.Sprintf("root %d", r.GUID) }
		if seen[r.GUID] {
			c.twice.add(where)
		}
		seen[r.GUID] = true
		if r.entry() > r.Total {
			c.over.add(where)
		}
		if r.Total == 0 && r.entry() > 0 {
			c.silent.add(where)
		}
		c.context(&r.Context)
		c.functions(r.Unhandled, "unhandled")
	}
	c.functions(p.Flat, "flat")
}

func (c *checker) functions(list []Function, kind string) {
	seen := make(map[uint64]bool, len(list))
	for i := range list {
		where := func() string { return fmt.Sprintf("%s function %d", kind, list[i].GUID) }
		if seen[list[i].GUID] {
			c.twice.add(where)
		}
		seen[list[i].GUID] = true
		if len(list[i].Counters) == 0 {
			c.uncounted.add(where)
		}
	}
}

// context checks a context and all below it.
func (c *checker) context(x *Context) {
	where := func() string { return fmt.Sprintf("a context of %d", x.GUID) }
	switch {
	case len(x.Counters) == 0:
		c.uncounted.add(where)
	case x.Counters[0] == 0:
		c.silent.add(where)
	}
	type place struct {
		guid uint64
		site uint32
	}
	var seen map[place]bool
	if len(x.Callees) > 1 {
		seen = make(map[place]bool, len(x.Callees))
	}
	for i := range x.Callees {
		callee := &x.Callees[i]
		at := place{callee.GUID, callee.Site}
		if seen[at] {
			c.twice.add(func() string { return fmt.Sprintf("callee %d of %d", callee.GUID, x.GUID) })
		} else if seen != nil {
			seen[at] = true
		}
		c.context(callee)
	}
}

// report warns of what was found, once for each kind.
func (c *checker) report(warn func(error)) {
	for _, d := range []struct {
		doubt
		field, want string
		refused     bool // by LLVM
	}{
		{c.twice, "functions that occur twice at one place", "none: LLVM refuses the profile; their counters are added up here", true},
		{c.uncounted, "functions without counters", "none: LLVM refuses the profile", true},
		{c.over, "roots that were collected more often than they were entered", "none", false},
		{c.silent, "contexts that were never entered", "none: llvm-ctxprof-util drops them, and what is below them, when it reads YAML", false},
	} {
		if d.n == 0 {
			continue
		}
		problem := flaw.File(c.name).Field("number of "+d.field).Gotf("%d, first %s", d.n, d.first).Want(d.want)
		if d.refused {
			warn(problem.Corrupt())
		} else {
			warn(problem.Mismatch())
		}
	}
}

// Flatten returns the counters of each function as LLVM 22 adds them up for its passes: the counters of a context, or of an
// unhandled function, count Total times. LLVM's sums wrap around; sums here stop at 2^64-1.
func (p *Profile) Flatten() map[uint64][]uint64 {
	all := make(map[uint64][]uint64)
	add := func(f *Function, factor uint64) {
		sum := all[f.GUID]
		// The number of counters in a context wins over the number in a flat function.
		if len(sum) < len(f.Counters) {
			sum = append(sum, make([]uint64, len(f.Counters)-len(sum))...)
		}
		for i, n := range f.Counters {
			sum[i], _ = saturate.AddScaled(sum[i], n, factor)
		}
		all[f.GUID] = sum
	}
	for i := range p.Roots {
		r := &p.Roots[i]
		r.each(func(x *Context) bool {
			add(&x.Function, r.Total)
			return true
		})
		for j := range r.Unhandled {
			add(&r.Unhandled[j], r.Total)
		}
	}
	for i := range p.Flat {
		add(&p.Flat[i], 1)
	}
	return all
}
