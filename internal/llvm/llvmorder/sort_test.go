package llvmorder

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

type pair struct{ key, place int }

func lessPair(a, b pair) bool { return a.key < b.key }

// randomPairs returns n elements with few keys, in an order that tries the ways of
// an introsort: random, sorted, or such that medians of three are bad pivots.
func randomPairs(rng *rand.Rand, n int) []pair {
	s := make([]pair, n)
	keys := 1 + rng.IntN(2*n)
	for i := range s {
		s[i].key = rng.IntN(keys)
	}
	switch rng.IntN(3) {
	case 0:
		slices.SortStableFunc(s, func(a, b pair) int { return a.key - b.key })
	case 1: // McIlroy's adversary: what Sort compares decides the keys
		keys := make([]int, n)
		solid, candidate := 0, 0
		for i := range keys {
			keys[i] = n
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		Sort(order, func(a, b int) bool {
			if keys[a] == n && keys[b] == n {
				at := b
				if a == candidate {
					at = a
				}
				keys[at] = solid
				solid++
			}
			if keys[a] == n {
				candidate = a
			} else if keys[b] == n {
				candidate = b
			}
			return keys[a] < keys[b]
		})
		for i := range s {
			s[i].key = keys[i] / 2
		}
	}
	for i := range s {
		s[i].place = i
	}
	return s
}

func TestSortSorts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		s := randomPairs(rng, 1+rng.IntN(400))
		want := slices.Clone(s)
		slices.SortFunc(want, func(a, b pair) int { return a.key - b.key })
		Sort(s, lessPair)
		seen := make(map[int]bool)
		for i := range s {
			if seen[s[i].place] = true; s[i].key != want[i].key {
				t.Fatalf("key %d at %d, want %d", s[i].key, i, want[i].key)
			}
		}
		if len(seen) != len(s) {
			t.Fatalf("%d of %d elements left", len(seen), len(s))
		}
	}
}

// TestSortIsLibstdcxx compares the order of equal elements with std::sort.
func TestSortIsLibstdcxx(t *testing.T) {
	gxx := oracle.Tool(t, "g++")
	dir := t.TempDir()
	program := filepath.Join(dir, "sort")
	compile := exec.Command(gxx, "-O1", "-x", "c++", "-o", program, "-")
	compile.Stdin = strings.NewReader(`
#include <algorithm>
#include <cstdio>
#include <vector>
struct P { int key, place; };
int main() {
  int n;
  while (scanf("%d", &n) == 1) {
    std::vector<P> v(n);
    for (int i = 0; i < n; i++) { scanf("%d", &v[i].key); v[i].place = i; }
    std::sort(v.begin(), v.end(), [](const P &a, const P &b) { return a.key < b.key; });
    for (auto &p : v) printf("%d ", p.place);
    printf("\n");
  }
}`)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	var in, want bytes.Buffer
	for range 3000 {
		s := randomPairs(rng, 1+rng.IntN(600))
		fmt.Fprintln(&in, len(s))
		for _, p := range s {
			fmt.Fprintln(&in, p.key)
		}
		Sort(s, lessPair)
		for _, p := range s {
			fmt.Fprintf(&want, "%d ", p.place)
		}
		want.WriteByte('\n')
	}
	run := exec.Command(program)
	run.Stdin = &in
	got := oracle.Must(run.Output())(t)
	if !bytes.Equal(got, want.Bytes()) {
		t.Error("std::sort orders equal elements otherwise")
	}
}
