package instrument_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/profuse-pgo/profuse/internal/mip/instrument"
)

// BenchmarkRewrite measures bytes of assembly text per second.
func BenchmarkRewrite(b *testing.B) {
	for _, tt := range []struct{ cc, source string }{{"clang-22", "flow.c"}, {"g++", "throw.cpp"}} {
		tc := native(b, tt.cc)
		text, target := tc.assembly(b, tt.source, "-O2"), tc.target(b)
		for _, profile := range modes {
			b.Run(fmt.Sprintf("%s/%d", tt.source, profile), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				var out []byte
				for b.Loop() {
					var err error
					if out, _, err = instrument.Rewrite(out[:0], text, instrument.Options{Target: target, Profile: profile}); err != nil {
						b.Fatal(err)
					}
				}
				if bytes.Count(out, []byte("Lmip_")) == 0 {
					b.Fatal("nothing instrumented")
				}
			})
		}
	}
}
