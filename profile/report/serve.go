package report

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Handler serves the report of one or more profiles. At / it serves a page that requests its parts when the user
// looks at them, so that it appears quickly even for large profiles. At /report.html it serves the file that
// [Write] makes.
//
// Each part is made once, at the first request, and kept. Parts requested at
// the same time are made in parallel, as far as there are CPUs.
//
// The handler is meant only for a port of this machine. It answers only requests whose Host is localhost or a
// loopback address, so that a foreign web page cannot reach it under a host name of its own. No path of a URL
// names a file.
func Handler(sources []Source, opt Options) (http.Handler, error) {
	opt.Progress = nil // nobody waits for all pages
	sets, err := newSets(sources, opt)
	if err != nil {
		return nil, err
	}
	served := newServedSets(sets)
	shell, err := newShell(sets, opt)
	if err != nil {
		return nil, err
	}
	whole := sync.OnceValues(func() (*answer, error) { return wholeReport(sources, opt) })

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) { shell.write(w, r) })
	mux.HandleFunc("GET /report.html", func(w http.ResponseWriter, r *http.Request) {
		a, err := whole()
		writeAnswer(w, r, a, err)
	})
	mux.HandleFunc("GET /tab/{set}/{page}", func(w http.ResponseWriter, r *http.Request) {
		servePart(served, w, r, func(p *servedParts) (*answer, error) { return p.tab, nil })
	})
	mux.HandleFunc("GET /page/{set}/{page}", func(w http.ResponseWriter, r *http.Request) {
		servePart(served, w, r, func(p *servedParts) (*answer, error) { return p.page, nil })
	})
	mux.HandleFunc("GET /part/{set}/{page}/{number}", func(w http.ResponseWriter, r *http.Request) {
		servePart(served, w, r, func(p *servedParts) (*answer, error) {
			n, err := strconv.Atoi(r.PathValue("number"))
			if err != nil || n < 0 || n >= len(p.more) {
				return nil, nil
			}
			return p.more[n]()
		})
	})
	// Browsers always request it, and log an error if it is missing.
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return guarded(mux), nil
}

// servePart answers with the part of the page that the path names: 404 if no
// page has that name, 204 if the profile has no data for the page.
func servePart(sets []servedSet, w http.ResponseWriter, r *http.Request, part func(*servedParts) (*answer, error)) {
	i, err := strconv.Atoi(r.PathValue("set"))
	if err != nil || i < 0 || i >= len(sets) || sets[i].parts[r.PathValue("page")] == nil {
		http.NotFound(w, r)
		return
	}
	parts, err := sets[i].parts[r.PathValue("page")]()
	if parts == nil {
		writeAnswer(w, r, nil, err)
		return
	}
	a, err := part(parts)
	writeAnswer(w, r, a, err)
}

// nothingElse is the content policy of answers that are not pages: it forbids
// everything, whatever a browser takes the answer for.
const nothingElse = "default-src 'none'"

// guarded refuses requests that are not addressed to this machine, and forbids
// browsers everything that no answer needs.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", nothingElse+"; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		// Another run may show other profiles at the same address.
		h.Set("Cache-Control", "no-store")
		if !isLocal(r.Host) {
			http.Error(w, "This is served to localhost alone.", http.StatusForbidden)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "Nothing can be changed here.", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLocal reports whether a Host can only mean this machine. The port may differ: it may be forwarded from another one.
func isLocal(host string) bool {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// An answer is kept compressed, as browsers receive it.
type answer struct {
	kind   string // Content-Type
	policy string // Content-Security-Policy; empty for nothingElse
	packed []byte // with gzip
	size   int    // unpacked
}

func newAnswer(kind, policy string, text []byte) (*answer, error) {
	// It stays on this machine: fast compression matters more than a small size.
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err == nil {
		_, err = z.Write(text)
	}
	if err == nil {
		err = z.Close()
	}
	return &answer{kind, policy, packed.Bytes(), len(text)}, err
}

// writeAnswer writes a, "no content" if a is nil, or the error.
func writeAnswer(w http.ResponseWriter, r *http.Request, a *answer, err error) {
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case a == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		a.write(w, r)
	}
}

// write sends the answer, unpacked to a client that does not accept gzip.
func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Vary", "Accept-Encoding")
	if a.policy != "" {
		h.Set("Content-Security-Policy", a.policy+"; frame-ancestors 'none'")
	}
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(a.packed)))
		_, _ = w.Write(a.packed) // fails if the browser is gone
		return
	}
	h.Set("Content-Length", strconv.Itoa(a.size))
	if r.Method == http.MethodHead {
		return
	}
	if z, err := gzip.NewReader(bytes.NewReader(a.packed)); err == nil {
		_, _ = io.Copy(w, z)
	}
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, weight, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(coding), "gzip") {
			q, found := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
			value, err := strconv.ParseFloat(q, 64)
			return !found || err == nil && value > 0
		}
	}
	return false
}
