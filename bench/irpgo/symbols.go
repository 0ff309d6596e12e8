//go:build linux

package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"github.com/profuse-pgo/profuse/symbolize"
)

// The program to symbolize has more than 100 MB of debug information: a few files that use the standard library, linked
// many times under other names.
const (
	symbolUnits  = 6
	symbolCopies = 24
	lookedUp     = 100_000 // addresses
)

// symbolUnit returns one file. Nearly all of its debug information comes from templates of the standard library.
func symbolUnit(u int) string {
	return fmt.Sprintf(`#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace {
struct A {
  int v[%[1]d + 1];
  std::string s;
  bool operator<(const A &o) const { return v[0] < o.v[0]; }
};
}
int work%[1]d(int n) {
  std::map<A, std::vector<A>> m;
  std::unordered_map<std::string, A> u;
  for (int i = 0; i < n; i++) {
    A a{{i}, std::to_string(i)};
    m[a].push_back(a);
    u[a.s] = a;
  }
  std::vector<A> v;
  for (auto &[k, x] : m) v.insert(v.end(), x.begin(), x.end());
  std::sort(v.begin(), v.end(), [](const A &x, const A &y) { return x.s < y.s; });
  std::ostringstream o;
  o << std::regex_search(v.empty() ? "" : v[0].s, std::regex("a(b|c)*d{%[1]d}"));
  std::function<int(int)> f = [&](int k) { return k + v.size() + u.size(); };
  return f(o.str().size());
}
`, u)
}

// copies compiles a unit and returns copies of the object with other names of its global symbols.
func copies(dir string, u int) ([]string, error) {
	source := filepath.Join(dir, fmt.Sprintf("u%d.cpp", u))
	object := source + ".o"
	if err := os.WriteFile(source, []byte(symbolUnit(u)), 0o666); err != nil {
		return nil, err
	}
	if err := prepare("clang++-22", "-std=c++17", "-O2", "-g", "-c", source, "-o", object); err != nil {
		return nil, err
	}
	// Renaming is faster than compiling: copies have the same debug information under other symbols.
	listed, err := exec.Command("nm", "--defined-only", "--extern-only", object).Output()
	if err != nil {
		return nil, err
	}
	out := make([]string, symbolCopies)
	for c := range out {
		var renames strings.Builder
		for line := range strings.Lines(string(listed)) {
			if f := strings.Fields(line); len(f) == 3 {
				fmt.Fprintf(&renames, "%s c%d_%d_%s\n", f[2], u, c, f[2])
			}
		}
		list := fmt.Sprintf("%s-%d.names", object, c)
		if err := os.WriteFile(list, []byte(renames.String()), 0o666); err != nil {
			return nil, err
		}
		out[c] = fmt.Sprintf("%s-%d.o", object, c)
		if err := prepare("llvm-objcopy-22", "--redefine-syms="+list, object, out[c]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// makeSymbols returns the program and a list of addresses of its code.
func makeSymbols(dir string) ([]string, error) {
	dir = filepath.Join(dir, "symbols")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	program, addresses := filepath.Join(dir, "program"), filepath.Join(dir, "addresses")
	out := []string{program, addresses}
	if measure.Exists(addresses) {
		return out, nil
	}
	fmt.Fprintf(os.Stderr, "building %s\n", program)
	objects := make([][]string, symbolUnits)
	err := parallel(symbolUnits, func(u int) (err error) {
		objects[u], err = copies(dir, u+1)
		return err
	})
	if err != nil {
		return nil, err
	}
	main := filepath.Join(dir, "main.cpp")
	if err := os.WriteFile(main, []byte("int main() { return 0; }\n"), 0o666); err != nil {
		return nil, err
	}
	// Without --gc-sections the linker keeps functions that are never called.
	link := []string{"-fuse-ld=lld", "-Wl,-z,now", "-o", program, main}
	for _, list := range objects {
		link = append(link, list...)
	}
	if err := prepare("clang++-22", link...); err != nil {
		return nil, err
	}
	for _, list := range objects {
		for _, object := range list {
			os.Remove(object) // as large as the program, together
		}
	}
	return out, prepareApart("addresses", program, addresses)
}

func writeAddresses(program, to string) error {
	f, err := symbolize.Open(program, symbolize.Options{SymbolTable: true})
	if err != nil {
		return err
	}
	defer f.Close()
	return measure.WriteFile(to, func(w *bufio.Writer) error {
		printAddresses(w, f.Section(".text"), lookedUp)
		return nil
	})
}

// symbolizeInput prints the functions and lines of the addresses on standard input.
func symbolizeInput(program string) error {
	f, err := symbolize.Open(program, symbolize.Options{SymbolTable: true})
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(os.Stdout)
	return errors.Join(symbolizeAll(out, f, os.Stdin), out.Flush())
}

// symbolizing looks up the addresses. This program prints what llvm-symbolizer does, by package symbolize.
func (b *bench) symbolizing(inputs []string) []*command {
	return []*command{
		{name: "drop-in", kind: ours, stdin: inputs[1], stdout: true, argv: []string{os.Args[0], writeFlag, "symbols", inputs[0]}},
		{name: "llvm", kind: peer, stdin: inputs[1], stdout: true, argv: []string{"llvm-symbolizer-22", "--obj=" + inputs[0], "--functions=linkage", "--inlines", "--no-demangle"}},
	}
}

// printAddresses prints n addresses of a section, evenly spread and in shuffled order.
func printAddresses(out *bufio.Writer, text *symbolize.Section, n uint64) {
	addrs := make([]uint64, n)
	for i := range addrs {
		addrs[i] = text.Addr + text.Size*uint64(i)/n
	}
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(addrs), func(i, j int) { addrs[i], addrs[j] = addrs[j], addrs[i] })
	for _, a := range addrs {
		fmt.Fprintf(out, "%#x\n", a)
	}
}

// symbolizeAll prints the functions and lines of addresses, which it reads one per line, as llvm-symbolizer does.
func symbolizeAll(out *bufio.Writer, f *symbolize.File, in io.Reader) error {
	var addrs []uint64
	s := bufio.NewScanner(in)
	for s.Scan() {
		a, err := strconv.ParseUint(strings.TrimPrefix(s.Text(), "0x"), 16, 64)
		if err != nil {
			return err
		}
		addrs = append(addrs, a)
	}
	if s.Err() != nil {
		return s.Err()
	}
	found := make([][]symbolize.Frame, len(addrs))
	if err := f.Batch(addrs, func(i int, frames []symbolize.Frame) { found[i] = frames }); err != nil {
		return err
	}
	for _, frames := range found {
		if len(frames) == 0 {
			out.WriteString("??\n??:0:0\n")
		}
		for _, x := range frames {
			out.WriteString(cmp.Or(x.Function, "??"))
			out.WriteByte('\n')
			out.WriteString(cmp.Or(x.File, "??"))
			out.WriteByte(':')
			out.WriteString(strconv.Itoa(int(x.Line)))
			out.WriteByte(':')
			out.WriteString(strconv.Itoa(int(x.Column)))
			out.WriteByte('\n')
		}
		out.WriteByte('\n')
	}
	return nil
}
