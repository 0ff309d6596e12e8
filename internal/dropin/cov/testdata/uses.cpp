#include "templates.h"

int second(int);
int third(float);
void hit() {}

int main(int argc, char **) {
  int n = 0;
  for (int i = 0; i < 12; i++)
    n += second(i) + (i > 6 ? third(float(i)) : helper(i));
  return n == 0;
}
