// Shapes of code that coverage mappings describe: templates, lambdas, macros in
// macros, skipped text, exceptions, switches, loops and a goto.
#include "shapes.h"

static int fails;

template <class T> T twice(T x) {
  if (x > T(3))
    return x * 2;
  return x;
}

struct Value {
  int v;
  Value(int v) : v(v) {}
  ~Value() {
    if (v > 5)
      fails++;
  }
  bool operator<(const Value &o) const { return v < o.v; }
};

static int choose(int x) {
  switch (x) {
  case 1:
    return 2;
  case 2:
  case 3:
    return 4;
  default:
    return x && fails;
  }
}

int sum(int n) {
  auto wanted = [&](int k) { return k > n && k < 10 || k == 3; };
  int s = 0;
  for (int i = 0; i < 12; i++)
    if (wanted(i))
      s += i;
  return s;
}

#if 0
int skipped() { return 1; }
#endif

int thrower(int x) {
  try {
    if (x > 2)
      throw x;
  } catch (int n) {
    return n;
  }
  return 0;
}

int main(int argc, char **argv) {
  for (int i = 0; i < 10; i++)
    if (Value(i) < Value(4))
      fails--;
  NESTED(2);
  NESTED(5);
  CHECK(argc > 1 || argc == 1);
  int t = twice(4) + (int)twice(2.5) + choose(argc) + choose(3) + sum(2) + thrower(1) + thrower(4) + inline_one(argc);
  if (argc > 5 && argv[1][0] == 'x')
    goto out;
  while (t > 100)
    t /= 2;
out:
  return SMALLER(t, fails) > 1000;
}
