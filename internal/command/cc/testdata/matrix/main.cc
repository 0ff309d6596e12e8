#include "matrix.h"

namespace {

struct Thrower {
  Guard member;
  explicit Thrower(int x) try : member{"member"} {
    if (x > 1)
      throw x;
  } catch (int n) {
    std::printf("constructor %d ", n);
    throw;
  }
};

struct Static {
  Static() { std::puts("static"); }
  ~Static() { std::puts("~static"); }
};
Static object;

// catching reports what a call throws.
template <class F> int catching(F f) {
  try {
    return f();
  } catch (const LogicError &e) {
    std::printf("logic(%s) ", e.what());
  } catch (int n) {
    std::printf("int(%d) ", n);
  } catch (...) {
    std::printf("other ");
  }
  return -9;
}

} // namespace

int main(int argc, char **) {
  Guard g{"main"};
  control();
  for (int x = 0; x < 4; x++)
    std::printf("%d\n", catching([x] { return nested(x); }));
  std::printf("%d\n", catching([] { return helper(3); }));
  std::printf("%d\n", catching([] { return helper(20); }));
  std::printf("%d\n", catching([argc] { Thrower t(argc); Thrower u(argc + 1); return 0; }));
  Stack<double> s;
  s.push(1.5);
  Base *b = new Both;
  std::printf("%g %d %d %d\n", s.pop(), b->value(), dynamic_cast<Right *>(b)->r, shared(1));
  delete b;
  return 3;
}
