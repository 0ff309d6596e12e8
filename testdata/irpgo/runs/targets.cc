// Indirect and virtual calls.
struct Base { virtual int f(int x) { return x; } virtual ~Base() {} };
struct Add : Base { int f(int x) override { return x + 3; } };
struct Flip : Base { int f(int x) override { return x ^ 3; } };
typedef int (*Step)(int);
static int inc(int x) { return x + 1; }
static int triple(int x) { return x * 3; }
__attribute__((noinline)) int call(Step f, int x) { return f(x); }
__attribute__((noinline)) int send(Base *b, int x) { return b->f(x); }
int main() {
  Step steps[] = {inc, triple};
  Add add; Flip flip;
  Base *all[] = {&add, &flip};
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += call(steps[i % 5 == 0], i) + send(all[i % 3 == 0], i);
  return sum == 0;
}
