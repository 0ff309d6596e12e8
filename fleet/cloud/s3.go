package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	tmtypes "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob/s3blob"

	"github.com/profuse-pgo/profuse/internal/files/store"
)

// s3Bucket is a bucket of Amazon S3 or a compatible server.
type s3Bucket struct {
	client  *s3.Client
	uploads *transfermanager.Client
	name    string
	options s3blob.Options
	http    s3.HTTPClient
}

// openS3 opens the bucket that is the host of the URL. It keeps connections for readsAtOnce reads; a request fails if the server
// does not answer for the time in stalled.
func openS3(ctx context.Context, u *url.URL) (provider, error) {
	// Other servers send no checksums, and do not know the checksums that the library adds to requests. Amazon S3
	// verifies the checksums of requests.
	query := u.Query()
	foreign := query.Has("endpoint") || os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_S3") != ""
	for name, wanted := range map[string]bool{"response_checksum_validation": true, "request_checksum_calculation": foreign} {
		if wanted && !query.Has(name) && os.Getenv("AWS_"+strings.ToUpper(name)) == "" {
			query.Set(name, "when_required")
		}
	}
	if e, err := url.Parse(query.Get("endpoint")); err == nil && e.User != nil {
		return nil, errors.New("the endpoint must not contain credentials; they come from the environment of the process")
	}
	u.RawQuery = query.Encode()
	opener := new(s3blob.URLOpener)
	opened, err := opener.OpenBucketURL(ctx, u)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the URL
		}
		return nil, err
	}
	b := &s3Bucket{name: u.Host, options: opener.Options}
	if !opened.As(&b.client) {
		return nil, errors.New("no client of S3") // another release of Go CDK
	}
	b.http = b.client.Options().HTTPClient
	if c, ok := b.http.(*awshttp.BuildableClient); ok { // it has AWS_CA_BUNDLE
		b.http = c.WithTransportOptions(func(t *http.Transport) {
			t.MaxIdleConnsPerHost = readsAtOnce
			t.ResponseHeaderTimeout = stalled
		})
	}
	b.uploads = transfermanager.New(uploadClient{b.client, b.request(fewRetries)}, func(o *transfermanager.Options) {
		o.PartSizeBytes, o.MultipartUploadThreshold, o.Concurrency = partSize, partSize, partsAtOnce
		o.FailTimeout = time.Minute // uploaded parts cost money until the upload is aborted
		o.RequestChecksumCalculation = b.options.RequestChecksumCalculation
	})
	return b, nil
}

// request returns the options of a request that is tried several times.
func (b *s3Bucket) request(attempts int) func(*s3.Options) {
	return func(o *s3.Options) {
		o.HTTPClient = b.http
		o.RetryMaxAttempts = attempts
	}
}

// uploadClient gives the requests of uploads their options.
type uploadClient struct {
	*s3.Client
	options func(*s3.Options)
}

func (c uploadClient) PutObject(ctx context.Context, in *s3.PutObjectInput, opts ...func(*s3.Options)) (*s3.PutObjectOutput, error) {
	return c.Client.PutObject(ctx, in, append(opts, c.options)...)
}

func (c uploadClient) UploadPart(ctx context.Context, in *s3.UploadPartInput, opts ...func(*s3.Options)) (*s3.UploadPartOutput, error) {
	return c.Client.UploadPart(ctx, in, append(opts, c.options)...)
}

func (c uploadClient) CreateMultipartUpload(ctx context.Context, in *s3.CreateMultipartUploadInput, opts ...func(*s3.Options)) (*s3.CreateMultipartUploadOutput, error) {
	return c.Client.CreateMultipartUpload(ctx, in, append(opts, c.options)...)
}

func (c uploadClient) CompleteMultipartUpload(ctx context.Context, in *s3.CompleteMultipartUploadInput, opts ...func(*s3.Options)) (*s3.CompleteMultipartUploadOutput, error) {
	return c.Client.CompleteMultipartUpload(ctx, in, append(opts, c.options)...)
}

func (c uploadClient) AbortMultipartUpload(ctx context.Context, in *s3.AbortMultipartUploadInput, opts ...func(*s3.Options)) (*s3.AbortMultipartUploadOutput, error) {
	return c.Client.AbortMultipartUpload(ctx, in, append(opts, c.options)...)
}

// ordered: the directory buckets of S3 Express have no order.
func (b *s3Bucket) ordered() bool { return !strings.HasSuffix(b.name, "--x-s3") }

// list decodes the keys, which the server encodes for URLs.
func (b *s3Bucket) list(ctx context.Context, prefix, page string) (objects []store.Object, next string, err error) {
	in := &s3.ListObjectsV2Input{
		Bucket: &b.name, Prefix: &prefix, MaxKeys: aws.Int32(pageSize),
		EncodingType: types.EncodingTypeUrl, // XML cannot hold every key
	}
	if page != "" {
		in.ContinuationToken = &page
	}
	out, err := b.client.ListObjectsV2(ctx, in, b.request(retries))
	if err != nil {
		return nil, "", err
	}
	for _, o := range out.Contents {
		key := aws.ToString(o.Key)
		if out.EncodingType == types.EncodingTypeUrl {
			if key, err = url.QueryUnescape(key); err != nil {
				return nil, "", fmt.Errorf("a key in the list is not encoded: %w", err)
			}
		}
		objects = append(objects, store.Object{Key: key, Size: aws.ToInt64(o.Size), Tag: s3Tag(o.ETag), Modified: aws.ToTime(o.LastModified)})
	}
	if aws.ToBool(out.IsTruncated) {
		next = aws.ToString(out.NextContinuationToken)
	}
	return objects, next, nil
}

// s3Tag is an ETag without its quotes, which some servers leave out of lists.
func s3Tag(etag *string) string { return strings.Trim(aws.ToString(etag), `"`) }

// stat is a HEAD request, whose errors have no text.
func (b *s3Bucket) stat(ctx context.Context, key string) (store.Object, string, error) {
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: &key}, b.request(retries))
	if err != nil {
		return store.Object{}, "", err
	}
	return store.Object{
		Key: key, Size: aws.ToInt64(out.ContentLength), Tag: s3Tag(out.ETag), Modified: aws.ToTime(out.LastModified),
	}, out.Metadata[tokenName], nil
}

// open asks for a range of bytes, with the tag as a condition. It compares the tag in the answer, because a server may ignore
// the condition.
func (b *s3Bucket) open(ctx context.Context, key, tag string, offset, length int64) (io.ReadCloser, error) {
	in := &s3.GetObjectInput{Bucket: &b.name, Key: &key}
	if tag != "" {
		in.IfMatch = aws.String(`"` + tag + `"`)
	}
	switch {
	case length > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		in.Range = aws.String(fmt.Sprintf("bytes=%d-", offset))
	}
	out, err := b.client.GetObject(ctx, in, b.request(fewRetries))
	if err != nil {
		if b.answer(err).status == http.StatusPreconditionFailed {
			err = store.ErrChanged
		}
		return nil, err
	}
	if tag != "" && s3Tag(out.ETag) != tag { // the server does not know conditions
		out.Body.Close()
		return nil, store.ErrChanged
	}
	return out.Body, nil
}

// put uploads in parts if the object is larger than partSize, with the encryption of the URL.
func (b *s3Bucket) put(ctx context.Context, key string, body io.Reader, size int64) error {
	in := &transfermanager.UploadObjectInput{Bucket: &b.name, Key: &key, Body: body, ContentLength: &size}
	if b.options.EncryptionType != "" {
		in.ServerSideEncryption = tmtypes.ServerSideEncryption(b.options.EncryptionType)
	}
	if b.options.KMSEncryptionID != "" {
		in.SSEKMSKeyID = &b.options.KMSEncryptionID
	}
	_, err := b.uploads.UploadObject(ctx, in)
	return err
}

// create sends the object in one request with If-None-Match.
func (b *s3Bucket) create(ctx context.Context, key string, body *bytes.Reader, token string) error {
	in := &s3.PutObjectInput{
		Bucket: &b.name, Key: &key, Body: body, IfNoneMatch: aws.String("*"),
		Metadata: map[string]string{tokenName: token}, ServerSideEncryption: b.options.EncryptionType,
	}
	if b.options.KMSEncryptionID != "" {
		in.SSEKMSKeyId = &b.options.KMSEncryptionID
	}
	_, err := b.client.PutObject(ctx, in, b.request(fewRetries))
	switch a := b.answer(err); {
	case a.status == http.StatusPreconditionFailed:
		return fs.ErrExist
	case a.code == "ConditionalRequestConflict":
		return errConflict
	}
	return err
}

func (b *s3Bucket) delete(ctx context.Context, key string) error {
	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}, b.request(retries))
	return err
}

// expectedRegion matches the region in the message of an AuthorizationHeaderMalformed.
var expectedRegion = regexp.MustCompile(`expecting ['"]([a-z0-9-]+)['"]`)

// answer returns status and region of the response, and code and message of the error.
func (b *s3Bucket) answer(err error) (a answer) {
	var response *awshttp.ResponseError
	if errors.As(err, &response) && response.Response != nil {
		a.status = response.HTTPStatusCode()
		a.region = response.Response.Header.Get("X-Amz-Bucket-Region")
	}
	var api smithy.APIError
	if errors.As(err, &api) {
		a.code, a.message = api.ErrorCode(), api.ErrorMessage()
		if a.status == 0 {
			a.status = http.StatusInternalServerError
		}
	}
	if m := expectedRegion.FindStringSubmatch(a.message); m != nil {
		a.region = m[1]
	}
	// The answer to HEAD has no code.
	if a.status == http.StatusBadRequest && a.region != "" && a.region != b.client.Options().Region {
		a.code = "AuthorizationHeaderMalformed"
	}
	a.missing = a.code == "NoSuchBucket"
	return a
}

// permission names the actions of a policy.
func (b *s3Bucket) permission(op string) string {
	switch op {
	case "list":
		return "s3:ListBucket for the bucket, and s3:GetObject for what is read"
	case "read":
		return "s3:GetObject for the object (or there is no such object: S3 tells only those who have s3:ListBucket)"
	case "delete":
		return "s3:DeleteObject for the object"
	}
	return "s3:PutObject for the object, and s3:AbortMultipartUpload"
}

func (b *s3Bucket) close() error { return nil }
