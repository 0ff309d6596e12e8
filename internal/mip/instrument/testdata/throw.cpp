// Exceptions through destructors, nested handlers and rethrows.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Guard {
  const char *name;
  explicit Guard(const char *n) : name(n) { std::printf("+%s\n", name); }
  ~Guard() { std::printf("-%s\n", name); }
};

__attribute__((noinline)) int risky(int x) {
  Guard g("risky");
  if (x == 3) throw std::runtime_error("three");
  if (x == 5) throw 5;
  if (x == 7) throw std::string("seven");
  return x * 2;
}

__attribute__((noinline)) int nested(int x) {
  Guard outer("outer");
  try {
    Guard inner("inner");
    try {
      return risky(x) + risky(x + 1);
    } catch (const std::runtime_error &e) {
      std::printf("runtime %s\n", e.what());
      if (x == 2) throw;
      return -1;
    }
  } catch (int i) {
    std::printf("int %d\n", i);
    return i;
  } catch (const std::exception &e) {
    std::printf("again %s\n", e.what());
    throw std::logic_error("from nested");
  }
}

template <class T> __attribute__((noinline)) T biggest(const std::vector<T> &v) {
  T m = v.at(0);
  for (auto &x : v)
    if (m < x) m = x;
  return m;
}

struct Base {
  virtual ~Base() {}
  virtual int f(int) const = 0;
};
struct A : Base {
  int f(int x) const override { return x + 1; }
};
struct B : Base {
  int f(int x) const override { return x > 2 ? x - 1 : x; }
};

int main(int argc, char **argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 0;
  std::map<std::string, int> results;
  for (int i = 0; i <= n; i++) {
    std::string key = "r" + std::to_string(i);
    try {
      results[key] = nested(i);
    } catch (const std::logic_error &e) {
      std::printf("logic %s\n", e.what());
      results[key] = -2;
    } catch (...) {
      std::puts("something");
    }
  }
  for (auto &r : results) std::printf("%s=%d\n", r.first.c_str(), r.second);
  std::unique_ptr<Base> p;
  if (n & 1) p = std::make_unique<A>(); else p = std::make_unique<B>();
  std::printf("%d %d %s\n", p->f(n), biggest(std::vector<int>{1, n, 2}),
              biggest(std::vector<std::string>{"a", "b"}).c_str());
  try {
    biggest(std::vector<double>{});
  } catch (const std::out_of_range &) {
    std::puts("empty");
  }
}
