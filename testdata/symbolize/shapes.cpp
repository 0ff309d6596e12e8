#include "include/shapes.h"

// Equal code, for linkers that fold it.
__attribute__((noinline)) int same1(int x) { return shapes::clamp(x) * 5; }
__attribute__((noinline)) int same2(int x) { return shapes::clamp(x) * 5; }

// Not called: for linkers that drop it.
int unused(int x) { return same1(x) + shapes::clamp(x - 1); }

int shapes::Shape::area(int n) const {
  shapes::Sum<int> sum;
  for (int i = 0; i < n; i++)
    sum.add(same1(i) - same2(k));
  return sum.total;
}
