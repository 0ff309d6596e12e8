package cloud

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/profuse-pgo/profuse/internal/command"
	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/test/oracle"
)

// asCommand makes the test binary profuse-fleet.
const asCommand = "PROFUSE_FLEET_COMMAND"

// running are the servers of all tests, which end with them.
var running struct {
	sync.Mutex
	byName map[string]*server
	folder string
}

// A server is one that was started for the tests.
type server struct {
	exe     string
	address string // host and port
	folder  string // what it keeps
	process *os.Process
}

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		command.Main(Drivers())
	}
	running.byName = make(map[string]*server)
	code := m.Run()
	for _, s := range running.byName {
		s.process.Kill()
		s.process.Wait()
	}
	if running.folder != "" {
		os.RemoveAll(running.folder)
	}
	os.Exit(code)
}

// start starts a server, once for all tests. arguments get its address and its folder.
func start(t *testing.T, exe string, arguments func(host, port, folder string) []string) *server {
	t.Helper()
	name := filepath.Base(exe)
	running.Lock()
	defer running.Unlock()
	if s := running.byName[name]; s != nil {
		return s
	}
	if running.folder == "" {
		folder := oracle.Must(os.MkdirTemp("", "profuse-servers-"))(t)
		running.folder = folder
	}
	l := oracle.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &server{exe: exe, address: l.Addr().String(), folder: filepath.Join(running.folder, name)}
	l.Close()
	host, port, _ := net.SplitHostPort(s.address)
	log := oracle.Must(os.Create(s.folder + ".log"))(t)
	defer log.Close()
	cmd := exec.Command(exe, arguments(host, port, s.folder)...)
	cmd.Stdout, cmd.Stderr = log, log
	oracle.NoError(t, cmd.Start())
	s.process = cmd.Process
	running.byName[name] = s
	for range 1200 { // a minute
		if c, err := net.Dial("tcp", s.address); err == nil {
			c.Close()
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	said, _ := os.ReadFile(log.Name())
	t.Fatalf("%s does not answer: %s", name, said)
	return nil
}

// clean removes from the environment what the libraries of the providers read.
func clean(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if strings.HasPrefix(name, "AWS_") || strings.HasPrefix(name, "AZURE_") || strings.HasPrefix(name, "GOOGLE_") || strings.HasPrefix(name, "STORAGE_EMULATOR") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true") // there is none, and waiting for it takes long
}

const (
	accessKey = "the-access-key"
	secretKey = "the-secret-key"
)

// gateway starts versitygw, a server with the interface of S3 on top of a file system.
func gateway(t *testing.T) *server {
	t.Helper()
	exe := oracle.GoTool(t, "fleet/servers", "versitygw")
	clean(t)
	s := start(t, exe, func(host, port, folder string) []string {
		for _, name := range []string{"buckets", "metadata", "users"} {
			oracle.NoError(t, os.MkdirAll(filepath.Join(folder, name), 0o777))
		}
		return []string{
			"--access", accessKey, "--secret", secretKey, "--port", net.JoinHostPort(host, port), "--keep-alive", "--quiet",
			"--iam-dir", filepath.Join(folder, "users"), "--iam-cache-disable",
			"posix", "--sidecar", filepath.Join(folder, "metadata"), filepath.Join(folder, "buckets"),
		}
	})
	t.Setenv("AWS_ACCESS_KEY_ID", accessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", secretKey)
	return s
}

func s3URL(bucket, address string) string {
	return "s3://" + bucket + "?region=us-east-1&use_path_style=true&endpoint=http://" + address
}

// s3Client returns a client for what the driver does not do.
func s3Client(t *testing.T, s *server) *s3.Client {
	t.Helper()
	b := open(t, s3URL("none", s.address)).(*bucket)
	return b.provider.(*s3Bucket).client
}

func s3Fresh(t *testing.T, s *server) string {
	t.Helper()
	name := freshName(t)
	if _, err := s3Client(t, s).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatal(err)
	}
	return name
}

func freshName(t *testing.T) string {
	name := strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()))
	return fmt.Sprintf("%.40s-%d", name, time.Now().UnixNano()%1e9)
}

func open(t *testing.T, location string) store.Store {
	t.Helper()
	s, _, err := Drivers().Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func google(t *testing.T) *server {
	t.Helper()
	exe := oracle.GoTool(t, "fleet/servers", "fake-gcs-server")
	clean(t)
	s := start(t, exe, func(host, port, folder string) []string {
		return []string{"-scheme", "http", "-host", host, "-port", port, "-backend", "memory", "-public-host", host, "-log-level", "error"}
	})
	t.Setenv("STORAGE_EMULATOR_HOST", s.address)
	return s
}

func gcsFresh(t *testing.T) string {
	t.Helper()
	name := freshName(t)
	b := open(t, "gs://"+name).(*bucket).provider.(*gcsBucket)
	oracle.NoError(t, b.bucket.Create(t.Context(), "project", nil))
	return name
}

// The account that Azurite has from the start.
const (
	azureAccount = "devstoreaccount1"
	azureSecret  = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
	azuriteName  = "azurite-3.37.0"
)

// azurite starts Azurite, which build/scripts/install-oracles.sh installs where there is npm.
func azurite(t *testing.T) *server {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	exe := oracle.Tool(t, filepath.Join(cache, "profuse", azuriteName, "node_modules", ".bin", "azurite-blob"))
	clean(t)
	s := start(t, exe, func(host, port, folder string) []string {
		return []string{"--blobHost", host, "--blobPort", port, "--location", folder, "--silent", "--skipApiVersionCheck", "--disableTelemetry"}
	})
	t.Setenv("AZURE_STORAGE_ACCOUNT", azureAccount)
	t.Setenv("AZURE_STORAGE_KEY", azureSecret)
	t.Setenv("AZURE_STORAGE_DOMAIN", s.address)
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	return s
}

func azureFresh(t *testing.T) string {
	t.Helper()
	name := freshName(t)
	b := open(t, "azblob://"+name).(*bucket).provider.(*azureBucket)
	if _, err := b.client.Create(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return name
}
