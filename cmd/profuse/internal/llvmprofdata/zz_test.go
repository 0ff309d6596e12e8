package llvmprofdata
import ("testing";"io";"os";"strings")
func BenchmarkShow(b *testing.B){ bench(b, "show --sample /tmp/dr/big.ext") }
func BenchmarkOverlap(b *testing.B){ bench(b, "overlap --sample /tmp/dr/big.ext /tmp/dr/big.ext") }
func bench(b *testing.B, args string){
 for range b.N { Main(strings.Fields(args), Env{Stdout: io.Discard, Stderr: os.Stderr, Prog:"llvm-profdata"}) }
}
