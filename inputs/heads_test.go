package inputs

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestHeads: what files and archives begin with, as far as their first MiB has it.
func TestHeads(t *testing.T) {
	long := strings.Repeat("long ", 2<<20/len("long "))
	for name, c := range map[string]struct {
		data []byte
		want []string
	}{
		"empty":              {nil, []string{""}},
		"plain":              {[]byte("plain"), []string{"plain"}},
		"long":               {[]byte(long), []string{long[:headSize]}},
		"gzip":               {gzipOf([]byte("in gzip")), []string{"in gzip"}},
		"zstd":               {zstdOf([]byte("in zstd")), []string{"in zstd"}},
		"tar":                {tarOf("a", "1", ".hidden", "2", "b", "3"), []string{"1", "3"}},
		"compressed tar":     {gzipOf(tarOf("a", "1", "b", "3")), []string{"1", "3"}},
		"tar of compressed":  {tarOf("a", string(gzipOf([]byte("1"))), "b", "3"), []string{"1", "3"}},
		"until it is found":  {tarOf("a", "1", "b", "found", "c", "3"), []string{"1", "found"}},
		"behind much":        {tarOf(".hidden", long, "b", "3"), nil},
		"packed behind much": {gzipOf(tarOf(".hidden", long, "b", "3")), nil},
		"damaged":            {gzipOf([]byte("in gzip"))[:10], []string{""}},
		"too deep":           {gzipOf(gzipOf(gzipOf(gzipOf(gzipOf([]byte("x")))))), nil},
	} {
		path := filepath.Join(t.TempDir(), "file")
		oracle.WriteFile(t, path, c.data)
		var got []string
		File(path, Options{}).Heads(true, func(head []byte) bool {
			got = append(got, string(head))
			return string(head) != "found"
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %.80q", name, got)
		}
		got = nil
		File(path, Options{}).Heads(false, func(head []byte) bool {
			got = append(got, string(head))
			return true
		})
		if want := string(c.data[:min(len(c.data), headSize)]); len(got) != 1 || got[0] != want {
			t.Errorf("%s as it lies: %.80q", name, got)
		}
	}
	File("missing", Options{}).Heads(true, func([]byte) bool { t.Error("called"); return false })
}
