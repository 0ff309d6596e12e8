// Allocates in every way that profiles can tell apart: through inlined
// functions, from a library, in threads, in recursion, freed and kept; with an
// argument it dumps the profile twice before it ends.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "list.h"

extern "C" int __memprof_profile_dump();

// What is stored here the compiler must allocate.
void *volatile escaped;

namespace {
inline __attribute__((always_inline)) char *block(int n) {
  char *p = (char *)malloc(n);
  memset(p, 1, n);
  escaped = p;
  return p;
}
inline __attribute__((always_inline)) char *outer(int n) { return block(n + 1); }

// Calls itself, so that frames repeat on the stack.
__attribute__((noinline)) int nested(int depth) {
  int *p = new int[depth + 1];
  escaped = p;
  p[0] = depth;
  int r = depth > 0 ? nested(depth - 1) + p[0] : 0;
  delete[] p;
  return r;
}

void *work(void *arg) {
  Node *n = make(*(int *)arg);
  drop(n);
  return nullptr;
}
} // namespace

// Two calls on one line, and one that is unrolled.
__attribute__((noinline)) int lines(int n) {
  int r = 0;
  for (int i = 0; i < 4; i++) r += sum(make(n)) + sum(make(n + 1));
  return r;
}

int main(int argc, char **) {
  char *keep = outer(100);
  for (int k = 0; k < 3; k++) {
    drop(make(10));
    free(outer(8));
  }
  pthread_t t[2];
  int n[2] = {3, 4};
  for (int i = 0; i < 2; i++) pthread_create(&t[i], nullptr, work, &n[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], nullptr);
  int r = nested(3) + lines(2);
  if (argc > 1) {
    __memprof_profile_dump();
    drop(make(3));
    __memprof_profile_dump();
    r += nested(1);
  }
  keep[0] = 2;
  return (keep[1] + r) & 0;
}
