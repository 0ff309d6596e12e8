//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The program to symbolize has more than 100 MB of debug information: a few files that use
// the standard library, linked many times under other names.
const (
	symbolUnits  = 6
	symbolCopies = 24
	lookedUp     = 100_000 // addresses
)

// symbolUnit is one file, whose debug information comes nearly all from the templates of the
// standard library.
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

// copies compiles a unit and returns copies of the object, in which what it defines for
// others has names of its own.
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
	// bench/symbolize does with package symbolize what llvm-symbolizer does.
	tool := symbolizer(dir)
	if err := prepare("go", "build", "-trimpath", "-o", tool, "./bench/symbolize"); err != nil {
		return nil, err
	}
	program, addresses := filepath.Join(dir, "program"), filepath.Join(dir, "addresses")
	out := []string{program, addresses}
	if exists(addresses) {
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
	// Nothing is called: the linker keeps what it is given without --gc-sections.
	link := []string{"-fuse-ld=lld", "-Wl,-z,now", "-o", program, main}
	for _, list := range objects {
		link = append(link, list...)
	}
	if err := prepare("clang++-22", link...); err != nil {
		return nil, err
	}
	for _, list := range objects {
		for _, object := range list {
			// Together the copies take as much room as the program.
			os.Remove(object)
		}
	}
	var sample bytes.Buffer
	cmd := exec.Command(tool, "-sample", fmt.Sprint(lookedUp), program)
	cmd.Stdout, cmd.Stderr = &sample, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	return out, os.WriteFile(addresses, sample.Bytes(), 0o666)
}

// symbolizer is where the program is built that stands for profuse here.
func symbolizer(dir string) string { return filepath.Join(dir, "symbolize") }

// symbolizing looks up the addresses.
func (b *bench) symbolizing(inputs []string) []*command {
	return []*command{
		{name: "drop-in", kind: ours, stdin: inputs[1], stdout: true, argv: []string{symbolizer(filepath.Dir(inputs[0])), inputs[0]}},
		{name: "llvm", kind: peer, stdin: inputs[1], stdout: true, argv: []string{"llvm-symbolizer-22", "--obj=" + inputs[0], "--functions=linkage", "--inlines", "--no-demangle"}},
	}
}
