package symbolize

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// benchmarkProgram builds a program of several units that consist of templates of the standard library, 1.2 MB of
// DWARF each: three seconds of compiling. PROFUSE_BENCH_BINARY names another program to use instead.
func benchmarkProgram(b *testing.B) string {
	b.Helper()
	if file := os.Getenv("PROFUSE_BENCH_BINARY"); file != "" {
		return file
	}
	const units = 4
	var script, declare, call strings.Builder
	for i := range units {
		fmt.Fprintf(&script, `cat >u%d.cpp <<EOF
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>
namespace n%[1]d {
struct A { int v; std::string s; bool operator<(const A &o) const { return v < o.v; } };
int work(int n) {
  std::map<A, std::vector<A>> m;
  for (int i = 0; i < n; i++) { A a{i, std::to_string(i)}; m[a].push_back(a); }
  std::vector<A> v;
  for (auto &[k, x] : m) v.insert(v.end(), x.begin(), x.end());
  std::sort(v.begin(), v.end(), [](const A &x, const A &y) { return x.s < y.s; });
  std::ostringstream o;
  o << std::regex_search(v.empty() ? "" : v[0].s, std::regex("a(b|c)*d"));
  std::function<int(int)> f = [&](int k) { return k + v.size(); };
  return f(o.str().size());
}
}
EOF
clang++-22 -std=c++17 -O2 -g -c u%[1]d.cpp
`, i)
		fmt.Fprintf(&declare, "namespace n%d { int work(int); }\n", i)
		fmt.Fprintf(&call, "  r += n%d::work(n);\n", i)
	}
	fmt.Fprintf(&script, "cat >m.cpp <<EOF\n%sint main(int n, char **) {\n  int r = 0;\n%s  return r;\n}\nEOF\n", &declare, &call)
	script.WriteString("clang++-22 -g m.cpp u*.o -o out\n")
	return build(b, script.String(), "clang++-22")
}

// BenchmarkBatch looks up a million addresses, of which a tenth are distinct, opening the file each time.
func BenchmarkBatch(b *testing.B) {
	file := benchmarkProgram(b)
	f := open(b, file, Options{})
	text := f.Section(".text")
	r := rand.New(rand.NewPCG(1, 2))
	distinct := make([]uint64, min(100_000, text.Size))
	for i := range distinct {
		distinct[i] = text.Addr + r.Uint64N(text.Size)
	}
	repeated := make([]uint64, 1_000_000)
	for i := range repeated {
		repeated[i] = distinct[r.IntN(len(distinct))]
	}
	for _, c := range []struct {
		name  string
		addrs []uint64
	}{{"one", distinct[:1]}, {"distinct", distinct}, {"repeated", repeated}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(file, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := f.Batch(c.addrs, func(int, []Frame) {}); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
			b.ReportMetric(float64(b.N)*float64(len(c.addrs))/b.Elapsed().Seconds(), "addresses/s")
		})
	}
}

// BenchmarkFrames looks up one address after the other in what is loaded.
func BenchmarkFrames(b *testing.B) {
	f := open(b, benchmarkProgram(b), Options{CacheSize: 1 << 30})
	addrs := every(b, f, ".text", 97)
	i := 0
	for b.Loop() {
		if _, err := f.Frames(addrs[i%len(addrs)]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
