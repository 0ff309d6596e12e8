// A script language at work.
//
//   script [--quick | --brief]
//
// Runs some programs, and some that are wrong: for some seconds or, with --brief
// and --quick, a third and some hundredths of one. Prints a checksum of all
// results.
#include "script.h"

#include <stdio.h>
#include <string.h>

static const char library[] =
    "fn fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
    "fn primes(n) {\n"
    "  set sieve = array(n + 1); set i = 2; set count = 0;\n"
    "  while i <= n {\n"
    "    if !sieve[i] { set count = count + 1; set k = i * i; while k <= n { set sieve[k] = 1; set k = k + i; } }\n"
    "    set i = i + 1;\n"
    "  }\n"
    "  return count;\n"
    "}\n"
    "fn sort(a, low, high) { # quicksort\n"
    "  while low < high {\n"
    "    set pivot = a[(low + high) / 2]; set i = low; set j = high;\n"
    "    while i <= j {\n"
    "      while a[i] < pivot { set i = i + 1; }\n"
    "      while a[j] > pivot { set j = j - 1; }\n"
    "      if i <= j { set t = a[i]; set a[i] = a[j]; set a[j] = t; set i = i + 1; set j = j - 1; }\n"
    "    }\n"
    "    sort(a, low, j);\n"
    "    set low = i;\n"
    "  }\n"
    "  return 0;\n"
    "}\n"
    "fn hash(a) { set h = 7; set i = 0; while i < size(a) { set h = (h << 5) ^ h ^ a[i]; set i = i + 1; } return h; }\n"
    "fn sorted(n) {\n"
    "  set a = array(n); set seed = n; set i = 0;\n"
    "  while i < n { set seed = seed * 6364136223846793005 + 1442695040888963407; set a[i] = seed; set i = i + 1; }\n"
    "  sort(a, 0, n - 1);\n"
    "  return hash(a);\n"
    "}\n"
    "fn queens(n) { return place(array(n), 0); }\n"
    "fn collatz(n) {\n"
    "  set best = 0; set i = 1;\n"
    "  while i < n {\n"
    "    set x = i; set steps = 0;\n"
    "    while x != 1 { if x % 2 { set x = 3 * x + 1; } else { set x = x / 2; } set steps = steps + 1; }\n"
    "    if steps > best { set best = steps; }\n"
    "    set i = i + 1;\n"
    "  }\n"
    "  return best;\n"
    "}\n";

// Functions are known from where they begin, so those above call none below.
static const char before[] =
    "fn place(board, row) {\n"
    "  if row == size(board) { return 1; }\n"
    "  set found = 0; set column = 0;\n"
    "  while column < size(board) {\n"
    "    set free = 1; set r = 0;\n"
    "    while r < row {\n"
    "      set d = board[r] - column;\n"
    "      if d == 0 { set free = 0; }\n"
    "      if d == row - r { set free = 0; }\n"
    "      if d == r - row { set free = 0; }\n"
    "      set r = r + 1;\n"
    "    }\n"
    "    if free { set board[row] = column; set found = found + place(board, row + 1); }\n"
    "    set column = column + 1;\n"
    "  }\n"
    "  return found;\n"
    "}\n";

// What is wrong with each of these is found by the compiler or the machine.
static const char *const wrong[] = {
    "fn main(n) { return n + ; }",
    "fn main(n) { return m; }",
    "fn main(n) { return main(n, n); }",
    "fn main(n) { set n[0] = 1; return array(2)[2]; }",
    "fn main(n) { return main(n + 1); }",
    "fn main(n) { return n / (n - n); }",
    "fn main(n) { return size(9); }",
    "fn main(n) { return array(0 - n); }",
    "fn other(n) { while n { set n = n - 1; } return n; }",
    "fn main(a_name_that_is_much_too_long) { return 0; }",
    "fn main(n) {",
};

typedef struct {
  const char *function;
  int64_t quick, brief, full;
} Work;

static const Work works[] = {
    {"fib", 16, 20, 26},
    {"primes", 2000, 80000, 1000000},
    {"sorted", 500, 16000, 250000},
    {"queens", 5, 6, 8},
    {"collatz", 300, 10000, 100000},
};

static uint64_t checksum = 14695981039346656037u;

static void add(const void *data, size_t size) {
  for (size_t i = 0; i < size; i++)
    checksum = (checksum ^ ((const unsigned char *)data)[i]) * 1099511628211u;
}

static void run(const char *first, const char *second, const char *function, int64_t argument) {
  Script s = {0};
  int64_t result = 0;
  if (script_compile(&s, first) && (!second || script_compile(&s, second)) && script_run(&s, function, argument, &result))
    add(&result, sizeof result);
  else
    add(s.reason, strlen(s.reason));
  script_free(&s);
}

int main(int argc, char **argv) {
  int quick = argc > 1 && strcmp(argv[1], "--quick") == 0, brief = argc > 1 && strcmp(argv[1], "--brief") == 0;
  for (int round = 0; round < (quick ? 1 : 5); round++)
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
      run(before, library, works[i].function, quick ? works[i].quick : brief ? works[i].brief : works[i].full);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    run(wrong[i], NULL, "main", 1);
  printf("checksum %016llx\n", (unsigned long long)checksum);
  return 0;
}
