package browser

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// patience is how long a step may take before the test gives up: CI machines are slow, and nothing here is a measurement.
const patience = 60 * time.Second

// theBrowser is shared by all tests, which have a tab each.
var theBrowser struct {
	start  sync.Once
	ctx    context.Context
	cancel context.CancelFunc
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if theBrowser.cancel != nil {
		theBrowser.cancel()
	}
	os.Exit(code)
}

// browser starts the browser at the first call. Without one the test is skipped.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := oracle.Tool(t, "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
	b := &theBrowser
	b.start.Do(func() {
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
			chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.WindowSize(1280, 900),
			chromedp.Flag("disable-component-update", true),
			// To start a process takes longer than most tests.
			chromedp.Flag("renderer-process-limit", strconv.Itoa(runtime.GOMAXPROCS(0))),
		)
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(allocator)
		b.ctx = ctx
		b.cancel = func() {
			cancel()
			stop()
		}
		b.err = chromedp.Do(ctx)
	})
	if b.err != nil {
		t.Fatalf("%s does not start: %v", path, b.err)
	}
	return b.ctx
}

// A tab is one of the browser's. It notes what the console says and what is asked of the network.
type tab struct {
	t      *testing.T
	ctx    context.Context
	cancel context.CancelFunc
	file   string // that was opened last

	mu       sync.Mutex
	console  []string
	requests []string
}

// tabs are those that no test uses at the moment. To make one takes longer than
// most tests, and nothing but what newTab sets outlasts a page.
var tabs struct {
	sync.Mutex
	free []*tab
}

func newTab(t *testing.T) *tab {
	t.Helper()
	b := freeTab()
	if b == nil {
		b = &tab{}
		b.ctx, b.cancel = chromedp.NewContext(browser(t), chromedp.WithNewBrowserContext())
		oracle.NoError(t, chromedp.Listen(b.ctx, b.note))
	}
	b.t, b.file = t, ""
	t.Cleanup(func() {
		if t.Failed() { // nobody knows in which state it is
			b.cancel()
			return
		}
		tabs.Lock()
		defer tabs.Unlock()
		tabs.free = append(tabs.free, b)
	})
	b.scripts(true)
	b.do(chromedp.Navigate("about:blank"))
	b.size(1280, 900)
	// Colours that are changing are those of neither state.
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	// One tab alone has the focus of the window; the others are to behave as if.
	call(b, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	b.said()
	b.asked()
	return b
}

func freeTab() *tab {
	tabs.Lock()
	defer tabs.Unlock()
	n := len(tabs.free)
	if n == 0 {
		return nil
	}
	b := tabs.free[n-1]
	tabs.free = tabs.free[:n-1]
	return b
}

func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdpruntime.EventConsoleAPICalled:
		var args []string
		for _, a := range e.Args {
			args = append(args, strings.TrimSpace(a.Description+" "+string(a.Value)))
		}
		b.console = append(b.console, fmt.Sprintf("%s: %s", e.Type, strings.Join(args, " ")))
	case *cdpruntime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		b.console = append(b.console, "exception: "+text)
	case *log.EventEntryAdded:
		b.console = append(b.console, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *tab) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	said := b.console
	b.console = nil
	return said
}

// quiet fails the test if the console said anything since the last call.
func (b *tab) quiet(where string) {
	b.t.Helper()
	for _, s := range b.said() {
		b.t.Errorf("%s: the console says %s", where, s)
	}
}

func (b *tab) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	asked := b.requests
	b.requests = nil
	return asked
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v; the console says %q", err, b.said())
	}
}

// call is for what package chromedp has no name of its own for.
func call[Params, Result any](b *tab, command cdp.Command[Params, Result], params Params) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

func value[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

func (b *tab) wait(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if value[bool](b, "Boolean("+expression+")") {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("never true: %s; the console says %q", expression, b.said())
		}
	}
}

func (b *tab) size(width, height int64) { b.do(chromedp.EmulateViewport(width, height)) }

func (b *tab) scripts(on bool) {
	b.t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// shownPage is the page that is seen.
const shownPage = `[...document.querySelectorAll('.page')].find((p) => p.offsetParent !== null)`

func (b *tab) open(address string) {
	b.t.Helper()
	file, fragment, _ := strings.Cut(address, "#")
	if file == b.file {
		// To the same file with another fragment would be no new page, and by way
		// of another one it would be in a process that has to be started.
		value[bool](b, fmt.Sprintf(`history.replaceState(null, '', %q) === undefined`, "#"+fragment))
		b.do(chromedp.Reload())
	} else {
		b.do(chromedp.Navigate(address))
	}
	b.file = file
	b.drawn()
}

// turn changes the fragment of the address, as a link within the page does.
func (b *tab) turn(fragment string) {
	b.t.Helper()
	value[string](b, fmt.Sprintf(`location.hash = %q`, fragment))
	b.drawn()
}

// frames waits until what was changed has been drawn. Drawings follow the first layout.
const frames = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 0))))`

func (b *tab) frames() {
	b.t.Helper()
	value[bool](b, frames)
}

// drawn waits until the page that is seen is drawn, or has said that it cannot.
func (b *tab) drawn() {
	b.t.Helper()
	failure := value[string](b, fmt.Sprintf(`(async () => {
		const ready = (p) => p && !p.querySelector('.wait') && p.children.length > 1 &&
			(!p.hasAttribute('data-script') || p.classList.contains('live') || p.querySelector('.failure'));
		for (const end = Date.now() + %d; !ready(%s); await new Promise(requestAnimationFrame)) {
			if (Date.now() > end) return 'nothing';
		}
		await %s;
		const failure = %[2]s.querySelector('.failure');
		return failure ? failure.textContent : '';
	})()`, patience.Milliseconds()/2, shownPage, frames))
	if failure != "" {
		b.t.Errorf("the page says: %s; the console: %q", failure, b.said())
	}
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(`.set:not([hidden]) .page:not([hidden]) ` + selector)))
	b.frames()
}

// press presses keys, as in package kb. What a key types it does not type if
// the page prevents it, so both are one event, other than in chromedp.KeyEvent.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		for _, r := range keys {
			events := kb.Encode(r)
			if len(events) == 3 { // down, what it types, up
				events[0].Text, events[0].UnmodifiedText = events[1].Text, events[1].UnmodifiedText
				events = []*input.DispatchKeyEventParams{events[0], events[2]}
			}
			for _, e := range events {
				if _, err := cdp.Call(ctx, t, input.DispatchKeyEvent, *e); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	b.frames()
}
