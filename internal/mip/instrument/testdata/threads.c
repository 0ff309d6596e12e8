// Four threads call one function.
#include <pthread.h>
#include <stdlib.h>

static int n;
__attribute__((noinline)) void called(void) { __asm__ volatile("" ::: "memory"); }
static void *run(void *arg) {
  for (int i = 0; i < n; i++) called();
  return arg;
}
int main(int argc, char **argv) {
  n = argc > 1 ? atoi(argv[1]) : 1;
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, NULL);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  return 0;
}
