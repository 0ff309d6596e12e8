// A program for coverage by source: some lines run, some never do, and some
// are inlined into functions of another file.
#include "shapes.h"

extern "C" int atoi(const char *);
extern "C" int printf(const char *, ...);

namespace shapes {

int area(int side) {
  if (side < 0)
    return negative(side);
  return square(side);
}

int volume(int side) {
  int sum = 0;
  for (int i = 0; i < side; i++)
    sum += square(side);
  return sum;
}

int unused(int side) {
  return area(side) + volume(side);
}

} // namespace shapes

int main(int argc, char **argv) {
  int total = 0;
  for (int i = 1; i < argc; i++) {
    int side = atoi(argv[i]);
    total += shapes::area(side);
    if (side > 2)
      total += shapes::volume(side);
  }
  printf("%d\n", total);
  return 0;
}
