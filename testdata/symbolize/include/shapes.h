// Inlined from a header into both programs' units, at several depths.
#pragma once

namespace shapes {

template <class T> struct Sum {
  T total{};
  void add(T x) {
    if (x > T(3))
      total += twice(x);
    else
      total -= x;
  }
  static T twice(T x) { return x + x; }
};

inline int clamp(int x) { return x < 0 ? 0 : x > 100 ? 100 : x; }

struct Shape {
  int k;
  explicit Shape(int k) : k(clamp(k)) {}
  int area(int n) const;
  int scaled(int n) const { return area(n) + clamp(n * k); }
};

} // namespace shapes
