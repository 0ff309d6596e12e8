// A program without libraries, so that it is small. It runs what profiles tell apart: inlined functions, virtual and other
// calls by pointer, a switch, recursion, unrolled and vectorized loops, tail calls, and code that never runs.
typedef unsigned long u64;

static u64 exits(u64 code) {
#ifdef __x86_64__
  u64 r;
  asm volatile("syscall" : "=a"(r) : "a"(60), "D"(code) : "rcx", "r11", "memory");
  return r;
#else
  register u64 x0 asm("x0") = code, x8 asm("x8") = 93;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8) : "memory");
  return x0;
#endif
}

extern "C" void *memset(void *to, int c, u64 n) {
  for (volatile char *p = (volatile char *)to; n > 0; n--)
    *p++ = c;
  return to;
}

struct Shape {
  virtual u64 area(u64 k) const = 0;
};
struct Square : Shape {
  u64 side;
  u64 area(u64 k) const override {
    u64 sum = 0;
    for (u64 i = 0; i < side; i++)
      sum += k * i ^ side;
    return sum;
  }
};
struct Circle : Shape {
  u64 radius;
  u64 area(u64 k) const override { return k & 1 ? 3 * radius * radius : radius; }
};

static u64 table[64];
volatile int never;

static inline u64 step(u64 n) { return n & 1 ? 3 * n + 1 : n / 2; }

__attribute__((noinline)) static u64 collatz(u64 n) {
  u64 steps = 0;
  while (n != 1) {
    n = step(n);
    steps++;
  }
  return steps;
}

__attribute__((noinline)) static u64 fib(u64 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

__attribute__((noinline)) static void fill(unsigned *to, unsigned n) {
  for (unsigned i = 0; i < n; i++)
    to[i] = to[i] * 3 + i;
}

__attribute__((noinline)) static u64 choose(u64 n) {
  switch (n & 7) {
  case 0: return n + 1;
  case 1: return n * 3;
  case 2: return n ^ 0x55;
  case 3: return table[n & 63];
  case 4: return collatz(n | 1);
  case 5: return n >> 2;
  default: return fib(n & 7);
  }
}

__attribute__((noinline, cold)) static void rare(u64 n) { table[n & 63] = ~n; }

template <class T> __attribute__((noinline)) static u64 measure(const T &shape, u64 n) {
  u64 sum = 0;
  for (u64 i = 0; i < n; i++)
    sum += step(i) + shape.area(i);
  return sum;
}

static u64 (*calls[])(u64) = {collatz, choose, fib};

#ifdef __x86_64__
#define ENTRY __attribute__((force_align_arg_pointer))
#else
#define ENTRY
#endif

extern "C" ENTRY void _start() {
  Square square;
  square.side = 9;
  Circle circle;
  circle.radius = 4;
  unsigned list[96];
  u64 sum = 0;
  for (unsigned i = 0; i < 96; i++)
    list[i] = i * 7919;
  for (u64 i = 1; i < 120; i++) {
    const Shape *shape = i % 3 ? (const Shape *)&square : &circle;
    sum += shape->area(i) + choose(i) + calls[i % 3](i % 13 + 1);
    fill(list, i % 96);
    table[i & 63] += sum;
    if (never)
      rare(i);
  }
  sum += measure(square, 20) + measure(circle, 30) + list[5];
  exits(sum & 1);
  __builtin_trap();
}
