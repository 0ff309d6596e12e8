package merging

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestAccountsOrder: accounts are written in the order of the inputs, however late the first ends.
func TestAccountsOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.json")
	f, err := createAccountsFile(path, "merge", "out")
	if err != nil {
		t.Fatal(err)
	}
	const inputs = maxWaiting + 1000 // so that some have to wait
	var group sync.WaitGroup
	next := make(chan int)
	for range 8 {
		group.Go(func() {
			for i := range next {
				f.add(i, 0, fmt.Appendf(nil, "%d", i))
				f.endInput(i, 1)
			}
		})
	}
	go func() {
		defer close(next)
		for i := 1; i < inputs; i++ {
			next <- i
		}
	}()
	group.Go(func() {
		for {
			f.mu.Lock()
			full := len(f.waiting) >= maxWaiting
			f.mu.Unlock()
			if full {
				break
			}
		}
		f.add(0, 0, []byte("0"))
		f.endInput(0, 1)
	})
	group.Wait()
	if err := f.commit(accountsSummary{}); err != nil {
		t.Fatal(err)
	}
	data := oracle.ReadFile(t, path)
	_, list, _ := strings.Cut(string(data), "\"inputs\": [")
	list, _, _ = strings.Cut(list, "]")
	for i, entry := range strings.Split(list, ",") {
		if strings.TrimSpace(entry) != fmt.Sprint(i) {
			t.Fatalf("entry %d is %q", i, strings.TrimSpace(entry))
		}
	}
}
