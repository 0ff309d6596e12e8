package report

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
)

// Handler serves the report of one or more profiles: at / a page that asks for
// its parts when they are looked at, so that the first is soon there however
// large the profiles are, and at /report.html the file that [Write] makes.
//
// Each part is made once, when it is first asked for, and kept. Several may be
// asked for at once, and are made at the same time as far as there are CPUs.
//
// It is meant for a port of this machine alone, and answers only requests whose
// Host is localhost or a loopback address: a web page from elsewhere cannot
// reach it under a name of its own. No path of a URL names a file.
func Handler(sources []Source, opt Options) (http.Handler, error) {
	opt.Progress = nil // for Write, which is not what is waited for here
	all, err := newSources(sources, opt)
	if err != nil {
		return nil, err
	}
	sets := newServedSets(all)
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
		servePart(sets, w, r, func(p *servedParts) *answer { return p.tab })
	})
	mux.HandleFunc("GET /page/{set}/{page}", func(w http.ResponseWriter, r *http.Request) {
		servePart(sets, w, r, func(p *servedParts) *answer { return p.page })
	})
	// Browsers ask for it unasked, and log that there is none.
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	return guarded(mux), nil
}

// servePart answers with a part of the page that the path names: 404 if there
// is no page of that name, 204 if the profile has nothing to show there.
func servePart(sets []*servedSet, w http.ResponseWriter, r *http.Request, part func(*servedParts) *answer) {
	i, err := strconv.Atoi(r.PathValue("set"))
	if err != nil || i < 0 || i >= len(sets) {
		http.NotFound(w, r)
		return
	}
	for _, p := range sets[i].pages {
		if p.id != r.PathValue("page") {
			continue
		}
		parts, err := p.parts()
		if parts == nil {
			writeAnswer(w, r, nil, err)
			return
		}
		writeAnswer(w, r, part(parts), err)
		return
	}
	http.NotFound(w, r)
}

// nothingElse is the policy of what is no page: whatever it is taken for, it
// may do nothing.
const nothingElse = "default-src 'none'"

// guarded refuses what does not come from this machine, and forbids browsers
// what no answer needs.
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

// isLocal reports whether the Host of a request can only mean this machine.
// The port does not matter: it may be forwarded from another one.
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

// An answer is kept as it is sent to browsers, compressed.
type answer struct {
	kind   string // Content-Type
	policy string // Content-Security-Policy; empty for nothingElse
	packed []byte // with gzip
	size   int    // unpacked
}

func newAnswer(kind, policy string, text []byte) (*answer, error) {
	var b bytes.Buffer
	// It goes no further than this machine: fast is better than small.
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(text); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return &answer{kind, policy, b.Bytes(), len(text)}, nil
}

// writeAnswer answers with a, with "no content" if it is nil, or with the error.
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
		_, _ = w.Write(a.packed) // the browser may be gone, which is nobody's concern
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

// acceptsGzip reads an Accept-Encoding.
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
