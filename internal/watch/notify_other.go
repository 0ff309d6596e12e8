//go:build !linux

package watch

// A notifier does nothing here: the run polls. The notifications of macOS require every
// file to be opened, and those of Windows lose changes when thousands of files arrive.
type notifier struct {
	wake chan struct{}
}

func newNotifier(string) (n *notifier, why string) {
	return nil, "this system does not tell of changes"
}

func (n *notifier) add(string) (why string)           { return "" }
func (n *notifier) take() (map[string]struct{}, bool) { return nil, false }
func (n *notifier) close()                            {}
