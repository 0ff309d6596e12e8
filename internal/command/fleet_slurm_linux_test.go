package command

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/profuse-pgo/profuse/test/oracle"
)

// TestFleetSlurm runs a job on a Slurm cluster of three nodes on this machine, as the rendered script submits it. Tasks
// kill themselves, a node is lost, and the array is submitted again: the result is that of one merge.
func TestFleetSlurm(t *testing.T) {
	oracle.Slow(t)
	t.Parallel()
	s := startSlurm(t)
	dir := t.TempDir()
	files := copiesOfRuns(t, filepath.Join(dir, "raw"), 60)
	if err := os.Truncate(files[40], 1000); err != nil {
		t.Fatal(err)
	}
	loss := []string{"--max-lost-inputs", "2%", "--max-lost-functions", "100%"}
	flat := filepath.Join(dir, "flat.profdata")
	profuse(t, append(append([]string{"merge", "-q", "-o", flat}, loss...), files...)...)

	// Every third task dies in its first attempt, and all take a while, so that the node is lost while they run.
	log, job, out := filepath.Join(dir, "attempts"), filepath.Join(dir, "job"), filepath.Join(dir, "out.profdata")
	program := filepath.Join(dir, "profuse.sh")
	script := fmt.Sprintf(`#!/bin/sh
echo "$SLURM_ARRAY_TASK_ID" >> %[1]s
if [ "$2" = task ] && [ $((SLURM_ARRAY_TASK_ID %% 3)) = 0 ] && mkdir %[1]s.$SLURM_ARRAY_TASK_ID 2>/dev/null; then
  %[2]s "$@" & sleep 0.0$((SLURM_ARRAY_TASK_ID %% 10)); kill -9 $!; wait $!
  exit 1
fi
[ "$2" = reduce ] || sleep 1
exec %[2]s "$@"
`, log, asProfuse(t))
	if err := os.WriteFile(program, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	profuse(t, "fleet", "plan", job, filepath.Join(dir, "raw"), "--shard-objects", "4")
	rendered, err := exec.CommandContext(t.Context(), asProfuse(t), append([]string{
		"fleet", "render", "slurm", job, "-o", out, "--path", program, "--memory", "100MiB", "--cpu", "1", "--",
	}, loss...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	submit := filepath.Join(dir, "submit.sh")
	oracle.WriteFile(t, submit, rendered)

	s.run(t, dir, "sh", submit)
	s.await(t, func() bool { return bytes.Count(readFile(t, log), []byte("\n")) > 3 })
	s.lose(t, "n2")
	s.finish(t)
	wantSame(t, out, flat)

	// The array once more, and the reduce after it.
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	s.run(t, dir, "sh", submit)
	s.finish(t)
	wantSame(t, out, flat)
	if n := bytes.Count(readFile(t, log), []byte("\n")); n < 2*15+5+2 {
		t.Errorf("%d attempts; 2 × 15 tasks, 5 that died and 2 reduces make more", n)
	}
}

func readFile(t *testing.T, name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return data
}

// A slurmCluster is a controller and three nodes, with ports of their own.
type slurmCluster struct {
	dir   string
	nodes map[string]*exec.Cmd
}

func startSlurm(t *testing.T) *slurmCluster {
	t.Helper()
	controller, node, munge := oracle.Tool(t, "slurmctld"), oracle.Tool(t, "slurmd"), oracle.Tool(t, "munged")
	oracle.Tool(t, "sbatch")
	if os.Getuid() != 0 {
		t.Skip(oracle.Missing + "root, for Slurm's nodes")
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "slurm") // a short name, for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		killOrphans()
		os.RemoveAll(dir)
	})
	ports := freePorts(t, 4)
	config := fmt.Sprintf(`ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%[2]d
AuthType=auth/munge
AuthInfo=socket=%[1]s/munge.sock
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[1]s/state
SlurmdSpoolDir=%[1]s/spool-%%n
SlurmctldPidFile=%[1]s/controller.pid
SlurmdPidFile=%[1]s/%%n.pid
SlurmctldLogFile=%[1]s/controller.log
SlurmdLogFile=%[1]s/%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_res
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
NodeName=n1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[3]d CPUs=2 RealMemory=8000
NodeName=n2 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[4]d CPUs=2 RealMemory=8000
NodeName=n3 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%[5]d CPUs=2 RealMemory=8000
PartitionName=all Nodes=ALL Default=YES State=UP
`, dir, ports[0], ports[1], ports[2], ports[3])
	key := make([]byte, 1024)
	rand.Read(key)
	for name, data := range map[string][]byte{"slurm.conf": []byte(config), "munge.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := &slurmCluster{dir: dir, nodes: make(map[string]*exec.Cmd)}
	s.start(t, munge, "--foreground", "--force", "--key-file", dir+"/munge.key", "--socket", dir+"/munge.sock",
		"--pid-file", dir+"/munge.pid", "--log-file", dir+"/munge.log", "--seed-file", dir+"/munge.seed")
	s.await(t, func() bool { _, err := os.Stat(dir + "/munge.sock"); return err == nil })
	s.start(t, controller, "-D", "-f", dir+"/slurm.conf")
	for _, n := range []string{"n1", "n2", "n3"} {
		s.nodes[n] = s.start(t, node, "-D", "-f", dir+"/slurm.conf", "-N", n)
	}
	s.await(t, func() bool {
		out, err := s.command(t, dir, "sinfo", "--noheader", "-t", "idle", "-o", "%D").Output()
		return err == nil && strings.TrimSpace(string(out)) == "3"
	})
	return s
}

// freePorts returns ports that nobody listens on.
func freePorts(t *testing.T, n int) (ports []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func (s *slurmCluster) command(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SLURM_CONF="+s.dir+"/slurm.conf")
	return cmd
}

// start starts a daemon, which ends with the test.
func (s *slurmCluster) start(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := s.command(t, s.dir, name, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

func (s *slurmCluster) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := s.command(t, dir, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// await waits for a condition.
func (s *slurmCluster) await(t *testing.T, ready func() bool) {
	t.Helper()
	for until := time.Now().Add(3 * time.Minute); !ready(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(until) {
			logs, _ := filepath.Glob(s.dir + "/*.log")
			for _, name := range logs {
				text := readFile(t, name)
				t.Logf("%s: %s", name, text[max(0, len(text)-3000):])
			}
			t.Fatal("waited for 3 minutes")
		}
	}
}

// lose ends the daemon of a node. What runs there goes on, while Slurm starts it again elsewhere.
func (s *slurmCluster) lose(t *testing.T, node string) {
	t.Helper()
	if err := s.nodes[node].Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.run(t, s.dir, "scontrol", "update", "nodename="+node, "state=down", "reason=lost")
}

// killOrphans ends the processes that Slurm's daemons have left to this one.
func killOrphans() {
	found, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range found {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		comm, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) && strings.Contains(comm, "(slurm") {
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// finish waits for all jobs. Slurm lets two minutes pass before it starts the tasks of a
// lost node again; finish does not.
func (s *slurmCluster) finish(t *testing.T) {
	t.Helper()
	s.await(t, func() bool {
		for _, job := range strings.Fields(s.run(t, s.dir, "squeue", "--noheader", "-t", "PENDING", "-O", "JobID,Reason")) {
			if job[0] >= '0' && job[0] <= '9' {
				s.command(t, s.dir, "scontrol", "update", "jobid="+job, "starttime=now").Run() // it may have begun
			}
		}
		return s.run(t, s.dir, "squeue", "--noheader") == ""
	})
}
