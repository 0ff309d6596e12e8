//go:build !linux

package watch

// A notifier does nothing here: the run polls. Notifications on macOS require every file to be
// open, and notifications on Windows lose changes when thousands of files arrive.
type notifier struct {
	wake chan struct{}
}

func newNotifier(string) (n *notifier, why string) {
	return nil, "this system does not tell of changes"
}

func (n *notifier) add(string) (why string)                { return "" }
func (n *notifier) takePaths() (map[string]struct{}, bool) { return nil, false }
func (n *notifier) close()                                 {}
