#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) void before(void) { __asm__ volatile(""); }
__attribute__((noinline)) void child(void) { __asm__ volatile(""); }
int main(void) {
  before();
  pid_t pid = fork();
  if (pid == 0) {
    child();
    exit(0);
  }
  waitpid(pid, 0, 0);
  return 0;
}
