#include <cstdio>
template <class T> __attribute__((noinline)) T shared(T x) {
  if (x > 3) std::puts("large");
  return x + 1;
}
struct Thing {
  virtual ~Thing() {}
  virtual int get() const { return 5; }
};
static __attribute__((noinline)) int local(int x) { return x ? x * 3 : std::puts("zero"); }
int second(int);
