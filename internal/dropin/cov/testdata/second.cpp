#include "templates.h"
#include "macros.h"

int second(int x) {
  Array<int, 3> a;
  a.at(1) = twice(x);
  return helper(a.at(1)) + clamp(x) + (x ? 1 : 0);
}

int third(float f) { return twice(f) > 1 && helper(3) > 2; }
