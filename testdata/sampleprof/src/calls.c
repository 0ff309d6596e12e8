// A program whose functions change names and calls in a later build, with -DLATER. The later source
// is what clang -E -P makes of it, so that lines move, too.
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline))

static long volatile sink;

KEEP long load(long n) { return n * 3 + 1; }
KEEP long parse(long n) { return n % 7 ? n : n / 7; }
KEEP long check(long n) { return n & 1; }
KEEP long store(long n) { return sink = n; }
KEEP long note(long n) { return sink += n; }
#ifdef LATER
KEEP long audit(long n) { return sink ^= n; }
#else
KEEP long retire(long n) { return sink -= n; }
#endif

// process, later handle, still calls most functions in the same order.
#ifdef LATER
#define process handle
#endif
KEEP long process(long n) {
  long sum = load(n);
#ifdef LATER
  sum += audit(sum);
#endif
  if (check(sum))
    sum += parse(sum);
  for (long i = 0; i < n % 4; i++)
    sum += store(i);
  if (sum % 3 == 0)
    sum -= note(sum);
  return sum;
}

// summarize has another control flow later.
KEEP long summarize(long n) {
#ifdef LATER
  if (n > 1000000)
    return audit(n);
#endif
  long sum = note(n);
  while (n > 9) {
    sum += load(n);
    n /= 10;
  }
  return sum + check(n);
}

// shift only has calls on other lines later.
KEEP long shift(long n) {

  // This comment is gone then.

  long sum = store(n);
  sum += parse(n + sum);
  return sum;
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 40;
  long sum = 0;
  for (long i = 0; i < n; i++) {
    sum += process(i);
    sum += summarize(sum);
    sum += shift(i);
#ifndef LATER
    sum += retire(i);
#endif
  }
  printf("%ld\n", sum);
}
