package command

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// kubernetesEnv names a folder with etcd, kube-apiserver and kube-controller-manager, which
// take too long to build for every run of the tests: see docs/fleet.md.
const kubernetesEnv = "PROFUSE_KUBERNETES"

// TestFleetKubernetes has a real control plane accept the rendered Jobs, strictly, and
// create their pods. The test is the only node: it runs the containers as processes. Some
// tasks fail, some pods are evicted: the result is that of one merge.
func TestFleetKubernetes(t *testing.T) {
	bin := os.Getenv(kubernetesEnv)
	if bin == "" {
		t.Skip(kubernetesEnv + " does not name a folder with a control plane")
	}
	k := startKubernetes(t, bin)
	dir := t.TempDir()
	files := copiesOfRuns(t, filepath.Join(dir, "raw"), 40)
	flat, job, out := filepath.Join(dir, "flat.profdata"), filepath.Join(dir, "job"), filepath.Join(dir, "out.profdata")
	profuse(t, append([]string{"merge", "-q", "-o", flat}, files...)...)
	program := asProfuse(t)
	profuse(t, "fleet", "plan", job, filepath.Join(dir, "raw"), "--shard-objects", "4")
	manifests, err := exec.CommandContext(t.Context(), program, "fleet", "render", "kubernetes", job, "-o", out, "--image", "profuse", "--path", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, manifest := range bytes.Split(manifests, []byte("\n---\n")) {
		answer := k.call(t, "POST", "/apis/batch/v1/namespaces/default/jobs?fieldValidation=Strict", "application/yaml", manifest)
		if answer["kind"] != "Job" {
			t.Fatalf("manifest %d: %v", i, answer)
		}
	}
	node := &testNode{k: k, pods: make(map[string]bool)}
	until := time.Now().Add(5 * time.Minute)
	for !node.done(t) {
		if time.Now().After(until) {
			t.Fatal("the jobs do not end")
		}
		node.runPods(t)
		time.Sleep(200 * time.Millisecond)
	}
	node.group.Wait()
	wantSame(t, out, flat)
	if node.failed == 0 || node.evicted == 0 {
		t.Errorf("%d pods failed, %d were evicted", node.failed, node.evicted)
	}
	t.Logf("%d pods, of which %d failed and %d were evicted", len(node.pods), node.failed, node.evicted)
}

// A testNode runs the containers of all pods as processes.
type testNode struct {
	k     *kubernetes
	group sync.WaitGroup

	mu              sync.Mutex
	pods            map[string]bool // begun
	failed, evicted int
}

// done reports whether both jobs are complete. One that failed ends the test.
func (n *testNode) done(t *testing.T) bool {
	complete := 0
	for _, job := range n.k.list(t, "/apis/batch/v1/namespaces/default/jobs") {
		conditions, _ := at(job, "status", "conditions").([]any)
		for _, c := range conditions {
			switch at(c, "type") {
			case "Complete":
				complete++
			case "Failed":
				t.Fatalf("a job failed: %v", c)
			}
		}
	}
	return complete == 2
}

// runPods starts the pods that have not begun. The first of some indexes fails, and that of others is evicted.
func (n *testNode) runPods(t *testing.T) {
	for _, pod := range n.k.list(t, "/api/v1/namespaces/default/pods") {
		name := at(pod, "metadata", "name").(string)
		n.mu.Lock()
		begun := n.pods[name]
		n.pods[name] = true
		n.mu.Unlock()
		if begun || at(pod, "metadata", "deletionTimestamp") != nil {
			continue
		}
		n.group.Go(func() { n.runPod(t, name, pod) })
	}
}

func (n *testNode) runPod(t *testing.T, name string, pod any) {
	container := at(pod, "spec", "containers").([]any)[0]
	var args []string
	for _, field := range []string{"command", "args"} {
		for _, word := range at(container, field).([]any) {
			args = append(args, word.(string))
		}
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = os.Environ()
	index, _ := at(pod, "metadata", "annotations", "batch.kubernetes.io/job-completion-index").(string)
	for _, e := range at(container, "env").([]any) {
		variable := at(e, "name").(string)
		if variable == "JOB_COMPLETION_INDEX" {
			cmd.Env = append(cmd.Env, variable+"="+index)
		}
	}
	attempt, _ := at(pod, "metadata", "annotations", "batch.kubernetes.io/job-index-failure-count").(string)
	status := map[string]any{"phase": "Running"}
	n.k.patchStatus(t, name, status)
	n.mu.Lock()
	evict := index != "" && attempt == "0" && strings.Contains("147", index) && n.evicted < 3
	if evict {
		n.evicted++
	}
	n.mu.Unlock()
	code := 0
	switch {
	case evict:
		status["conditions"] = []any{map[string]any{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}}
		code = 137
	case attempt == "0" && strings.Contains("258", index) && index != "":
		n.mu.Lock()
		n.failed++
		n.mu.Unlock()
		code = 1
	default:
		out, err := cmd.CombinedOutput()
		code = cmd.ProcessState.ExitCode()
		if err != nil {
			t.Errorf("pod %s: %v\n%s", name, err, out)
		}
	}
	status["phase"] = "Succeeded"
	if code != 0 {
		status["phase"] = "Failed"
	}
	status["containerStatuses"] = []any{map[string]any{
		"name": at(container, "name"), "image": "profuse", "imageID": "", "ready": false, "restartCount": 0,
		"state": map[string]any{"terminated": map[string]any{"exitCode": code}},
	}}
	n.k.patchStatus(t, name, status)
}

// at returns a field of nested objects; nil if there is none.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// A kubernetes is a control plane: storage, the API and the controllers.
type kubernetes struct {
	url    string
	client *http.Client
}

const kubernetesToken = "test-token"

func startKubernetes(t *testing.T, bin string) *kubernetes {
	t.Helper()
	dir := t.TempDir()
	ports := freePorts(t, 4)
	start := func(name string, args ...string) {
		log, err := os.Create(filepath.Join(dir, name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), filepath.Join(bin, name), args...)
		cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
			log.Close()
			if t.Failed() {
				text := readFile(t, log.Name())
				t.Logf("%s: %s", name, text[max(0, len(text)-3000):])
			}
		})
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	k := &kubernetes{
		url:    fmt.Sprintf("https://127.0.0.1:%d", ports[2]),
		client: &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}},
	}
	config := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "x",
"clusters": [{"name": "x", "cluster": {"server": %q, "insecure-skip-tls-verify": true}}],
"users": [{"name": "x", "user": {"token": %q}}], "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}]}`, k.url, kubernetesToken)
	for name, data := range map[string][]byte{
		"service.key": block, "tokens.csv": []byte(kubernetesToken + ",admin,admin,system:masters\n"), "kubeconfig": []byte(config),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	etcd := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	start("etcd", "--data-dir", dir+"/etcd", "--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", fmt.Sprintf("http://127.0.0.1:%d", ports[1]))
	start("kube-apiserver", "--etcd-servers", etcd, "--secure-port", fmt.Sprint(ports[2]), "--cert-dir", dir+"/certs",
		"--service-account-issuer", "https://test", "--service-account-key-file", dir+"/service.key", "--service-account-signing-key-file", dir+"/service.key",
		"--token-auth-file", dir+"/tokens.csv", "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
		"--disable-admission-plugins", "ServiceAccount")
	for until := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if answer, err := k.get("/readyz"); err == nil && string(answer) == "ok" {
			break
		}
		if time.Now().After(until) {
			t.Fatal("the API does not answer")
		}
	}
	start("kube-controller-manager", "--kubeconfig", dir+"/kubeconfig", "--leader-elect=false", "--secure-port", fmt.Sprint(ports[3]),
		"--cert-dir", dir+"/certs2", "--controllers", "job-controller")
	return k
}

func (k *kubernetes) request(method, path, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequest(method, k.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+kubernetesToken)
	req.Header.Set("Content-Type", contentType)
	answer, err := k.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

func (k *kubernetes) get(path string) ([]byte, error) {
	return k.request("GET", path, "application/json", nil)
}

func (k *kubernetes) call(t *testing.T, method, path, contentType string, body []byte) (answer map[string]any) {
	t.Helper()
	data, err := k.request(method, path, contentType, body)
	if err == nil {
		err = json.Unmarshal(data, &answer)
	}
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, data)
	}
	return answer
}

func (k *kubernetes) list(t *testing.T, path string) []any {
	t.Helper()
	items, _ := k.call(t, "GET", path, "application/json", nil)["items"].([]any)
	return items
}

func (k *kubernetes) patchStatus(t *testing.T, pod string, status map[string]any) {
	data, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Error(err)
		return
	}
	answer, err := k.request("PATCH", "/api/v1/namespaces/default/pods/"+pod+"/status", "application/strategic-merge-patch+json", data)
	if err != nil || bytes.Contains(answer, []byte(`"kind":"Status"`)) {
		t.Errorf("status of %s: %v %s", pod, err, answer)
	}
}
