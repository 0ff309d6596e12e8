// A program without a C library, so that every byte of its code can be looked
// up, and that needs nothing but a compiler and a linker.
#include "include/shapes.h"

extern "C" int plain(int *values, int n);

namespace {
struct Local {
  int x;
  Local(int v) : x(v) {}
  ~Local() { x = 0; }
  int get() const { return shapes::clamp(x) + 1; }
};
int helper(int x) {
  Local l(x);
  return l.get() * 3;
}
} // namespace

__attribute__((noinline)) int calls(int n) {
  shapes::Sum<int> ints;
  shapes::Sum<double> doubles;
  for (int i = 0; i < n; i++) {
    ints.add(helper(i));
    doubles.add(i);
  }
  auto fold = [&](int a, int b) { return shapes::clamp(a) > b ? a : ints.total; };
  return fold(n, 7) + (int)doubles.total;
}

#define STEP(r, n) \
  r += calls(n);   \
  r ^= shapes::clamp(r)

__attribute__((noinline)) static int cases(int n) {
  switch (n) {
  case 1:
    return calls(1);
  case 2:
    return helper(2);
  default:
    int r = n;
    STEP(r, n);
    return r;
  }
}

static volatile int input = 3;

extern "C" void _start() {
  int values[4] = {input, input, input, input};
  shapes::Shape s(input);
  int r = cases(input) + cases(1) + s.scaled(input) + plain(values, 4);
  for (;;)
    input = r;
}
