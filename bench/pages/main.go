//go:build linux && amd64

// Command pages counts the pages of a program's code that a run executes, and measures the start of the program.
//
//	go run ./bench/pages [-n ROUNDS] COMMAND [ARGUMENT]...
//
// It prints, on one line:
//
//	pages   of 4 KiB with code of the program itself (not of shared libraries) that ran.
//	        In a run of their own the pages begin without the right to execute; the
//	        first instruction in one faults, and this command, which traces the
//	        program, gives that page the right
//	major   page faults that read the disk, when the program's file is in no cache
//	cold    milliseconds from fork to the first byte of output in such a run
//	minor   page faults of a run whose file is in the cache
//	warm    milliseconds to the first byte in that run
//
// The last four are the least of all rounds, and missing without rounds. Only the program's own file leaves the cache
// (posix_fadvise), which needs no rights; libraries stay. Faults of major kind are few
// where Linux reads ahead.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/profuse-pgo/profuse/bench/internal/measure"
	"golang.org/x/sys/unix"
)

func main() {
	rounds := flag.Int("n", 5, "number of `rounds`")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: pages [-n ROUNDS] COMMAND [ARGUMENT]...")
		os.Exit(2)
	}
	if err := run(flag.Args(), *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "pages:", err)
		os.Exit(1)
	}
}

func run(argv []string, rounds int) error {
	pages, err := countPages(argv)
	if err != nil {
		return err
	}
	fmt.Printf("pages %d", pages)
	// The least of all rounds.
	cold, warm := start{math.Inf(1), math.MaxInt64, 0}, start{math.Inf(1), 0, math.MaxInt64}
	for range rounds {
		if err := measure.DropFromCache(argv[0]); err != nil {
			return err
		}
		for _, best := range []*start{&cold, &warm} {
			s, err := startCost(argv)
			if err != nil {
				return err
			}
			best.ms, best.major, best.minor = min(best.ms, s.ms), min(best.major, s.major), min(best.minor, s.minor)
		}
	}
	if rounds > 0 {
		fmt.Printf(" major %d cold %.2f minor %d warm %.2f", cold.major, cold.ms, warm.minor, warm.ms)
	}
	fmt.Println()
	return nil
}

// start is the cost of a start.
type start struct {
	ms           float64 // to the first byte of output, or to the end
	major, minor int64   // page faults
}

func startCost(argv []string) (s start, err error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	_, _ = out.Read(make([]byte, 1))
	s.ms = float64(time.Since(begin).Microseconds()) / 1000
	_, _ = io.Copy(io.Discard, out)
	if err := cmd.Wait(); cmd.ProcessState == nil { // exit codes do not matter
		return s, err
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	s.major, s.minor = usage.Majflt, usage.Minflt
	return s, nil
}

const pageSize = 4096

// A tracer runs a process and sees the first instruction in each page of its program.
type tracer struct {
	pid     int
	syscall uint64          // address of an instruction of that name
	code    [][2]uint64     // address ranges
	touched map[uint64]bool // pages
}

// countPages returns the number of pages whose code a run executes.
func countPages(argv []string) (int, error) {
	runtime.LockOSThread() // the tracer is a thread
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	t := &tracer{pid: cmd.Process.Pid, touched: map[uint64]bool{}}
	var status unix.WaitStatus
	if _, err := unix.Wait4(t.pid, &status, unix.WALL, nil); err != nil {
		return 0, err
	}
	err := unix.PtraceSetOptions(t.pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL)
	if err == nil {
		err = t.readMaps(argv[0])
	}
	for _, c := range t.code {
		if err == nil {
			err = t.protect(t.pid, c[0], c[1]-c[0], unix.PROT_READ)
		}
	}
	if err == nil {
		err = t.follow()
	}
	if err != nil {
		_ = cmd.Process.Kill()
	}
	return len(t.touched), err
}

// readMaps finds the program's code, and an instruction "syscall" in the kernel's page.
func (t *tracer) readMaps(program string) error {
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	// The maps name the file by its inode whatever path started it.
	inode := info.Sys().(*syscall.Stat_t).Ino
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", t.pid))
	if err != nil {
		return err
	}
	for s := bufio.NewScanner(bytes.NewReader(maps)); s.Scan(); {
		var from, to, offset, node uint64
		var rights, device string
		if _, err := fmt.Sscanf(s.Text(), "%x-%x %s %x %s %d", &from, &to, &rights, &offset, &device, &node); err != nil {
			return fmt.Errorf("%q: %w", s.Text(), err)
		}
		switch {
		case strings.HasSuffix(s.Text(), "[vdso]"):
			text := make([]byte, to-from)
			if _, err := unix.PtracePeekData(t.pid, uintptr(from), text); err != nil {
				return err
			}
			// The bytes of the instruction syscall; the vDSO has one for its slow paths.
			if at := bytes.Index(text, []byte{0x0f, 0x05}); at >= 0 {
				t.syscall = from + uint64(at)
			}
		case node == inode && rights[2] == 'x':
			t.code = append(t.code, [2]uint64{from, to})
		}
	}
	if t.syscall == 0 || t.code == nil {
		return fmt.Errorf("%s: no code, or no system call in [vdso]", program)
	}
	return nil
}

// protect makes a stopped thread change the rights of a range.
func (t *tracer) protect(tid int, addr, size uint64, rights uint64) error {
	var saved unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &saved); err != nil {
		return err
	}
	regs := saved
	// Orig_rax -1 keeps the kernel from restarting a system call that the stop interrupted.
	regs.Rip, regs.Rax, regs.Orig_rax = t.syscall, unix.SYS_MPROTECT, math.MaxUint64
	regs.Rdi, regs.Rsi, regs.Rdx = addr, size, rights
	if err := errors.Join(unix.PtraceSetRegs(tid, &regs), unix.PtraceSingleStep(tid)); err != nil {
		return err
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(tid, &status, unix.WALL, nil); err != nil {
		return err
	}
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	if regs.Rax != 0 {
		return fmt.Errorf("mprotect: %w", syscall.Errno(-int64(regs.Rax)))
	}
	return unix.PtraceSetRegs(tid, &saved)
}

// follow lets the process run to its end.
func (t *tracer) follow() error {
	for tid, signal := t.pid, 0; ; {
		if err := unix.PtraceCont(tid, signal); err != nil {
			return err
		}
		var status unix.WaitStatus
		for {
			var err error
			// Any thread of the process, which ends with its first thread.
			if tid, err = unix.Wait4(-1, &status, unix.WALL, nil); err != nil {
				return err
			}
			if status.Stopped() {
				break
			}
			if tid == t.pid {
				return nil
			}
		}
		signal = 0
		switch s := status.StopSignal(); s {
		case unix.SIGTRAP, unix.SIGSTOP: // of a new thread
		case unix.SIGSEGV:
			page, err := t.faulted(tid)
			switch {
			case err != nil:
				return err
			case page == 0:
				signal = int(s)
			case !t.touched[page]: // else another thread was faster
				t.touched[page] = true
				if err := t.protect(tid, page, pageSize, unix.PROT_READ|unix.PROT_EXEC); err != nil {
					return err
				}
			}
		default:
			signal = int(s)
		}
	}
}

// faulted returns the page of code that a stopped thread must not execute; 0 if the fault has another cause.
func (t *tracer) faulted(tid int) (uint64, error) {
	var info [128]byte // siginfo_t
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0, uintptr(unsafe.Pointer(&info)), 0, 0); errno != 0 {
		return 0, errno
	}
	page := binary.NativeEndian.Uint64(info[16:]) &^ (pageSize - 1) // si_addr
	for _, c := range t.code {
		if page >= c[0] && page < c[1] {
			return page, nil
		}
	}
	return 0, nil
}
