#include "matrix.h"

__attribute__((noinline)) int risky(int x) {
  Guard g{"risky"};
  if (x == 1)
    throw RuntimeError("one");
  if (x == 2)
    throw 2;
  if (x == 3)
    throw Both();
  return shared(x);
}

__attribute__((noinline)) int nested(int x) {
  Guard outer{"outer"};
  try {
    Guard inner{"inner"};
    try {
      return throughC(risky, x);
    } catch (int n) {
      std::printf("int %d ", n);
      throw;
    } catch (const Base &b) {
      std::printf("base %d ", b.value());
      throw LogicError("from base");
    }
  } catch (const RuntimeError &e) {
    std::printf("%s ", e.what());
    return -1;
  }
}

extern "C" __attribute__((noinline)) int helper(int x) {
  Stack<int> s;
  for (int i = 0; i < x; i++)
    s.push(shared(i));
  int sum = 0;
  while (sum >= 0)
    sum += s.pop();
  return sum;
}

__attribute__((noinline)) int dead_cc(int x) { return helper(x); }
