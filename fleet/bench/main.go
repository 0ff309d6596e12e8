//go:build linux

// Command bench measures the processor time and memory of merges from a bucket, per gigabyte and per million objects:
//
//	make bench-fleet
//
// It compiles an instrumented program with clang-22, runs it several times, puts copies of the profiles into a
// bucket of versitygw, a server with the interface of S3 that runs on the same machine, and merges them in several
// ways, whose results must be equal. Times of the server do not count as processor time of the merges, but take
// their share of the machine.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// A mix is a number of objects of a size.
type mix struct {
	name      string
	objects   int
	functions int // of the program, which decide the size
}

// main measures three mixes: few large profiles, usual ones, and many small ones.
func main() {
	log.SetFlags(0)
	scale := flag.Float64("scale", 1, "multiply the number of objects")
	flag.Parse()
	b := &bench{}
	var err error
	if b.dir, err = os.MkdirTemp("", "profuse-bench-"); err != nil {
		log.Fatal(err)
	}
	err = b.run([]mix{
		{"large", int(200 * *scale), 12_000},
		{"usual", int(2000 * *scale), 2_600},
		{"small", int(20_000 * *scale), 8},
	})
	b.close()
	if err != nil {
		log.Fatal(err)
	}
}

// A bench has a folder for everything, and the server that runs in it.
type bench struct {
	dir, program, url string
	server            *exec.Cmd
	client            *s3.Client
}

// close ends the server and removes the folder, inputs included.
func (b *bench) close() {
	if b.server != nil {
		b.server.Process.Kill()
		b.server.Wait()
	}
	os.RemoveAll(b.dir)
}

const bucketName = "profiles"

// run prints a table in Markdown, a row for each step of each mix.
func (b *bench) run(mixes []mix) error {
	b.program = filepath.Join(b.dir, "profuse-fleet")
	if err := tool("go", "build", "-trimpath", "-o", b.program, "./cmd/profuse-fleet"); err != nil {
		return err
	}
	if err := b.startServer(); err != nil {
		return err
	}
	fmt.Println("| objects | size | | wall s | CPU s | memory MiB | CPU s per GB | CPU s per 10⁶ objects |")
	fmt.Println("|---|---:|---|---:|---:|---:|---:|---:|")
	for _, m := range mixes {
		if err := b.measure(m); err != nil {
			return err
		}
	}
	return nil
}

// tool runs a program that must succeed.
func tool(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %q: %w\n%s", name, args, err, out)
	}
	return nil
}

// startServer starts versitygw on a free port and makes the bucket. The drivers of profuse-fleet take
// credentials from the environment and the address from the URL.
func (b *bench) startServer() error {
	exe, err := exec.Command("go", "-C", "servers", "tool", "-n", "versitygw").Output()
	if err != nil {
		return fmt.Errorf("versitygw: %w", err)
	}
	// The port is free again at once; nobody else asks for it in between.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	for _, name := range []string{"buckets", "metadata"} {
		if err := os.Mkdir(filepath.Join(b.dir, name), 0o777); err != nil {
			return err
		}
	}
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench-secret", "AWS_REGION": "us-east-1"} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	// Its back end is a folder; metadata go to another one, since not all file systems have extended attributes.
	b.server = exec.Command(strings.TrimSpace(string(exe)), "--access", "bench", "--secret", "bench-secret", "--port", address, "--quiet",
		"posix", "--sidecar", filepath.Join(b.dir, "metadata"), filepath.Join(b.dir, "buckets"))
	if err := b.server.Start(); err != nil {
		return err
	}
	b.url = "?region=us-east-1&use_path_style=true&endpoint=http://" + address
	// The client of the benchmark itself fills the bucket.
	about, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		return err
	}
	b.client = s3.NewFromConfig(about, func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = aws.String("http://"+address), true })
	// The server listens after a moment; it gets ten seconds.
	for range 100 {
		if _, err = b.client.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: aws.String(bucketName)}); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

func (b *bench) location(name string) string { return "s3://" + bucketName + "/" + name + b.url }

const runs = 20 // of the program, whose profiles differ

func (b *bench) profiles(m mix) (all [][]byte, err error) {
	var src strings.Builder
	// Each function has a few counters: a loop and a branch.
	for i := range m.functions {
		fmt.Fprintf(&src, "__attribute__((noinline)) int f%d(int n) { int s = 0; for (int i = 0; i < n %% %d; i++) if (i %% 3) s += i; else s ^= n; return s; }\n", i, 3+i%17)
	}
	// Which functions run depends on the argument, so that the runs differ.
	src.WriteString("#include <stdlib.h>\nint main(int c, char **v) { int n = atoi(v[1]), s = 0;\n")
	for i := range m.functions {
		fmt.Fprintf(&src, "if (n %% %d) s += f%d(n + %d);\n", 2+i%7, i, i)
	}
	src.WriteString("return s == 42; }\n")
	source, program := filepath.Join(b.dir, m.name+".c"), filepath.Join(b.dir, m.name)
	if err := os.WriteFile(source, []byte(src.String()), 0o666); err != nil {
		return nil, err
	}
	if err := tool("clang-22", "-O1", "-fprofile-generate", "-Wl,--build-id", "-o", program, source); err != nil {
		return nil, err
	}
	for n := range runs {
		file := filepath.Join(b.dir, fmt.Sprintf("%s-%d.profraw", m.name, n))
		cmd := exec.Command(program, fmt.Sprint(n+1))
		cmd.Env = append(os.Environ(), "LLVM_PROFILE_FILE="+file)
		// The program returns 0 or 1 by what it computed.
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() > 1 {
			return nil, err
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// upload writes copies of the profiles to the bucket and to a folder.
func (b *bench) upload(m mix, profiles [][]byte) (bytesInAll int64, err error) {
	folder := filepath.Join(b.dir, "files-"+m.name)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return 0, err
	}
	var group sync.WaitGroup
	// Sixteen connections fill the bucket.
	errs := make([]error, 16)
	for w := range errs {
		group.Go(func() {
			for i := w; i < m.objects && errs[w] == nil; i += len(errs) {
				name, data := fmt.Sprintf("%06d.profraw", i), profiles[i%len(profiles)]
				_, errs[w] = b.client.PutObject(context.Background(), &s3.PutObjectInput{
					Bucket: aws.String(bucketName), Key: aws.String(m.name + "/" + name), Body: bytes.NewReader(data),
				})
				if errs[w] == nil {
					errs[w] = os.WriteFile(filepath.Join(folder, name), data, 0o666)
				}
			}
		})
	}
	group.Wait()
	for i := range m.objects {
		bytesInAll += int64(len(profiles[i%len(profiles)]))
	}
	return bytesInAll, errors.Join(errs...)
}

// measure merges one mix in four ways: from files, from objects, as a fleet with one task, and from a
// pack. The bytes of the results must be the same.
func (b *bench) measure(m mix) error {
	profiles, err := b.profiles(m)
	if err != nil {
		return err
	}
	size, err := b.upload(m, profiles)
	if err != nil {
		return err
	}
	folder := filepath.Join(b.dir, "files-"+m.name)
	out := func(name string) string { return filepath.Join(b.dir, m.name+"-"+name+".profdata") }
	pack := filepath.Join(b.dir, m.name+".tar.zst")
	steps := []struct {
		name string
		args []string
	}{
		{"merge of files", []string{"merge", "-q", "-o", out("files"), folder}},
		{"merge of objects", []string{"merge", "-q", "-o", out("objects"), b.location(m.name + "/")}},
		{"plan", []string{"plan", b.location("job-" + m.name), b.location(m.name + "/")}},
		{"tasks", []string{"task", b.location("job-" + m.name), "--index", "0", "--of", "1"}},
		{"reduce", []string{"reduce", "-q", b.location("job-" + m.name), "-o", out("fleet")}},
		{"pack of files", []string{"pack", "-q", "-o", pack, folder}},
		{"merge of the pack", []string{"merge", "-q", "-o", out("pack"), pack}},
	}
	for _, s := range steps {
		if err := b.runStep(m, size, s.name, s.args); err != nil {
			return err
		}
	}
	want, err := os.ReadFile(out("files"))
	if err != nil {
		return err
	}
	for _, name := range []string{"objects", "fleet", "pack"} {
		if got, err := os.ReadFile(out(name)); err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("%s: the result of %s has other bytes: %w", m.name, name, err)
		}
	}
	// How much a pack saves is printed beside the times.
	packed, err := os.Stat(pack)
	if err != nil {
		return err
	}
	fmt.Printf("| | | the pack has %.1f MB | | | | | |\n", float64(packed.Size())/1e6)
	return nil
}

func (b *bench) runStep(m mix, size int64, name string, args []string) error {
	cmd := exec.Command(b.program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%q: %w\n%s", args, err, said.String())
	}
	wall := time.Since(start).Seconds()
	// ru_maxrss is in KiB. The times do not include the server.
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	fmt.Printf("| %d | %.1f MB | %s | %.2f | %.2f | %d | %.2f | %.0f |\n", m.objects, float64(size)/1e6, name, wall, cpu, used.Maxrss>>10,
		cpu/(float64(size)/1e9), cpu/(float64(m.objects)/1e6))
	return nil
}
