package covmap

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestValues: expressions have the values of their definition, whatever their order. Those
// fail that need a counter that there is not, or themselves.
func TestValues(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var v values
	for range 5000 {
		expressions := make([]expression, random.IntN(12))
		operand := func() counter {
			switch n := counter(random.IntN(20)); {
			case n < 2:
				return zeroCounter
			case n < 12:
				return (n-2)/2<<2 | counterNumber // the last of which there is not
			default:
				return counter(random.IntN(len(expressions)))<<2 | addition
			}
		}
		for i := range expressions {
			expressions[i] = expression{operand(), operand(), random.IntN(2) == 0}
		}
		counts := []uint64{5, 7, 1 << 63, 1}
		absent := random.IntN(4) == 0
		var define func(c counter, within int) (*big.Int, bool)
		define = func(c counter, within int) (*big.Int, bool) {
			switch n := int(c >> 2); {
			case c.constant() || c&3 == counterNumber && absent:
				return new(big.Int), true
			case c&3 == counterNumber:
				if n >= len(counts) {
					return new(big.Int), false
				}
				return new(big.Int).SetUint64(counts[n]), true
			case within > len(expressions): // a cycle
				return new(big.Int), false
			default:
				left, l := define(expressions[n].Left, within+1)
				right, r := define(expressions[n].Right, within+1)
				if !expressions[n].Add {
					return new(big.Int).Sub(left, right), l && r
				}
				return new(big.Int).Add(left, right), l && r
			}
		}
		v.evaluate(expressions, counts, absent)
		for i := range expressions {
			c := counter(i)<<2 | addition
			want, wantOK := define(c, 0)
			got, ok := v.of(c)
			value := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(got.high), 64), new(big.Int).SetUint64(got.low))
			if ok != wantOK || ok && value.Cmp(want) != 0 {
				t.Fatalf("%v, absent is %v: expression %d is %d, %v; want %d, %v", expressions, absent, i, value, ok, want, wantOK)
			}
		}
	}
}

// TestPaths: a relative name is joined to its folder as the system of the folder does it.
func TestPaths(t *testing.T) {
	for _, c := range []struct{ dir, name, want string }{
		{"/build", "../src/a.c", "/src/a.c"}, {`C:\build`, `..\src\a.c`, `C:\src\a.c`}, {`C:\build`, "src/./a.c", `C:\build\src\a.c`}, {`C:/build`, "a.c", "C:/build/a.c"}, {"", "a.c", "a.c"},
	} {
		if got := join(c.dir, c.name); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.name, c.dir, got, c.want)
		}
	}
	for name, want := range map[string]bool{"/a": true, `\\server\a`: true, `C:\a`: true, "c:/a": true, "a": false, "C:": false, `.\a`: false} {
		if isAbsolute(name) != want {
			t.Errorf("%s is absolute: %t", name, !want)
		}
	}
}
