package browsertest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

// patience is how long a step may take before the test gives up: CI machines
// are slow, and nothing here is a measurement.
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

// browser starts the browser at the first call. Without one the test is
// skipped.
func browser(t *testing.T) context.Context {
	t.Helper()
	path := oracle.Tool(t, "chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
	b := &theBrowser
	b.start.Do(func() {
		options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
			chromedp.ExecPath(path), chromedp.DisableGPU, chromedp.WindowSize(1280, 900),
			chromedp.Flag("disable-component-update", true),
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

// A tab is one of the browser's. It notes what the console says and what is
// asked of the network.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	console  []string
	requests []string
}

func newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.note); err != nil {
		t.Fatal(err)
	}
	b.size(1280, 900)
	// Colours that are changing are those of neither state.
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	}))
	return b
}

// note is called for each event.
func (b *tab) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var args []string
		for _, a := range e.Args {
			args = append(args, strings.TrimSpace(a.Description+" "+string(a.Value)))
		}
		b.console = append(b.console, fmt.Sprintf("%s: %s", e.Type, strings.Join(args, " ")))
	case *runtime.EventExceptionThrown:
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

// said returns what the console said since the last call.
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

// asked returns the addresses asked for since the last call.
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

// value evaluates an expression of the page.
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

// wait waits until an expression is true.
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

// size sets the size of the window in pixels.
func (b *tab) size(width, height int64) { b.do(chromedp.EmulateViewport(width, height)) }

// scripts switches scripts of pages on or off.
func (b *tab) scripts(on bool) {
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return err
	}))
}

// shownPage is the page that is seen.
const shownPage = `[...document.querySelectorAll('.page')].find((p) => p.offsetParent !== null)`

// open goes to an address and waits until the page that it shows is drawn.
func (b *tab) open(address string) {
	b.t.Helper()
	// To the same file with another fragment would be no new page.
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	b.drawn()
}

// drawn waits until the page that is seen is drawn, or has said that it cannot.
func (b *tab) drawn() {
	b.t.Helper()
	b.wait(`((p) => p && !p.querySelector('.wait') && p.children.length > 1 &&
		(!p.hasAttribute('data-script') || p.classList.contains('live') || p.querySelector('.failure')))(` + shownPage + `)`)
	if failure := value[string](b, `(`+shownPage+`.querySelector('.failure') || {textContent: ''}).textContent`); failure != "" {
		b.t.Errorf("the page says: %s", failure)
	}
	// Drawings follow the first layout.
	b.frames()
}

// frames waits until what was changed has been drawn.
func (b *tab) frames() {
	b.t.Helper()
	value[bool](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(true), 0))))`)
}

// shownID returns the id of the page that is seen, "functions".
func (b *tab) shownID() string { return value[string](b, shownPage+`.dataset.page`) }

// tabs returns the ids of the pages of the set that is seen. The tabs of a
// served report come one after the other.
func (b *tab) tabs() []string {
	b.t.Helper()
	b.wait(`!document.querySelector('.set:not([hidden]) nav.tabs[aria-busy]')`)
	return value[[]string](b, `[...document.querySelectorAll('.set:not([hidden]) [data-tab]:not([hidden])')].map((a) => a.dataset.tab)`)
}

// choose opens a page by its tab.
func (b *tab) choose(id string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`.set:not([hidden]) [data-tab=%q]`, id))))
	b.wait(shownPage + fmt.Sprintf(`?.dataset.page === %q`, id))
	b.drawn()
}

// click clicks on the first element that a selector finds in the page that is
// seen.
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

// clickOn clicks on the first element that a selector finds.
func clickOn(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.Click(chromedp.CSS(selector))
}

func navigate(address string) chromedp.Action[chromedp.Void] { return chromedp.Navigate(address) }
