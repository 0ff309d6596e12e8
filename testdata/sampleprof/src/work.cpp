// A program with hot and cold functions, calls through pointers and objects, recursion,
// and functions that compilers inline.
#include <cstdio>
#include <cstdlib>

namespace shop {

struct Price {
  virtual ~Price() {}
  virtual long of(long n) const = 0;
};
struct Plain : Price {
  long of(long n) const override { return n * 7; }
};
struct Rebate : Price {
  long of(long n) const override {
    long sum = 0;
    for (long i = 0; i < n % 5; i++)
      sum += i % 2 ? n : -i;
    return sum;
  }
};

static long digits(long n) { return n < 10 ? 1 : 1 + digits(n / 10); }

static inline long mix(long a, long b) {
  if (a % 3 == 0)
    return a ^ b;
  return a + b;
}

__attribute__((noinline)) long twice(long n) { return 2 * n; }
__attribute__((noinline)) long square(long n) { return n * n; }

template <typename T> __attribute__((noinline)) T total(const Price &p, T upTo) {
  T sum = 0;
  for (T i = 0; i < upTo; i++)
    sum = mix(sum, p.of(i)) % 1000003;
  return sum;
}

} // namespace shop

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 40;
  shop::Plain plain;
  shop::Rebate rebate;
  long (*calls[])(long) = {shop::twice, shop::square};
  long sum = 0;
  for (long i = 0; i < n; i++) {
    const shop::Price &p = i % 4 ? static_cast<const shop::Price &>(plain) : rebate;
    sum += shop::total<long>(p, i) + calls[i % 3 == 0](i) + shop::digits(sum);
  }
  printf("%ld\n", sum);
}
