package cloud

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/profuse-pgo/profuse/internal/files/store"
)

// An answer is what a server said about a request that failed.
type answer struct {
	status int // of HTTP; 0 if there was no answer
	// The provider's name for the kind of error; see problems.
	code    string
	message string
	region  string // where S3 has the bucket
	// missing says that there is no such bucket.
	missing bool
}

// problem is what a code of an answer means.
type problem struct {
	// What to do, in a sentence for the user; "" if nothing helps but to wait.
	advice string
	// Trying again does not help.
	fatal bool
}

var (
	denied    = problem{"the provider does not accept the credentials: they are wrong, or have expired", true}
	clock     = problem{"the clock of this machine is wrong: set it", true}
	throttled = problem{"the provider limits the rate of requests: run fewer tasks at the same time", false}
	busy      = problem{"", false}
)

// problems are those that a code of an answer tells better than its status.
var problems = map[string]problem{
	// S3
	"InvalidAccessKeyId": denied, "SignatureDoesNotMatch": denied, "ExpiredToken": denied, "InvalidToken": denied,
	"TokenRefreshRequired": denied, "InvalidClientTokenId": denied, "UnrecognizedClientException": denied,
	"RequestTimeTooSkewed": clock, "RequestExpired": clock,
	"SlowDown": throttled, "Throttling": throttled, "ThrottlingException": throttled, "RequestLimitExceeded": throttled,
	"TooManyRequestsException": throttled, "BandwidthLimitExceeded": throttled, "ServiceUnavailable": throttled,
	"RequestTimeout": busy, "OperationAborted": busy, "ConditionalRequestConflict": busy, "InternalError": busy,
	// Those of parts of an upload that failed: the next upload has new ones.
	"NoSuchUpload": busy, "InvalidPart": busy, "BadDigest": busy, "IncompleteBody": busy,
	// Azure
	"AuthenticationFailed": denied, "ServerBusy": throttled, "OperationTimedOut": busy,
	"InvalidBlockList": busy, "Md5Mismatch": busy,
	// Google
	"rateLimitExceeded": throttled, "userRateLimitExceeded": throttled,
}

// wrongRegion are the codes of S3 for a request to another region than that of the bucket.
var wrongRegion = map[string]bool{"PermanentRedirect": true, "AuthorizationHeaderMalformed": true, "IllegalLocationConstraintException": true}

// failed describes the error of an operation. op is list, read, write, create, delete or
// open. An error that is described already stays as it is. The text is the server's, without
// the URL of the request, and Fatal says that trying again does not help.
func (b *bucket) failed(op, key string, err error) *store.Error {
	if err == nil {
		return nil
	}
	e := (*store.Error)(nil)
	if errors.As(err, &e) {
		return e
	}
	e = &store.Error{Op: op, URL: b.URL(key), Err: err}
	for _, plain := range []error{fs.ErrExist, store.ErrChanged, context.Canceled, errStalled, errConflict} {
		if errors.Is(err, plain) {
			e.Err = plain
			return e
		}
	}
	e.Err = errors.New(sentence(err))
	var a answer
	if b.provider != nil {
		a = b.answer(err)
	}
	switch {
	case isCredentials(err) && a.code == "":
		text := e.Err.Error()
		if _, why, ok := strings.Cut(text, "get credentials: "); ok {
			text = why
		}
		e.Err, e.Advice, e.Fatal = fmt.Errorf("no credentials were found (%s)", text), "docs/fleet.md says where they come from", true
		return e
	case strings.Contains(err.Error(), "region must be set"), strings.Contains(err.Error(), "Invalid region"):
		e.Err, e.Advice, e.Fatal = errors.New("no valid region is named"), "add ?region=REGION to the URL, or set AWS_REGION", true
		return e
	case a.status == 0:
		explainNetwork(e, err)
		return e
	}
	e.Err = errors.New(a.text())
	p, known := problems[a.code]
	switch {
	case a.missing:
		e.Err, e.Advice, e.Fatal = errors.New("there is no such bucket"), "correct its name, or create it", true
	case wrongRegion[a.code] || a.status == http.StatusMovedPermanently:
		e.Advice, e.Fatal = "the bucket is in another region: name it with ?region=REGION or AWS_REGION", true
		if a.region != "" {
			e.Advice = fmt.Sprintf("the bucket is in the region %s: add ?region=%[1]s to its URL, or set AWS_REGION=%[1]s", a.region)
		}
	case a.code == "AuthenticationFailed" && strings.Contains(a.message, "Date header"):
		e.Advice, e.Fatal = clock.advice, true
	case known:
		e.Advice, e.Fatal = p.advice, p.fatal
		if p == denied {
			e.Err = fmt.Errorf("%w: %s", fs.ErrPermission, a.text())
		}
	case a.status == http.StatusNotFound:
		e.Err, e.Fatal = fs.ErrNotExist, true
	case a.status == http.StatusUnauthorized:
		e.Err, e.Advice, e.Fatal = fmt.Errorf("%w: %s", fs.ErrPermission, a.text()), denied.advice, true
	case a.status == http.StatusForbidden:
		e.Err, e.Fatal = fmt.Errorf("%w: %s", fs.ErrPermission, a.text()), true
		e.Advice = "the credentials do not allow it: it needs " + b.permission(op)
	case a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable:
		e.Advice = throttled.advice
	case a.status == http.StatusRequestTimeout:
	case a.status >= 400 && a.status < 500:
		e.Fatal = true
	}
	return e
}

// text is what the server said, in one line.
func (a answer) text() string {
	text := a.message
	switch {
	case text == "":
		text = http.StatusText(a.status)
		if a.code != "" {
			text = a.code
		}
	case a.code != "" && !strings.Contains(text, a.code):
		text = a.code + ": " + text
	}
	return short(fmt.Sprintf("%s (status %d)", strings.TrimRight(oneLine(text), ". "), a.status))
}

// explainNetwork explains why there was no answer. A name that does not exist and an
// untrusted certificate are fatal; a network that is down is not.
func explainNetwork(e *store.Error, err error) {
	var dns *net.DNSError
	var untrusted *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		e.Advice, e.Fatal = "the endpoint has no address: are the bucket, the region and the endpoint of the URL right?", true
	case errors.As(err, &untrusted):
		e.Advice, e.Fatal = "the certificate of the endpoint is not trusted", true
	case errors.As(err, &dns), errors.As(err, &op) && op.Op == "dial":
		e.Advice = "the endpoint cannot be reached: is it right, and is the network?"
	}
}

// isCredentials reports whether no credentials were found for a request, by what the
// libraries say: of S3, Google and Azure.
func isCredentials(err error) bool {
	text := err.Error()
	for _, words := range []string{
		"no EC2 IMDS role found", "failed to retrieve credentials", "get credentials:", "static credentials are empty",
		"could not find default credentials", "cannot fetch token",
		"DefaultAzureCredential", "ManagedIdentityCredential",
	} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// sentence is the last part of what a library says, without what it tells about the request:
// URLs may have signatures.
func sentence(err error) string {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return short(oneLine(err.Error()))
}

// queries are the queries of URLs.
var queries = regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`)

// oneLine joins the lines of a text and removes the queries of URLs, which may have
// signatures.
func oneLine(text string) string {
	return queries.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
}

// short cuts a text that is longer than a message should be.
func short(text string) string {
	const limit = 300
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
