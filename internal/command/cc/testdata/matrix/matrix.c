#define _GNU_SOURCE
#include "matrix.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The calls of these are counted: no copies, no clones.
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

static volatile int sink; // what is stored here cannot be optimized away

// ---- Jumps ----

NOINLINE int dispatch(const unsigned char *code, int x) {
  static void *const labels[] = {&&halt, &&add, &&twice, &&skip, &&negate};
  goto *labels[*code];
add:
  x++;
  goto *labels[*++code];
twice:
  x *= 2;
  goto *labels[*++code];
skip:
  if (x & 1)
    code++;
  goto *labels[*++code];
negate:
  x = -x;
  goto *labels[*++code];
halt:
  return x;
}

NOINLINE int table(int x) {
  switch (x) {
  case 0: return 7;
  case 1: sink = x; return 12;
  case 2: return dispatch((const unsigned char *)"\1\0", x);
  case 3: sink = 3; /* fall through */
  case 4: return sink = x + 90;
  case 5: return -x;
  case 6: return 55;
  case 7: return table(x - 3);
  default: return x > 100 ? 1 : 2;
  }
}

static jmp_buf here;
NOINLINE void leap(int depth) {
  sink = depth;
  if (depth > 50)
    return;
  if (depth == 0)
    longjmp(here, 42);
  leap(depth - 1);
  sink = -1;
}

NOINLINE int landing(int depth) {
  volatile int steps = 1;
  int r = setjmp(here);
  if (r == 0) {
    steps += 10;
    if (depth >= 0)
      leap(depth);
    return steps;
  }
  return r + steps;
}

// ---- Calls ----

NOINLINE double variadic(const char *kinds, ...) {
  va_list args, again;
  va_start(args, kinds);
  va_copy(again, args);
  double sum = 0;
  for (const char *k = kinds; *k; k++)
    sum += *k == 'd' ? va_arg(args, double) : *k == 'l' ? (double)va_arg(args, long) : va_arg(args, int);
  if (*kinds == 'd')
    sum += va_arg(again, double);
  va_end(again);
  va_end(args);
  return sum;
}

struct large {
  long v[6];
};
NOINLINE struct large returns(long a, struct large b) {
  b.v[5] += a;
  sink = (int)a;
  return b;
}

NOINLINE int tail_even(int n);
NOINLINE int tail_odd(int n) {
  sink = n;
  return n == 0 ? 0 : tail_even(n - 1);
}
NOINLINE int tail_even(int n) {
  sink = n;
  return n == 0 ? 1 : tail_odd(n - 1);
}

static int fast_version(int x) {
  sink = x;
  return x + 100;
}
static int (*choose_version(void))(int) {
  sink = 1;
  return fast_version;
}
int versioned(int) __attribute__((ifunc("choose_version")));

NOINLINE int throughC(int (*f)(int), int x) {
  sink = x;
  int r = f(x);
  sink = r;
  return r;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

NOINLINE int red_zone(int a, int b, int c) {
  int v[8] = {a, b, c, a + b, b + c, a + c, a * b, b * c};
  int sum = 0;
  for (int i = 0; i < 8; i++)
    sum += v[(i * 3 + a) & 7] * i;
  return sum;
}

// ---- Signals and threads ----

static volatile sig_atomic_t signals;
NOINLINE static void on_signal(int number, siginfo_t *info, void *context) {
  (void)info, (void)context;
  signals += number == SIGUSR1 ? 1 : 10;
}

static sigjmp_buf safe;
static void on_fault(int number) { siglongjmp(safe, number); }

NOINLINE int faults(volatile int *p) {
  if (sigsetjmp(safe, 1))
    return 1;
  return *p;
}

static __thread int own;
static void *worker(void *arg) {
  int n = *(int *)arg;
  for (int i = 0; i < 1000; i++)
    own += throughC(table, (n + i) % 9);
  *(int *)arg = own;
  return NULL;
}

NOINLINE int dead_c(int x) { return table(x) + 1; }

__attribute__((constructor(101))) static void early(void) { sink = versioned(0); }
static void late(void) { puts("late"); }

NOINLINE int control(void) {
  printf("jumps %d %d", dispatch((const unsigned char *)"\1\2\3\4\4\1\0", 3), landing(3));
  printf(" %d", landing(-1));
  for (int i = 0; i < 9; i++)
    printf(" %d", table(i));
  struct large big = {{1, 2, 3, 4, 5, 6}};
  printf("\ncalls %g %g %ld %d %d", variadic("dil", 1.5, 2, 3L), variadic("lddi", 1L, .25, .5, 7), returns(9, big).v[5],
         tail_even(10), versioned(11));
  int sorted[] = {5, 3, 9, 1};
  qsort(sorted, 4, sizeof *sorted, compare);
  printf(" %d %d %d\n", sorted[0], sorted[3], red_zone(1, 2, 3));

  struct sigaction action, fault;
  memset(&action, 0, sizeof action);
  memset(&fault, 0, sizeof fault);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO;
  fault.sa_handler = on_fault;
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  sigaction(SIGSEGV, &fault, NULL);
  raise(SIGUSR1);
  raise(SIGUSR2);
  raise(SIGUSR1);
  int fine = 0;
  printf("signals %d %d %d\n", (int)signals, faults(NULL), faults(&fine));

  pthread_t threads[4];
  int results[4] = {0, 1, 2, 3}, sum = 0;
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, worker, &results[i]);
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    sum += results[i];
  }
  printf("threads %d\n", sum);
  atexit(late);
  return 0;
}
