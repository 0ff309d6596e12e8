package report_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/profuse-pgo/profuse/formats"
	"github.com/profuse-pgo/profuse/internal/program/classfile"
	"github.com/profuse-pgo/profuse/profile/coverage"
	"github.com/profuse-pgo/profuse/profile/report"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// servedFixtures are real profiles, at least one of each family and kind.
var servedFixtures = []string{
	"irpgo/llvm22/temporal-merged.profdata", "irpgo/llvm22/dispatch-indexed.profdata", "irpgo/llvm22/coverage-indexed.profdata",
	"irpgo/llvm22/memprof-ir.profdata", "memprof/raw/clang22-histogram.profdata",
	"mip/all.mip", "mip/blocks.mip", "mip/counts.mip", "mip/function.mip", "iprof/app.iprof", "iprof/checks.iprof",
}

func openFixtures(t testing.TB, names ...string) []report.Source {
	t.Helper()
	classes := classfile.NewIndex(classfile.Options{})
	if err := classes.Add(filepath.Join(oracle.Root(t), "testdata", "iprof", "app", "classes")); err != nil {
		t.Fatal(err)
	}
	var out []report.Source
	for _, name := range names {
		data := oracle.ReadFile(t, filepath.Join(oracle.Root(t), "testdata", filepath.FromSlash(name)))
		v, err := formats.View(name, data, formats.ViewOptions{Classes: classes})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, report.Source{View: v})
	}
	return out
}

func newHandler(t testing.TB, names ...string) http.Handler {
	t.Helper()
	h, err := report.Handler(openFixtures(t, names...), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// get asks a handler as a browser on this machine would, without compression.
func get(h http.Handler, path string) *httptest.ResponseRecorder {
	return ask(h, http.MethodGet, "127.0.0.1:8000", path, "")
}

func ask(h http.Handler, method, host, path, accept string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	if accept != "" {
		r.Header.Set("Accept-Encoding", accept)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// shellFacts are what the page at / says of itself.
type shellFacts struct {
	Served bool
	Sets   []struct{ Pages []string }
}

func readShell(t testing.TB, h http.Handler) shellFacts {
	t.Helper()
	_, rest, found := strings.Cut(get(h, "/").Body.String(), `<script type="application/json" id="facts">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var facts shellFacts
	if err := json.Unmarshal([]byte(text), &facts); !found || err != nil {
		t.Fatalf("facts %q: %v", text, err)
	}
	return facts
}

// TestServedPages: every page of every fixture is there or has nothing to show,
// and what a tab says is what its page says.
func TestServedPages(t *testing.T) {
	seen := make(map[string]bool)
	serve := func(names ...string) {
		h := newHandler(t, names...)
		facts := readShell(t, h)
		if !facts.Served {
			t.Errorf("%v: the page does not know that it is served", names)
		}
		for i, set := range facts.Sets {
			for _, id := range set.Pages {
				path := "/" + strconv.Itoa(i) + "/" + id
				tab, page := get(h, "/tab"+path), get(h, "/page"+path)
				if tab.Code != page.Code {
					t.Errorf("%v: %s: the tab answers %d, the page %d", names, path, tab.Code, page.Code)
				}
				if page.Code == http.StatusNoContent {
					continue
				}
				if page.Code != http.StatusOK {
					t.Errorf("%v: %s: %d: %s", names, path, page.Code, page.Body)
					continue
				}
				seen[id] = true
				var said struct {
					Title, Body string
					Names       *struct{ Order, Shared []int }
				}
				var title struct{ Title string }
				if err := json.Unmarshal(page.Body.Bytes(), &said); err != nil {
					t.Errorf("%v: %s: %v", names, path, err)
				}
				if err := json.Unmarshal(tab.Body.Bytes(), &title); err != nil {
					t.Errorf("%v: %s: %v", names, path, err)
				}
				if said.Title == "" || said.Title != title.Title || said.Body == "" || said.Names == nil {
					t.Errorf("%v: %s: title %q, that of the tab %q, %d bytes", names, path, said.Title, title.Title, len(said.Body))
				}
				if kind := page.Header().Get("Content-Type"); kind != "application/json" {
					t.Errorf("%v: %s: %s", names, path, kind)
				}
			}
		}
		if w := get(h, "/report.html"); w.Code != http.StatusOK || !strings.HasSuffix(w.Body.String(), "</html>\n") {
			t.Errorf("%v: the file: %d", names, w.Code)
		}
	}
	for _, name := range servedFixtures {
		serve(name)
	}
	serve("irpgo/clang22/ir-run1.profraw", "irpgo/clang22/ir-run2.profraw")
	for _, id := range report.PageIDs() {
		if !seen[id] {
			t.Errorf("no fixture has the page %s", id)
		}
	}
}

// TestServedParts: further data of a page are fetched by number.
func TestServedParts(t *testing.T) {
	c := &coverage.Coverage{HasLines: true, Files: []*coverage.File{{Path: "a.c", Lines: []coverage.Line{{Number: 3, Count: 1}}}}}
	c.Finish()
	h, err := report.Handler([]report.Source{{Coverage: c}}, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/part/0/coverage/0": 200, "/part/0/coverage/1": 204, "/part/0/coverage/-1": 204, "/part/0/coverage/x": 204,
		"/page/0/functions": 404, "/part/0/nothing/0": 404, "/part/1/coverage/0": 404, "/part/0/coverage/": 404,
	} {
		if got := get(h, path).Code; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	var files []struct{ Line, Count []int }
	if err := json.Unmarshal(get(h, "/part/0/coverage/0").Body.Bytes(), &files); err != nil || len(files) != 1 || len(files[0].Line) != 1 || files[0].Count[0] != 1 {
		t.Errorf("%+v, error %v", files, err)
	}
}

// TestServedTwice: requests at the same time get the same, and the views are
// only read. The race detector sees the rest.
func TestServedTwice(t *testing.T) {
	h := newHandler(t, "irpgo/clang22/ir-run1.profraw", "irpgo/clang22/ir-run2.profraw")
	facts := readShell(t, h)
	var paths []string
	for i, set := range facts.Sets {
		for _, id := range set.Pages {
			paths = append(paths, "/page/"+strconv.Itoa(i)+"/"+id, "/tab/"+strconv.Itoa(i)+"/"+id)
		}
	}
	paths = append(paths, "/", "/report.html")
	const askers = 4
	got := make([][]string, askers)
	var all sync.WaitGroup
	for i := range askers {
		all.Go(func() {
			for _, path := range paths {
				got[i] = append(got[i], get(h, path).Body.String())
			}
		})
	}
	all.Wait()
	for i := range got {
		if !slices.Equal(got[i], got[0]) {
			t.Error("not every asker got the same")
		}
	}
}

func TestServedHosts(t *testing.T) {
	h := newHandler(t, "iprof/app.iprof")
	for host, want := range map[string]int{
		"127.0.0.1:1234": 200, "127.0.0.1": 200, "localhost:80": 200, "LOCALHOST": 200, "[::1]:8080": 200, "[::1]": 200, "::1": 200,
		"127.5.5.5:1": 200,
		"":            403, "example.com": 403, "example.com:1234": 403, "127.0.0.1.example.com": 403, "localhost.example.com:80": 403,
		"192.168.0.1:80": 403, "0.0.0.0:80": 403, "[::]:80": 403, "localhost:80:80": 403, "127.0.0.1:80@example.com": 403, "2130706433": 403,
	} {
		for _, path := range []string{"/", "/page/0/overview", "/report.html", "/nowhere"} {
			code := ask(h, http.MethodGet, host, path, "").Code
			if want == 403 && code != 403 || want == 200 && code == 403 {
				t.Errorf("Host %q, %s: %d", host, path, code)
			}
		}
	}
}

func TestServedMethods(t *testing.T) {
	h := newHandler(t, "iprof/app.iprof")
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "PROPFIND"} {
		w := ask(h, method, "localhost", "/", "")
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d, allowed %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	server := httptest.NewServer(h)
	defer server.Close()
	for _, path := range []string{"/", "/page/0/overview", "/report.html"} {
		r, err := http.Head(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode != http.StatusOK {
			t.Errorf("HEAD %s: %d", path, r.StatusCode)
		}
		r.Body.Close()
	}
}

func TestServedPaths(t *testing.T) {
	h := newHandler(t, "iprof/app.iprof")
	for _, path := range []string{
		"/page/1/overview", "/page/-1/overview", "/page/x/overview", "/page/0/nothing", "/page/0/", "/page/0/report-head", "/page/0/..%2foverview",
		"/tab/9/overview", "/index.html", "/assets/core.js", "/etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/page/99999999999999999999/overview",
	} {
		if code := get(h, path).Code; code != http.StatusNotFound {
			t.Errorf("%s: %d", path, code)
		}
	}
	if code := get(h, "/favicon.ico").Code; code != http.StatusNoContent {
		t.Errorf("favicon: %d", code)
	}
}

// TestServedHeaders: nothing is cached, guessed or framed, and every answer has a policy.
func TestServedHeaders(t *testing.T) {
	h := newHandler(t, "iprof/app.iprof")
	for _, path := range []string{"/", "/page/0/overview", "/tab/0/overview", "/report.html", "/nowhere", "/favicon.ico"} {
		header := get(h, path).Header()
		for name, want := range map[string]string{
			"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s: %s: %q, want %q", path, name, got, want)
			}
		}
		policy := header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
	shell := get(h, "/").Header().Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "script-src 'sha256-", "style-src 'sha256-"} {
		if !strings.Contains(shell, want) {
			t.Errorf("the policy of the page lacks %s: %s", want, shell)
		}
	}
}

func TestServedCompression(t *testing.T) {
	h := newHandler(t, "iprof/app.iprof")
	plain := get(h, "/page/0/overview").Body.String()
	for accept, want := range map[string]bool{
		"gzip": true, "GZIP": true, "deflate, gzip;q=0.5": true, "br, gzip, zstd": true, "gzip; q=1.0": true,
		"": false, "identity": false, "gzip;q=0": false, "gzip; q=0.0": false, "br": false, "x-gzip": false, "gzip;q=x": false,
	} {
		w := ask(h, http.MethodGet, "localhost", "/page/0/overview", accept)
		if w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%q: %s bytes said, %d sent", accept, w.Header().Get("Content-Length"), w.Body.Len())
		}
		if w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: varies with %q", accept, w.Header().Get("Vary"))
		}
		text := w.Body.String()
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("%q: compressed: %v", accept, got)
		} else if got {
			z, err := gzip.NewReader(w.Body)
			if err != nil {
				t.Fatal(err)
			}
			unpacked, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			text = string(unpacked)
		}
		if text != plain {
			t.Errorf("%q: not the same text", accept)
		}
	}
}

func TestServedNothing(t *testing.T) {
	if _, err := report.Handler(nil, report.Options{}); err == nil {
		t.Error("no profile is no error")
	}
}

// TestServedTitle: two profiles are what the page is about, not that they are compared.
func TestServedTitle(t *testing.T) {
	h := newHandler(t, "iprof/app.iprof", "iprof/checks.iprof")
	const want = "<title>app.iprof, checks.iprof – profuse report</title>"
	for _, path := range []string{"/", "/report.html"} {
		if !strings.Contains(get(h, path).Body.String(), want) {
			t.Errorf("%s: not %s", path, want)
		}
	}
}
