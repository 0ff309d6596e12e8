// What does not look like an ordinary function or block.
#include <stdio.h>
#include <stdlib.h>

__asm__(".globl raw_function\n.type raw_function,@function\nraw_function:\n\tmovl $7, %eax\n\tret\n.size raw_function,.-raw_function\n");
int raw_function(void);

__attribute__((naked, noinline)) int bare(int x) {
  __asm__("leal 1(%rdi), %eax\n\tret");
}

__attribute__((noinline)) int inline_asm(int x) {
  int n = x;
  __asm__ volatile("1: decl %0\n\tjns 1b\n\t.pushsection .rodata\n\t.byte 1\n\t.popsection" : "+r"(n));
  __asm__ volatile("" ::: "memory");
  return n + x;
}

__attribute__((noinline)) int asm_goto(int x) {
  __asm__ goto("testl %0, %0\n\tjns %l1" : : "r"(x) : "cc" : positive);
  return -x;
positive:
  return x;
}

__attribute__((cold, noinline)) static void fail(int x) {
  printf("fail %d\n", x);
}
__attribute__((noinline)) int mostly(int x) {
  if (__builtin_expect(x > 100, 0)) {
    fail(x);
    fail(x + 1);
    return x * 3;
  }
  if (__builtin_expect(x < -100, 0)) {
    fail(-x);
    return 7 - x;
  }
  return x;
}

static int impl(int x) { return x + 1; }
static int (*resolve(void))(int) { return impl; }
int indirect(int) __attribute__((ifunc("resolve")));

__attribute__((constructor(101))) static void early(void) { puts("early"); }

__attribute__((noinline, section("my_code"))) int placed(int x) { return x * 5; }
__attribute__((noinline, section(".text.startup.mine"))) int started(int x) { return x * 6; }

typedef int (*function)(int);
__attribute__((noinline)) static int call(function f, int x) { return f(x); }
__attribute__((noinline)) static double variadic(int n, ...) {
  __builtin_va_list ap;
  double s = 0;
  __builtin_va_start(ap, n);
  while (n--) s += __builtin_va_arg(ap, double);
  __builtin_va_end(ap);
  return s;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 0;
  printf("%d %d %d\n", raw_function(), bare(n), inline_asm(n));
  printf("%d %d\n", asm_goto(n - 2), asm_goto(2 - n));
  printf("%d %d %d\n", mostly(n), mostly(n * 50), mostly(n * -60));
  printf("%d %d %d\n", indirect(n), placed(n), started(n));
  printf("%d %g\n", call(placed, n), variadic(2, 1.5, (double)n));
#if !defined(__clang__)
  int local(int y) { return y + n; }
  printf("%d\n", call(local, 3));
#endif
  return 0;
}
