#include "templates.h"
#include <cstdio>
#include <string>
#include <vector>

namespace {
struct Square : Base {
  int side;
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
};

template <class F> int apply(F f, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += f(i);
  return sum;
}

int thrower(int x) {
  if (x > 2)
    throw std::string("too large");
  return x;
}
} // namespace

template <class T> constexpr int kind() {
  if constexpr (sizeof(T) == 1)
    return 1;
  else
    return 2;
}

int main(int argc, char **argv) {
  int caught = 0;
  for (int i = 0; i < 5; i++) {
    try {
      caught += thrower(i);
    } catch (const std::string &s) {
      caught += int(s.size());
    }
  }
  auto add = [&](int x) { return x > argc ? x + caught : argc; };
  auto unused = [](int x) { return x ? 1 : 2; };
  (void)unused;
  Array<int, 3> a;
  Array<char, 7> c;
  a.at(5) = apply(add, 1500);
  Square s(3);
  Base *b = &s;
  std::vector<int> v{1, 2, 3};
  for (int &x : v)
    x = helper(x);
  printf("%d %d %d %f %d\n", a.at(0), c.size(), twice(argc), twice(2.5), b->area());
  return kind<char>() + kind<int>() == 0 || twice(20L) == 0;
}
