package cloud

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob/azureblob"

	"github.com/profuse-pgo/profuse/internal/files/store"
)

// azureBucket is a container of Azure Blob Storage.
type azureBucket struct{ client *container.Client }

// openAzure opens the container that is the host of the URL. The account comes from the
// environment or the URL; the error says what is missing.
func openAzure(ctx context.Context, u *url.URL) (provider, error) {
	service := azureblob.NewDefaultServiceURLOptions()
	if service.AccountName == "" && !u.Query().Has("storage_account") {
		return nil, errors.New("no storage account is named: set AZURE_STORAGE_ACCOUNT, or add ?storage_account=NAME to the URL")
	}
	if service.SASToken != "" {
		// Every request has the token: a URL must not direct it to another server.
		for name := range u.Query() {
			return nil, fmt.Errorf("the URL says %s, but with AZURE_STORAGE_SAS_TOKEN only the environment names the server", name)
		}
	}
	opener := azureblob.URLOpener{MakeClient: azureblob.NewDefaultClient, ServiceURLOptions: *service}
	opened, err := opener.OpenBucketURL(ctx, u)
	if err != nil {
		return nil, err
	}
	b := new(azureBucket)
	if !opened.As(&b.client) {
		return nil, errors.New("no client of Azure") // another release of Go CDK
	}
	return b, nil
}

// withAttempts returns the context of a request that is tried several times, with pauses of 200 ms to 15 s.
func withAttempts(ctx context.Context, attempts int) context.Context {
	ctx = policy.WithRetryOptions(ctx, policy.RetryOptions{
		MaxRetries: int32(attempts - 1), RetryDelay: 200 * time.Millisecond, MaxRetryDelay: 15 * time.Second,
	})
	// Otherwise Go would decompress objects with a Content-Encoding.
	return policy.WithHTTPHeader(ctx, http.Header{"Accept-Encoding": {"identity"}})
}

// ordered: accounts with folders list folder by folder.
func (b *azureBucket) ordered() bool { return false }

// list leaves out the blobs that stand for folders.
func (b *azureBucket) list(ctx context.Context, prefix, page string) (objects []store.Object, next string, err error) {
	size := int32(pageSize)
	options := &container.ListBlobsFlatOptions{Prefix: &prefix, MaxResults: &size}
	if page != "" {
		options.Marker = &page
	}
	out, err := b.client.NewListBlobsFlatPager(options).NextPage(withAttempts(ctx, retries))
	if err != nil {
		return nil, "", err
	}
	for _, o := range out.Segment.BlobItems {
		if p := o.Properties; o.Name != nil && p != nil && value(p.ResourceType) != "directory" {
			objects = append(objects, store.Object{Key: *o.Name, Size: value(p.ContentLength), Tag: azureTag(p.ETag), Modified: value(p.LastModified)})
		}
	}
	return objects, value(out.NextMarker), nil
}

// value returns *p, or the zero value if p is nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// azureTag is an ETag without its quotes, which lists leave out.
func azureTag(etag *azcore.ETag) string { return strings.Trim(string(value(etag)), `"`) }

// stat ignores the case of tokenName, which Azure does not keep.
func (b *azureBucket) stat(ctx context.Context, key string) (store.Object, string, error) {
	if err := azureKey(key); err != nil {
		return store.Object{}, "", err
	}
	out, err := b.client.NewBlobClient(key).GetProperties(withAttempts(ctx, retries), nil)
	if err != nil {
		return store.Object{}, "", err
	}
	token := ""
	for name, v := range out.Metadata {
		if strings.EqualFold(name, tokenName) {
			token = value(v)
		}
	}
	return store.Object{Key: key, Size: value(out.ContentLength), Tag: azureTag(out.ETag), Modified: value(out.LastModified)}, token, nil
}

// azureKey refuses keys that Azure changes.
func azureKey(key string) error {
	if strings.Contains(key, `\`) || strings.HasSuffix(key, "/") || strings.HasSuffix(key, ".") {
		return fmt.Errorf("key %q is no path in Azure, which changes backslashes, and dots and slashes at the end", key)
	}
	return nil
}

// open compares the tag again, because a server may ignore the condition.
func (b *azureBucket) open(ctx context.Context, key, tag string, offset, length int64) (io.ReadCloser, error) {
	if err := azureKey(key); err != nil {
		return nil, err
	}
	options := &blob.DownloadStreamOptions{Range: blob.HTTPRange{Offset: offset, Count: max(length, 0)}}
	if tag != "" {
		etag := azcore.ETag(`"` + tag + `"`)
		options.AccessConditions = &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfMatch: &etag}}
	}
	out, err := b.client.NewBlobClient(key).DownloadStream(withAttempts(ctx, fewRetries), options)
	if b.answer(err).status == http.StatusPreconditionFailed {
		err = store.ErrChanged
	}
	if err != nil {
		return nil, err
	}
	if tag != "" && azureTag(out.ETag) != tag {
		out.Body.Close()
		return nil, store.ErrChanged
	}
	return out.Body, nil
}

// put uploads in blocks of partSize, or larger blocks if there would be too many.
func (b *azureBucket) put(ctx context.Context, key string, body io.Reader, size int64) error {
	if err := azureKey(key); err != nil {
		return err
	}
	_, err := b.client.NewBlockBlobClient(key).UploadStream(withAttempts(ctx, fewRetries), body, &blockblob.UploadStreamOptions{
		BlockSize:   max(partSize, size/blockblob.MaxBlocks+1),
		Concurrency: partsAtOnce,
	})
	return err
}

// create sends the object in one request. Azure has several codes for a blob that exists.
func (b *azureBucket) create(ctx context.Context, key string, body *bytes.Reader, token string) error {
	if err := azureKey(key); err != nil {
		return err
	}
	anyTag := azcore.ETagAny
	_, err := b.client.NewBlockBlobClient(key).Upload(withAttempts(ctx, fewRetries), struct {
		io.ReadSeeker
		io.Closer
	}{body, io.NopCloser(nil)}, &blockblob.UploadOptions{
		Metadata:         map[string]*string{tokenName: &token},
		AccessConditions: &blob.AccessConditions{ModifiedAccessConditions: &blob.ModifiedAccessConditions{IfNoneMatch: &anyTag}},
	})
	switch a := b.answer(err); {
	case a.status == http.StatusPreconditionFailed, a.code == string(bloberror.BlobAlreadyExists), a.code == string(bloberror.UnauthorizedBlobOverwrite):
		return fs.ErrExist
	}
	return err
}

func (b *azureBucket) delete(ctx context.Context, key string) error {
	if err := azureKey(key); err != nil {
		return err
	}
	_, err := b.client.NewBlobClient(key).Delete(withAttempts(ctx, retries), nil)
	return err
}

// answer returns status and code of the error, and the message in the XML body of the response.
func (b *azureBucket) answer(err error) (a answer) {
	var response *azcore.ResponseError
	if !errors.As(err, &response) {
		return a
	}
	a.status, a.code = response.StatusCode, response.ErrorCode
	a.missing = a.code == string(bloberror.ContainerNotFound)
	if failed := (*azidentity.AuthenticationFailedError)(nil); errors.As(err, &failed) {
		a.code, a.message = string(bloberror.AuthenticationFailed), "Microsoft Entra ID refuses the credentials"
		return a
	}
	// The text of the error has the URL of the request, which may have a token.
	if r := response.RawResponse; r != nil {
		var said struct {
			Message string
			Detail  string `xml:"AuthenticationErrorDetail"`
		}
		if data, err := runtime.Payload(r); err == nil && xml.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &said) == nil {
			a.message, _, _ = strings.Cut(said.Message, "\n") // ids of the request follow
			if strings.Contains(said.Detail, "Date header") {
				a.message = said.Detail
			}
		}
	}
	return a
}

// permission names the role that allows op.
func (b *azureBucket) permission(op string) string {
	if op == "list" || op == "read" {
		return "the role Storage Blob Data Reader"
	}
	return "the role Storage Blob Data Contributor"
}

func (b *azureBucket) close() error { return nil }
