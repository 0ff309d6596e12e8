//go:build !linux

package watch

// A notifier is for systems that tell of changes. That of macOS has to open
// every file for it, and that of Windows is lossy; profiles come in thousands.
type notifier struct {
	wake chan struct{}
}

func newNotifier(string) (n *notifier, why string) {
	return nil, "this system does not tell of changes"
}

func (n *notifier) add(string) (why string)           { return "" }
func (n *notifier) take() (map[string]struct{}, bool) { return nil, false }
func (n *notifier) close()                            {}
