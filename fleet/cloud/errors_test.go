package cloud

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/profuse-pgo/profuse/internal/files/store"
)

func operations(ctx context.Context, s store.Store, key string) map[string]error {
	failed := make(map[string]error)
	for _, err := range s.List(ctx, key) {
		failed["list"] = err
	}
	_, failed["read"] = s.Stat(ctx, key)
	if r, err := s.Open(ctx, store.Object{Key: key, Size: 1}, 0, -1); err == nil {
		r.Close()
	} else {
		failed["open"] = err
	}
	failed["write"] = s.Put(ctx, key, strings.NewReader("contents"))
	failed["create"] = s.Create(ctx, key, []byte("contents"))
	failed["delete"] = s.Delete(ctx, key)
	return failed
}

// wantAdvice tests an error for what a user needs, and for what nobody may see.
func wantAdvice(t *testing.T, what string, err error, fatal bool, advice string) {
	t.Helper()
	e := (*store.Error)(nil)
	if !errors.As(err, &e) {
		t.Errorf("%s: %v", what, err)
		return
	}
	if e.Fatal != fatal || !strings.Contains(e.Advice, advice) {
		t.Errorf("%s: %v\nfatal %v, want %v; want advice with %q", what, err, e.Fatal, fatal, advice)
	}
	text := err.Error()
	if len(text) > 600 || strings.Contains(text, "\n") || strings.Contains(text, "RequestID") {
		t.Errorf("%s: the message is too long: %s", what, text)
	}
	for _, secret := range []string{secretKey, azureSecret, accessKey, "X-Amz", "Signature="} {
		if strings.Contains(text, secret) {
			t.Errorf("%s: the message has %q: %s", what, secret, text)
		}
	}
}

func TestWrongCredentials(t *testing.T) {
	t.Run("s3", func(t *testing.T) {
		server := gateway(t)
		name := s3Fresh(t, server)
		for _, variable := range []string{"AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"} {
			t.Run(variable, func(t *testing.T) {
				t.Setenv(variable, "something-else")
				for op, err := range operations(t.Context(), open(t, s3URL(name, server.address)), "x") {
					advice := denied.advice
					if op == "read" {
						advice = "" // the answer to HEAD has no code
					}
					wantAdvice(t, op, err, true, advice)
					if !errors.Is(err, fs.ErrPermission) {
						t.Errorf("%s: %v", op, err)
					}
				}
			})
		}
	})
	t.Run("azblob", func(t *testing.T) {
		azurite(t)
		name := azureFresh(t)
		t.Setenv("AZURE_STORAGE_KEY", "c29tZXRoaW5nIGVsc2U=")
		for op, err := range operations(t.Context(), open(t, "azblob://"+name), "x") {
			wantAdvice(t, op, err, true, "")
			if !errors.Is(err, fs.ErrPermission) {
				t.Errorf("%s: %v", op, err)
			}
		}
	})
}

func TestNoCredentials(t *testing.T) {
	clean(t)
	for op, err := range operations(t.Context(), open(t, "s3://bucket?region=us-east-1&endpoint=http://127.0.0.1:1&use_path_style=true"), "x") {
		wantAdvice(t, op, err, true, "where they come from")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	for op, err := range operations(t.Context(), open(t, "s3://bucket"), "x") {
		wantAdvice(t, op, err, true, "AWS_REGION")
	}
	t.Setenv("AZURE_TOKEN_CREDENTIALS", "dev") // the credentials of developers' tools, which are not there
	t.Setenv("PATH", "")
	for _, u := range []string{"gs://bucket", "azblob://container?storage_account=nobody"} {
		s, _, err := Drivers().Open(t.Context(), u)
		if err == nil {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			_, err = s.Stat(ctx, "x")
			cancel()
		}
		wantAdvice(t, u, err, true, "where they come from")
	}
	_, _, err := Drivers().Open(t.Context(), "azblob://container")
	if err == nil || !strings.Contains(err.Error(), "AZURE_STORAGE_ACCOUNT") {
		t.Error(err)
	}
}

func TestMissingBucket(t *testing.T) {
	places(t, func(t *testing.T, p place) {
		present := p.open(t, p.server.address)
		location := strings.Replace(present.URL(""), p.bucket+"/", "absent-bucket", 1)
		if strings.HasPrefix(location, "s3:") {
			location = s3URL("absent-bucket", p.server.address)
		}
		for op, err := range operations(t.Context(), open(t, location), "x") {
			switch {
			case op == "delete" && err == nil: // nothing is there
			case op == "read" || op == "open" && errors.Is(err, fs.ErrNotExist):
				// The answer to HEAD does not say what is missing.
			case strings.HasPrefix(location, "gs:") && errors.Is(err, fs.ErrNotExist):
				// fake-gcs-server says only that something is missing, Google what it is.
			default:
				wantAdvice(t, op, err, true, "correct its name")
			}
		}
	})
}

// TestNoPermission: a user may write below one prefix only.
func TestNoPermission(t *testing.T) {
	server := gateway(t)
	name := s3Fresh(t, server)
	out, err := exec.CommandContext(t.Context(), server.exe, "admin", "--access", accessKey, "--secret", secretKey,
		"--endpoint-url", "http://"+server.address, "create-user", "--access", name, "--secret", "their-secret", "--role", "user").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	policy := fmt.Sprintf(`{"Statement": [{"Effect": "Allow", "Principal": {"AWS": [%q]}, "Action": ["s3:GetObject", "s3:PutObject"], "Resource": ["arn:aws:s3:::%s/theirs/*"]}]}`, name, name)
	if _, err := s3Client(t, server).PutBucketPolicy(t.Context(), &s3.PutBucketPolicyInput{Bucket: &name, Policy: &policy}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", name)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "their-secret")
	s := open(t, s3URL(name, server.address))
	put(t, s, "theirs/x", []byte("contents"))
	if got := contents(t, s, "theirs/x"); string(got) != "contents" {
		t.Errorf("%q", got)
	}
	permissions := map[string]string{
		"list": "s3:ListBucket", "read": "s3:GetObject", "open": "s3:GetObject", "write": "s3:PutObject", "create": "s3:PutObject", "delete": "s3:DeleteObject",
	}
	for op, err := range operations(t.Context(), s, "other/x") {
		wantAdvice(t, op, err, true, permissions[op])
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v", op, err)
		}
	}
}

func TestWrongRegion(t *testing.T) {
	server := gateway(t)
	name := s3Fresh(t, server)
	s := open(t, strings.Replace(s3URL(name, server.address), "us-east-1", "eu-west-1", 1))
	for op, err := range operations(t.Context(), s, "x") {
		if op == "read" {
			continue // versitygw does not name the region in a header, as S3 does
		}
		wantAdvice(t, op, err, true, "the bucket is in the region us-east-1: add ?region=us-east-1")
	}
}

// TestAnswers: what providers say, as their documents have it. No server here says so.
func TestAnswers(t *testing.T) {
	s3Error := func(code, message string) string {
		return fmt.Sprintf("<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
	}
	googleError := func(code int, message, reason string) string {
		return fmt.Sprintf(`{"error": {"code": %d, "message": %q, "errors": [{"reason": %q}]}}`, code, message, reason)
	}
	for _, c := range []struct {
		name, scheme string
		status       int
		header, body string
		fatal        bool
		advice       string
	}{
		{"clock", "s3", 403, "", s3Error("RequestTimeTooSkewed", "The difference between the request time and the current time is too large."), true, "clock of this machine"},
		{"expired", "s3", 400, "", s3Error("ExpiredToken", "The provided token has expired."), true, "have expired"},
		{"redirect", "s3", 301, "X-Amz-Bucket-Region: eu-north-1", s3Error("PermanentRedirect", "The bucket you are attempting to access must be addressed using the specified endpoint."), true, "the region eu-north-1"},
		{"redirect of HEAD", "s3", 301, "X-Amz-Bucket-Region: eu-north-1", "", true, "the region eu-north-1"},
		{"region", "s3", 400, "", s3Error("AuthorizationHeaderMalformed", "The authorization header is malformed; the region 'us-east-1' is wrong; expecting 'eu-north-1'"), true, "the region eu-north-1"},
		{"region of HEAD", "s3", 400, "X-Amz-Bucket-Region: eu-north-1", "", true, "the region eu-north-1"},
		{"bucket", "gs", 404, "", googleError(404, "The specified bucket does not exist.", "notFound"), true, "correct its name"},
		{"permission", "gs", 403, "", googleError(403, "someone does not have storage.objects.get access to the Google Cloud Storage object.", "forbidden"), true, "storage.objects."},
		{"token", "gs", 401, "", googleError(401, "Invalid Credentials", "authError"), true, "does not accept the credentials"},
		{"clock", "azblob", 403, "X-Ms-Error-Code: AuthenticationFailed", "<?xml version=\"1.0\"?><Error><Code>AuthenticationFailed</Code><Message>Server failed to authenticate the request.\nRequestId:1</Message><AuthenticationErrorDetail>Request date header too old: 'Date header'</AuthenticationErrorDetail></Error>", true, "clock of this machine"},
		{"permission", "azblob", 403, "X-Ms-Error-Code: AuthorizationPermissionMismatch", s3Error("AuthorizationPermissionMismatch", "This request is not authorized to perform this operation using this permission.\nRequestId:1"), true, "Storage Blob Data"},
	} {
		t.Run(c.scheme+" "+c.name, func(t *testing.T) {
			clean(t)
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if name, value, ok := strings.Cut(c.header, ": "); ok {
					w.Header().Set(name, value)
				}
				if c.scheme == "gs" {
					w.Header().Set("Content-Type", "application/json")
				}
				w.WriteHeader(c.status)
				if r.Method != http.MethodHead {
					io.WriteString(w, c.body)
				}
			}))
			defer front.Close()
			address := strings.TrimPrefix(front.URL, "http://")
			location := c.scheme + "://bucket"
			switch c.scheme {
			case "s3":
				t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
				t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
				location = s3URL("bucket", address)
			case "gs":
				t.Setenv("STORAGE_EMULATOR_HOST", address)
			case "azblob":
				t.Setenv("AZURE_STORAGE_ACCOUNT", azureAccount)
				t.Setenv("AZURE_STORAGE_KEY", azureSecret)
				t.Setenv("AZURE_STORAGE_DOMAIN", address)
				t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
			}
			s := open(t, location)
			if strings.HasSuffix(c.name, "HEAD") {
				_, err := s.Stat(t.Context(), "x")
				wantAdvice(t, "stat", err, c.fatal, c.advice)
				return
			}
			wantAdvice(t, "put", s.Put(t.Context(), "x", strings.NewReader("contents")), c.fatal, c.advice)
			for _, err := range s.List(t.Context(), "") {
				wantAdvice(t, "list", err, c.fatal, c.advice)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	clean(t)
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	err = open(t, s3URL("bucket", address)).Put(t.Context(), "x", strings.NewReader("contents"))
	wantAdvice(t, "put", err, false, "cannot be reached")
	t.Setenv("AZURE_STORAGE_ACCOUNT", azureAccount)
	t.Setenv("AZURE_STORAGE_SAS_TOKEN", "sv=2024&sig=Signature=of-the-token")
	t.Setenv("AZURE_STORAGE_DOMAIN", address)
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	err = open(t, "azblob://container").Put(t.Context(), "x", strings.NewReader("contents"))
	wantAdvice(t, "put", err, false, "cannot be reached")
	// A URL must not send the token elsewhere.
	if _, _, err := Drivers().Open(t.Context(), "azblob://container?domain=example.org"); err == nil || strings.Contains(err.Error(), "of-the-token") {
		t.Errorf("%v", err)
	}
}

// TestLocations: what a URL may not say.
func TestLocations(t *testing.T) {
	clean(t)
	for location, want := range map[string]string{
		"s3://bucket?regoin=x": `unknown query parameter "regoin"`,
		"s3://bucket?region=us-east-1&endpoint=http://me:" + secretKey + "@host": "must not contain credentials",
		"s3://bucket?region=a&region=b":                                          "region twice",
		"gs://bucket?anonymous=perhaps":                                          "want true or false",
		"gs://bucket?access_id=me":                                               "unknown query parameter",
		"azblob://container?storage_account=a&pretend=x":                         `unknown query parameter "pretend"`,
	} {
		_, _, err := Drivers().Open(t.Context(), location)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", location, err, want)
			continue
		}
		wantAdvice(t, location, err, true, "")
	}
}

// disordered is a provider that lists objects as it likes.
type disordered struct {
	provider
	pages [][]string
	loop  bool
}

func (d disordered) ordered() bool       { return true }
func (d disordered) answer(error) answer { return answer{} }

func (d disordered) list(_ context.Context, _, page string) (objects []store.Object, next string, err error) {
	at := len(page)
	for _, key := range d.pages[min(at, len(d.pages)-1)] {
		objects = append(objects, store.Object{Key: key})
	}
	if at+1 < len(d.pages) {
		next = page + "x"
	} else if d.loop {
		next = page
	}
	return objects, next, nil
}

// TestDisorder: a server that lists out of order, or without end, is not believed.
func TestDisorder(t *testing.T) {
	for name, d := range map[string]disordered{
		"order": {pages: [][]string{{"a", "c"}, {"b"}}},
		"twice": {pages: [][]string{{"a"}, {"a"}}},
		"loop":  {pages: [][]string{{"a"}, {"b"}}, loop: true},
	} {
		b := &bucket{provider: d, location: "test://bucket"}
		var last error
		n := 0
		for _, err := range b.List(t.Context(), "") {
			if n++; n > 10 {
				t.Fatalf("%s: no end", name)
			}
			last = err
		}
		if e := (*store.Error)(nil); !errors.As(last, &e) {
			t.Errorf("%s: %v", name, last)
		}
	}
}
