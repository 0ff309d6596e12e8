// Functions of the file that return, and such that may not: what follows their
// calls must not be taken for granted.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile int note, stop;
static jmp_buf env;

// Returns always.
APART static int leaf(int n) { return n > 2 ? n * 3 : n + note; }
APART static int counted(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += i & note;
  return s;
}
APART static int measured(const char *s, int n) {
  char copy[32];
  memset(copy, n, sizeof copy);
  strncpy(copy, s, sizeof copy - 1);
  return (int)strlen(s) + copy[0];
}

APART static void quits(int n) {
  if (n == 3) exit(3);
  note++;
}
APART static void through(int n) {
  note += leaf(n);
  quits(n);
}
APART static void jumps(int n) {
  if (n == 4) longjmp(env, n);
  note++;
}
APART static int deep(int depth, int n) {
  if (depth == 0) {
    if (n == 6) exit(6);
    return 1;
  }
  return deep(depth - 1, n) + 1;
}
APART static int odd(int i, int n);
APART static int even(int i, int n) { return i == 0 ? note : odd(i - 1, n); }
APART static int odd(int i, int n) {
  if (n == 8 && i == 3) abort();
  return i == 0 ? -note : even(i - 1, n);
}
APART static void spins(int n) {
  if (n == 12) alarm(1);
  while (n == 12 && !stop) {
  }
}
APART static void finishes(int n) {
  if (n == 2) pthread_exit(NULL);
  note++;
}
__attribute__((weak)) void replaceable(int n) { note += n; }

// A way around each call, so that what is behind it follows from what is
// before it, if it returns.
#define AROUND(name, call)                                                                                                       \
  APART static int name(int n) {                                                                                                 \
    int r = 1;                                                                                                                   \
    if (n != note + 1000) {                                                                                                      \
      call;                                                                                                                      \
      if (note & 1) r += note;                                                                                                   \
      note ^= r;                                                                                                                 \
    }                                                                                                                            \
    return r + note;                                                                                                             \
  }
AROUND(by_leaf, r += leaf(n))
AROUND(by_counted, r += counted(n))
AROUND(by_measured, r += measured("some text", n))
AROUND(by_through, through(n))
AROUND(by_jumps, jumps(n))
AROUND(by_deep, r += deep(5, n))
AROUND(by_even, r += even(6, n))
AROUND(by_spins, spins(n))
AROUND(by_finishes, finishes(n))
AROUND(by_replaceable, replaceable(n))

static void *run(void *arg) {
  printf("thread %d\n", by_finishes(*(int *)arg));
  return NULL;
}

static void ends(int number) { exit(number); }

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  signal(SIGABRT, ends);
  signal(SIGALRM, ends);
  printf("%d\n", by_leaf(n) + by_counted(n) + by_measured(n) + by_replaceable(n));
  if (setjmp(env) == 0) printf("%d\n", by_jumps(n));
  pthread_t t;
  pthread_create(&t, NULL, run, &n);
  pthread_join(t, NULL);
  printf("%d\n", by_through(n));
  printf("%d\n", by_deep(n));
  printf("%d\n", by_even(n));
  printf("%d\n", by_spins(n));
  return 0;
}
