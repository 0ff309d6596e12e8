// A program with functions that others are inlined into; map.s has its records.
namespace shapes {

[[gnu::always_inline]] static inline int square(int x) {
  return x * x;
}

[[gnu::always_inline]] static inline int cube(int x) {
  return square(x) * x;
}

[[gnu::noinline]] int area(int side) { return square(side); }

[[gnu::noinline]] int volume(int side) { return cube(side); }

template <class T> [[gnu::noinline]] T twice(T x) {
  return x + x;
}

template int twice<int>(int);

} // namespace shapes

extern "C" int undescribed(int);

extern "C" int entry(int x) {
  return shapes::area(x) + shapes::volume(x) + shapes::twice(x) + undescribed(x);
}
