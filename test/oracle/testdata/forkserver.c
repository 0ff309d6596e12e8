// Preloaded into a tool, runs its main as often as it is asked to, each time in
// a fork. Loading and linking libLLVM is nearly all that a short run costs, and
// is done once this way.
//
// A request is one message on the socket: the folder to run in, the value of PWD,
// and the arguments, the program's name first, each ended by a zero byte, with
// the descriptors of standard input, output and error. The answer is the status
// of the run, as wait(2) has it. One answer of zero at the start says that the
// server is there.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOCKET = 3, STREAMS = 3, MAX_BYTES = 1 << 17, MAX_ARGS = 1 << 12 };

typedef int (*Main)(int argc, char **argv, char **envp);

static Main tool;
static char bytes[MAX_BYTES];
static char *args[MAX_ARGS + 1];

// receive returns the size of the next request, 0 when there are no more.
static ssize_t receive(int streams[STREAMS]) {
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(STREAMS * sizeof(int))];
  } control;
  struct iovec data = {bytes, sizeof bytes};
  struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t size = recvmsg(SOCKET, &message, 0);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (size <= 0 || header == NULL || header->cmsg_len != CMSG_LEN(STREAMS * sizeof(int)))
    return 0;
  memcpy(streams, CMSG_DATA(header), STREAMS * sizeof(int));
  return size;
}

static int serve(int argc, char **argv, char **envp) {
  int status = 0, streams[STREAMS];
  unsetenv("LD_PRELOAD");
  for (;;) {
    if (write(SOCKET, &status, sizeof status) < 0)
      _exit(0);
    ssize_t size = receive(streams);
    if (size == 0)
      _exit(0);
    int n = 0;
    for (char *s = bytes; s < bytes + size && n < MAX_ARGS; s += strlen(s) + 1)
      args[n++] = s;
    args[n] = NULL;
    pid_t pid = fork();
    if (pid < 0)
      _exit(1);
    if (pid == 0) {
      for (int i = 0; i < STREAMS; i++) {
        dup2(streams[i], i);
        close(streams[i]);
      }
      close(SOCKET);
      if (chdir(args[0]) != 0 || setenv("PWD", args[1], 1) != 0)
        abort();
      exit(tool(n - 2, args + 2, environ));
    }
    for (int i = 0; i < STREAMS; i++)
      close(streams[i]);
    if (waitpid(pid, &status, 0) < 0)
      _exit(1);
  }
}

int __libc_start_main(Main main, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  int (*start)(Main, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) = dlsym(RTLD_NEXT, "__libc_start_main");
  tool = main;
  return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
