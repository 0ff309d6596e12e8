// A program of what is hard on instrumentation. It prints the same with every
// compiler, at every level of optimization, linked in any way.
#pragma once

#ifdef __cplusplus
#include <cstdio>
#include <exception>
extern "C" {
#endif

int control(void); // matrix.c
int throughC(int (*f)(int), int x);
int dead_c(int x);
int helper(int x); // lib.cc

#ifdef __cplusplus
}

// Both C++ files have these: one copy stays.
inline int shared(int x) {
  static int calls = 0;
  return x * 2 + ++calls;
}

// <stdexcept> would take compilers longer than all the rest.
struct Error : std::exception {
  const char *text;
  explicit Error(const char *t) : text(t) {}
  const char *what() const noexcept override { return text; }
};
struct RuntimeError : Error { using Error::Error; };
struct LogicError : Error { using Error::Error; };
struct LengthError : LogicError { using LogicError::LogicError; };
struct OutOfRange : LogicError { using LogicError::LogicError; };

template <class T> struct Stack {
  T items[8];
  int n = 0;
  __attribute__((noinline)) void push(T v) {
    if (n == 8)
      throw LengthError("full");
    items[n++] = v;
  }
  __attribute__((noinline)) T pop() {
    if (n == 0)
      throw OutOfRange("empty");
    return items[--n];
  }
};

struct Guard {
  const char *name;
  ~Guard() { std::printf("~%s ", name); }
};

struct Base {
  virtual ~Base() {}
  virtual int value() const = 0;
};
struct Left : virtual Base {
  int l = 1;
  int value() const override { return l; }
};
struct Right : virtual Base {
  int r = 2;
};
struct Both : Left, Right {
  int value() const override { return l + r; }
};

int risky(int x);
int nested(int x);
#endif
