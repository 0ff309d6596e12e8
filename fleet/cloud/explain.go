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

// An answer is the answer of a server to a request that failed.
type answer struct {
	status  int    // of HTTP; 0 without an answer
	code    string // the provider's name for the kind of error, see problems
	message string
	region  string // of the bucket, from S3
	missing bool   // the bucket does not exist
}

// problem is the meaning of a code.
type problem struct {
	advice string // for the user; "" if only waiting helps
	fatal  bool   // another attempt does not help
}

var (
	denied    = problem{"the provider does not accept the credentials: they are wrong, or have expired", true}
	clock     = problem{"the clock of this machine is wrong: set it", true}
	throttled = problem{"the provider limits the rate of requests: run fewer tasks at the same time", false}
	busy      = problem{"", false}
)

// problems has the codes that say more than the status of an answer.
var problems = map[string]problem{
	// S3
	"InvalidAccessKeyId": denied, "SignatureDoesNotMatch": denied, "ExpiredToken": denied, "InvalidToken": denied,
	"TokenRefreshRequired": denied, "InvalidClientTokenId": denied, "UnrecognizedClientException": denied,
	"RequestTimeTooSkewed": clock, "RequestExpired": clock,
	"SlowDown": throttled, "Throttling": throttled, "ThrottlingException": throttled, "RequestLimitExceeded": throttled,
	"TooManyRequestsException": throttled, "BandwidthLimitExceeded": throttled, "ServiceUnavailable": throttled,
	"RequestTimeout": busy, "OperationAborted": busy, "ConditionalRequestConflict": busy, "InternalError": busy,
	// A part of an upload failed; the next upload has new parts.
	"NoSuchUpload": busy, "InvalidPart": busy, "BadDigest": busy, "IncompleteBody": busy,
	// Azure
	"AuthenticationFailed": denied, "ServerBusy": throttled, "OperationTimedOut": busy,
	"InvalidBlockList": busy, "Md5Mismatch": busy,
	// Google
	"rateLimitExceeded": throttled, "userRateLimitExceeded": throttled,
}

// wrongRegion has the codes of S3 for a request to the wrong region.
var wrongRegion = map[string]bool{"PermanentRedirect": true, "AuthorizationHeaderMalformed": true, "IllegalLocationConstraintException": true}

// describe describes the error of an operation: list, read, write, create, delete or open. The text is the server's, without
// the URL of the request. A store.Error stays as it is.
func (b *bucket) describe(op, key string, err error) *store.Error {
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
	case isMissingCredentials(err) && a.code == "":
		text := e.Err.Error()
		if _, why, ok := strings.Cut(text, "get credentials: "); ok {
			text = why
		}
		e.Err, e.Advice, e.Fatal = fmt.Errorf("no credentials were found (%s)", text), "docs/fleet.md says where they come from", true
	case strings.Contains(err.Error(), "region must be set"), strings.Contains(err.Error(), "Invalid region"):
		e.Err, e.Advice, e.Fatal = errors.New("no valid region is named"), "add ?region=REGION to the URL, or set AWS_REGION", true
	case a.status == 0:
		explainNetwork(e, err)
	default:
		b.explainAnswer(e, a)
	}
	return e
}

// explainAnswer describes the answer of a server.
func (b *bucket) explainAnswer(e *store.Error, a answer) {
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
		e.Advice = "the credentials do not allow it: it needs " + b.permission(e.Op)
	case a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable:
		e.Advice = throttled.advice
	case a.status == http.StatusRequestTimeout:
	case a.status >= 400 && a.status < 500:
		e.Fatal = true
	}
}

// text returns code and message of the server, in one line.
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

// explainNetwork explains why there was no answer. An unknown name and an untrusted certificate are fatal; a network that is
// down is not.
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

// isMissingCredentials reports whether a library found no credentials, by the texts of the libraries.
func isMissingCredentials(err error) bool {
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

// sentence returns the text of an error without the URL of the request, which may have a signature.
func sentence(err error) string {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	return short(oneLine(err.Error()))
}

// queries matches URLs with queries.
var queries = regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`)

// oneLine joins the lines of a text and removes the queries of URLs, which may have signatures.
func oneLine(text string) string {
	return queries.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
}

func short(text string) string {
	const limit = 300
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
