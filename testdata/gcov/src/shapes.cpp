// Templates, exceptions, virtual and indirect calls, lambdas, constructors and a global object.
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

template <typename T> struct Box { T value; explicit Box(T v) : value(v) {} T get() const { return value > T(2) ? value : T(2); } };

template <typename T>
T clamp(T x, T low, T high) {
  if (x < low) return low;
  return x > high ? high : x;
}

struct Shape {
  virtual ~Shape() {}
  virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  explicit Square(int s) : side(s) { if (s < 0) throw std::invalid_argument("side"); }
  int area() const override { return side * side; }
};
struct Line : Shape { int area() const override { return 0; } };

static std::string global = std::string("global") + "object";

static int risky(int n) {
  try {
    if (n == 2) throw std::runtime_error("two");
    Square s(n - 1);
    return s.area();
  } catch (const std::invalid_argument &) {
    return -1;
  } catch (const std::exception &e) {
    return int(std::string(e.what()).size());
  }
}

static int unused(int n) { return n + int(global.size()); }

int main(int argc, char **) {
  std::vector<Shape *> shapes;
  for (int i = 0; i < 6; i++)
    if (i % 3) shapes.push_back(new Square(i)); else shapes.push_back(new Line);
  int total = 0;
  for (Shape *s : shapes) total += s->area();
  std::function<int(int)> twice = [&](int x) { return x > 3 ? 2 * x : total; };
  std::vector<int> order = {5, 3, 9, 1};
  std::sort(order.begin(), order.end(), [](int a, int b) { return a > b; });
  for (int n : order) total += twice(n) + risky(n % 4);
  total += Box<int>(3).get() + int(Box<double>(1.5).get()) + clamp(total, 0, 50) + int(clamp(2.5, 0.0, 1.0));
  if (argc > 5) total += unused(argc) + int(Box<long>(7).get());
  for (Shape *s : shapes) delete s;
  return total == 12345;
}
