// What the runtime needs of the system headers of macOS, with their values and
// layouts, so that its compilation for macOS can be tested where no SDK is.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef long ssize_t;
typedef uint16_t mode_t;
typedef int64_t off_t;
typedef int32_t pid_t;

int *__error(void);
#define errno (*__error())
#define EINTR 4
#define ENOMEM 12
#define EEXIST 17
#define EINVAL 22
#define ENOSYS 78

#define O_WRONLY 0x1
#define O_CREAT 0x200
#define O_TRUNC 0x400
#define O_EXCL 0x800
#define O_CLOEXEC 0x1000000
int open(const char *, int, ...);

struct stat {
  int32_t st_dev;
  mode_t st_mode;
  uint16_t st_nlink;
  uint64_t st_ino;
  uint32_t st_uid, st_gid;
  int32_t st_rdev;
  int64_t st_times[8];
  int64_t st_size, st_blocks;
  int32_t st_blksize;
  uint32_t st_flags, st_gen;
  int32_t st_lspare;
  int64_t st_qspare[2];
};
#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_ISREG(m) (((m) & S_IFMT) == S_IFREG)
#ifdef __x86_64__
int lstat(const char *, struct stat *) __asm__("_lstat$INODE64");
#else
int lstat(const char *, struct stat *);
#endif

ssize_t write(int, const void *, size_t);
int close(int), unlink(const char *), rename(const char *, const char *), issetugid(void);
char *getcwd(char *, size_t);
pid_t getpid(void);
int sched_yield(void);
char *getenv(const char *);
void *memcpy(void *, const void *, size_t), *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t), strncmp(const char *, const char *, size_t);
size_t strlen(const char *), strcspn(const char *, const char *);
char *strerror(int);

#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_ANON 0x1000
#define MAP_FAILED ((void *)-1)
void *mmap(void *, size_t, int, int, int, off_t);
int munmap(void *, size_t);

typedef uint32_t sigset_t;
typedef struct siginfo siginfo_t;
struct sigaction {
  union {
    void (*__sa_handler)(int);
    void (*__sa_sigaction)(int, siginfo_t *, void *);
  } __sigaction_u;
  sigset_t sa_mask;
  int sa_flags;
};
#define sa_handler __sigaction_u.__sa_handler
#define sa_sigaction __sigaction_u.__sa_sigaction
#define SA_ONSTACK 1
#define SA_RESTART 2
#define SA_SIGINFO 0x40
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
int sigaction(int, const struct sigaction *, struct sigaction *), sigemptyset(sigset_t *);
int raise(int), kill(pid_t, int);
enum {
  SIGHUP = 1, SIGINT = 2, SIGQUIT = 3, SIGILL = 4, SIGTRAP = 5, SIGABRT = 6, SIGFPE = 8, SIGKILL = 9, SIGBUS = 10, SIGSEGV = 11,
  SIGSYS = 12, SIGPIPE = 13, SIGALRM = 14, SIGTERM = 15, SIGURG = 16, SIGSTOP = 17, SIGCONT = 19, SIGCHLD = 20, SIGXCPU = 24,
  SIGXFSZ = 25, SIGVTALRM = 26, SIGPROF = 27, SIGWINCH = 28, SIGUSR1 = 30, SIGUSR2 = 31,
};
