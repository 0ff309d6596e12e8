// Runs a program one instruction at a time, and prints what perf script prints of a processor
// that records its last 32 taken branches, for machines whose processor does not.
//
//	step LENGTHS PERIOD STACKS PROGRAM [ARGUMENT...]
//
// LENGTHS lists the instructions of the program, "ADDRESS LENGTH" in hexadecimal and decimal. Every
// PERIOD branches there is a sample; with STACKS 1 it has the call stack, for which the program must
// keep frame pointers. The program must be static and not position-independent.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BRANCHES = 32, FRAMES = 30, TEXT = 1 << 24 };

static unsigned char length[TEXT];
static uint64_t base;

static void read_lengths(const char *name) {
  FILE *f = fopen(name, "r");
  unsigned long at;
  unsigned n;
  while (f && fscanf(f, "%lx %u", &at, &n) == 2) {
    if (!base)
      base = at;
    if (at - base < TEXT)
      length[at - base] = n;
  }
}

static void print_mappings(pid_t p) {
  char name[64], line[512];
  snprintf(name, sizeof name, "/proc/%d/maps", p);
  FILE *f = fopen(name, "r");
  while (f && fgets(line, sizeof line, f)) {
    unsigned long from, to, offset, inode;
    char rights[8], device[16], path[400] = "";
    if (sscanf(line, "%lx-%lx %7s %lx %15s %lu %399s", &from, &to, rights, &offset, device, &inode, path) >= 7 &&
        rights[2] == 'x' && path[0] == '/')
      printf("PERF_RECORD_MMAP2 100/100: [0x%lx(0x%lx) @ 0x%lx 00:00 0 0]: r-xp %s\n", from, to - from, offset,
             strrchr(path, '/') + 1);
  }
}

static void print_stack(pid_t p) {
  struct user_regs_struct r;
  ptrace(PTRACE_GETREGS, p, 0, &r);
  printf("\n%16llx\n", r.rip);
  uint64_t frame = r.rbp;
  for (int i = 0; i < FRAMES && frame; i++) {
    uint64_t back = ptrace(PTRACE_PEEKDATA, p, frame + 8, 0), next = ptrace(PTRACE_PEEKDATA, p, frame, 0);
    if (back - base >= TEXT)
      break;
    printf("%16lx\n", back);
    if (next <= frame)
      break;
    frame = next;
  }
  printf(" ");
}

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  read_lengths(argv[1]);
  long period = atol(argv[2]);
  int stacks = atoi(argv[3]);
  pid_t p = fork();
  if (p == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    if (!freopen("/dev/null", "w", stdout))
      _exit(1);
    execv(argv[4], argv + 4);
    _exit(1);
  }
  int status;
  waitpid(p, &status, 0);
  print_mappings(p);
  uint64_t from[BRANCHES], to[BRANCHES];
  long n = 0;
  uint64_t last = ptrace(PTRACE_PEEKUSER, p, offsetof(struct user_regs_struct, rip), 0);
  for (;;) {
    if (ptrace(PTRACE_SINGLESTEP, p, 0, 0) || waitpid(p, &status, 0) < 0 || !WIFSTOPPED(status))
      return 0;
    uint64_t ip = ptrace(PTRACE_PEEKUSER, p, offsetof(struct user_regs_struct, rip), 0);
    unsigned size = last - base < TEXT ? length[last - base] : 0;
    if (size && ip != last + size) {
      from[n % BRANCHES] = last, to[n % BRANCHES] = ip, n++;
      if (n % period == 0 && n >= BRANCHES) {
        if (stacks)
          print_stack(p);
        else
          printf("%16lx  ", ip);
        for (int i = 1; i <= BRANCHES; i++)
          printf("0x%lx/0x%lx/P/-/-/1  ", from[(n - i) % BRANCHES], to[(n - i) % BRANCHES]);
        printf("\n");
      }
    }
    last = ip;
  }
}
