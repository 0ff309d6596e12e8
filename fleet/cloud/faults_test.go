package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/test/oracle"
)

func put(t *testing.T, s store.Store, key string, data []byte) {
	t.Helper()
	oracle.NoError(t, s.Put(t.Context(), key, bytes.NewReader(data)))
}

func contents(t *testing.T, s store.Store, key string) []byte {
	t.Helper()
	o, err := s.Stat(t.Context(), key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	data := oracle.Must(readAll(t, s, o))(t)
	return data
}

func readAll(t *testing.T, s store.Store, o store.Object) ([]byte, error) {
	t.Helper()
	r, err := s.Open(t.Context(), o, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// some returns n bytes that differ from part to part.
func some(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i ^ i>>8 ^ i>>16)
	}
	return data
}

// a provider's server, and how a bucket of it is opened at another address: that of a proxy between.
type place struct {
	server *server
	bucket string
	open   func(t *testing.T, address string) store.Store
}

// places calls test with a fresh bucket of each server.
func places(t *testing.T, test func(t *testing.T, p place)) {
	t.Run("s3", func(t *testing.T) {
		s := gateway(t)
		name := s3Fresh(t, s)
		test(t, place{s, name, func(t *testing.T, address string) store.Store { return open(t, s3URL(name, address)) }})
	})
	t.Run("gs", func(t *testing.T) {
		s := google(t)
		name := gcsFresh(t)
		test(t, place{s, name, func(t *testing.T, address string) store.Store {
			t.Setenv("STORAGE_EMULATOR_HOST", address)
			return open(t, "gs://"+name)
		}})
	})
	t.Run("azblob", func(t *testing.T) {
		s := azurite(t)
		name := azureFresh(t)
		test(t, place{s, name, func(t *testing.T, address string) store.Store {
			t.Setenv("AZURE_STORAGE_DOMAIN", address)
			return open(t, "azblob://"+name)
		}})
	})
}

// between starts a proxy before a server. handle may answer a request itself and return true.
func between(t *testing.T, s *server, handle func(w http.ResponseWriter, r *http.Request) bool) (address string) {
	t.Helper()
	target := &url.URL{Scheme: "http", Host: s.address}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // it is signed
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		// Uploads of Google go on at the address that an answer names.
		ModifyResponse: func(r *http.Response) error {
			if location := r.Header.Get("Location"); location != "" {
				r.Header.Set("Location", strings.ReplaceAll(location, s.address, r.Request.Header.Get("X-Proxy")))
			}
			return nil
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !handle(w, r) {
			r.Header.Set("X-Proxy", r.Host)
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	return strings.TrimPrefix(front.URL, "http://")
}

// wire starts a proxy that knows nothing of HTTP. It breaks connections when limit bytes
// went through them to the server (up) or from it (down), as often as cuts says.
func wire(t *testing.T, s *server, up, down int64, cuts *atomic.Int32) (address string) {
	t.Helper()
	l := oracle.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	pass := func(to, from net.Conn, limit int64) {
		n, _ := io.CopyN(to, from, limit)
		if n == limit && cuts.Add(-1) < 0 {
			io.Copy(to, from)
		}
		to.Close()
		from.Close()
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			back, err := net.Dial("tcp", s.address)
			if err != nil {
				client.Close()
				continue
			}
			go pass(back, client, up)
			go pass(client, back, down)
		}
	}()
	return l.Addr().String()
}

const never = 1 << 60

// TestBodiesCut: what is read is whole, though connections break in the middle.
func TestBodiesCut(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		want := some(3 << 20)
		put(t, p.open(t, p.server.address), "cut", want)
		var cuts atomic.Int32
		s := p.open(t, wire(t, p.server, never, 200<<10, &cuts))
		cuts.Store(3)
		o := oracle.Must(s.Stat(t.Context(), "cut"))(t)
		f := store.NewFetcher(t.Context(), t.TempDir())
		defer f.Close()
		name, release, err := f.Add(s, o)()
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, want %d (%v)", len(got), len(want), err)
		}
		if cuts.Load() > 0 {
			t.Errorf("%d connections are still to be cut", cuts.Load())
		}
	})
}

// TestUploadsCut: an upload that breaks leaves nothing behind that a reader could see, and
// what was there remains; the next attempt brings all of it.
func TestUploadsCut(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		direct := p.open(t, p.server.address)
		put(t, direct, "old", []byte("old contents"))
		// In one request, and in several parts.
		for _, size := range []int{1 << 20, 2*partSize + 100} {
			var cuts atomic.Int32
			cuts.Store(1 << 20)
			address := wire(t, p.server, int64(size)/3, never, &cuts)
			broken := p.open(t, address)
			for _, key := range []string{"old", fmt.Sprint("new", size)} {
				ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
				err := broken.Put(ctx, key, bytes.NewReader(some(size)))
				cancel()
				if e := (*store.Error)(nil); !errors.As(err, &e) || e.Fatal || e.URL != direct.URL(key) {
					t.Errorf("%s: %v", key, err)
				}
			}
			if got := contents(t, direct, "old"); string(got) != "old contents" {
				t.Errorf("%d bytes, want the old object", len(got))
			}
			var keys []string
			for o, err := range direct.List(t.Context(), "") {
				if err != nil {
					t.Fatal(err)
				}
				keys = append(keys, o.Key)
			}
			if want := "[old]"; fmt.Sprint(keys) != want && size == 1<<20 {
				t.Errorf("keys %q, want %q", keys, want)
			}
			cuts.Store(1)
			oracle.NoError(t, store.Put(t.Context(), broken, fmt.Sprint("new", size), some(size)))
			if got := contents(t, direct, fmt.Sprint("new", size)); !bytes.Equal(got, some(size)) {
				t.Errorf("%d bytes, want %d", len(got), size)
			}
		}
	})
}

// TestBodyFails: an object does not end where its contents could not be read.
func TestBodyFails(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		s := p.open(t, p.server.address)
		for _, size := range []int64{1 << 20, 2*partSize + 100} {
			failure := errors.New("the disk is broken")
			err := s.Put(t.Context(), "half", &failing{size: size, err: failure})
			if e := (*store.Error)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), failure.Error()) {
				t.Errorf("%v", err)
			}
			if got := contents(t, s, "half"); got != nil {
				t.Errorf("%d bytes are visible", len(got))
			}
		}
	})
}

// failing reads half of what it says it has.
type failing struct {
	size, at int64
	err      error
}

func (f *failing) Seek(offset int64, whence int) (int64, error) {
	f.at = offset
	if whence == io.SeekEnd {
		f.at += f.size
	}
	return f.at, nil
}

func (f *failing) Read(p []byte) (int, error) {
	if f.at >= f.size/2 {
		return 0, f.err
	}
	n := min(int64(len(p)), f.size/2-f.at)
	f.at += n
	return int(n), nil
}

// throttling is how providers limit the rate.
var throttling = map[string]func(w http.ResponseWriter){
	"s3": func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
	},
	"gs": func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error": {"code": 429, "message": "The rate of change requests is too high.", "errors": [{"reason": "rateLimitExceeded"}]}}`)
	},
	"azblob": func(w http.ResponseWriter) {
		w.Header().Set("X-Ms-Error-Code", "ServerBusy")
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `<?xml version="1.0"?><Error><Code>ServerBusy</Code><Message>The server is busy.</Message></Error>`)
	},
}

// TestThrottled: requests that are refused for their rate are sent again, at last with advice.
func TestThrottled(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		var left atomic.Int32
		scheme, _, _ := strings.Cut(p.open(t, p.server.address).URL(""), ":")
		s := p.open(t, between(t, p.server, func(w http.ResponseWriter, _ *http.Request) bool {
			if left.Add(-1) < 0 {
				return false
			}
			throttling[scheme](w)
			return true
		}))
		steps := map[string]func() error{
			"put":  func() error { return s.Put(t.Context(), "a", strings.NewReader("contents")) },
			"stat": func() error { _, err := s.Stat(t.Context(), "a"); return err },
			"list": func() error {
				for _, err := range s.List(t.Context(), "") {
					return err
				}
				return errors.New("nothing there")
			},
		}
		for _, name := range []string{"put", "stat", "list"} {
			left.Store(1)
			if err := steps[name](); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		left.Store(1 << 20)
		err := steps["put"]()
		if e := (*store.Error)(nil); !errors.As(err, &e) || e.Fatal || e.Advice != throttled.advice {
			t.Errorf("%v", err)
		}
	})
}

// TestCreateAnswerLost: a process that created an object but did not hear of it has created it, and another one has not.
func TestCreateAnswerLost(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		var lose atomic.Int32
		s := p.open(t, between(t, p.server, func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPut && r.Method != http.MethodPost || lose.Add(-1) < 0 {
				return false
			}
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			again, _ := http.NewRequest(r.Method, "http://"+p.server.address+r.URL.RequestURI(), bytes.NewReader(body))
			again.Header, again.Host = r.Header, r.Host
			if answer, err := http.DefaultClient.Do(again); err != nil {
				t.Error(err)
			} else {
				answer.Body.Close()
			}
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return true
			}
			c.Close()
			return true
		}))
		for i, lost := range []int32{1, 4} { // the library gives up before the last one
			key := fmt.Sprint("key", i)
			lose.Store(lost)
			if err := store.Create(t.Context(), s, key, []byte("mine")); err != nil {
				t.Errorf("%d answers lost: %v", lost, err)
			}
			lose.Store(0)
			for _, data := range []string{"mine", "another one's"} {
				if err := s.Create(t.Context(), key, []byte(data)); !errors.Is(err, fs.ErrExist) {
					t.Errorf("created again: %v", err)
				}
			}
			if got := contents(t, s, key); string(got) != "mine" {
				t.Errorf("%q", got)
			}
		}
	})
}

// TestCreateConflict: S3 refuses to create an object while another process does so, and nobody knows whether that one succeeds.
func TestCreateConflict(t *testing.T) {
	s := gateway(t)
	name := s3Fresh(t, s)
	var left atomic.Int32
	address := between(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || left.Add(-1) < 0 {
			return false
		}
		w.WriteHeader(http.StatusConflict)
		io.WriteString(w, `<Error><Code>ConditionalRequestConflict</Code><Message>At least one of the pre-conditions you specified did not hold.</Message></Error>`)
		return true
	})
	left.Store(2)
	b := open(t, s3URL(name, address))
	if err := b.Create(t.Context(), "x", []byte("mine")); err != nil || left.Load() >= 0 {
		t.Errorf("%v, %d answers left", err, left.Load())
	}
}

// TestStalled: a server that stops sending does not hold a reader up for ever.
func TestStalled(t *testing.T) {
	defer func(d time.Duration) { stalled = d }(stalled)
	stalled = 300 * time.Millisecond
	s := gateway(t)
	name := s3Fresh(t, s)
	put(t, open(t, s3URL(name, s.address)), "x", some(100_000))
	end := make(chan struct{})
	defer close(end)
	b := open(t, s3URL(name, between(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		w.Header().Set("Content-Length", "100000")
		w.Header().Set("ETag", `"x"`)
		w.Write(some(50_000))
		w.(http.Flusher).Flush()
		<-end
		return true
	})))
	_, err := readAll(t, b, store.Object{Key: "x", Size: 100_000, Tag: "x"})
	if e := (*store.Error)(nil); !errors.As(err, &e) || e.Fatal || e.Err != errStalled {
		t.Errorf("%v", err)
	}
}

// TestCompressed: objects that say that they are compressed are read as they are stored.
// fake-gcs-server decompresses nothing, as Google would without being asked.
func TestCompressed(t *testing.T) {
	data := []byte("\x1f\x8b not really compressed")
	gzip := "gzip"
	for scheme, write := range map[string]func(s store.Store) error{
		"s3": func(s store.Store) error {
			b := s.(*bucket).provider.(*s3Bucket)
			key := "x"
			_, err := b.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(data), ContentEncoding: &gzip})
			return err
		},
		"gs": func(s store.Store) error {
			w := s.(*bucket).provider.(*gcsBucket).bucket.Object("x").NewWriter(t.Context())
			w.ContentEncoding = gzip
			w.Write(data)
			return w.Close()
		},
		"azblob": func(s store.Store) error {
			_, err := s.(*bucket).provider.(*azureBucket).client.NewBlockBlobClient("x").UploadBuffer(t.Context(), data,
				&blockblob.UploadBufferOptions{HTTPHeaders: &blob.HTTPHeaders{BlobContentEncoding: &gzip}})
			return err
		},
	} {
		t.Run(scheme, func(t *testing.T) {
			var s store.Store
			switch scheme {
			case "s3":
				server := gateway(t)
				s = open(t, s3URL(s3Fresh(t, server), server.address))
			case "gs":
				google(t)
				s = open(t, "gs://"+gcsFresh(t))
			default:
				azurite(t)
				s = open(t, "azblob://"+azureFresh(t))
			}
			oracle.NoError(t, write(s))
			if got := contents(t, s, "x"); !bytes.Equal(got, data) {
				t.Errorf("%q, want %q", got, data)
			}
		})
	}
}
