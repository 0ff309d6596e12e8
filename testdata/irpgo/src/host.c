// A program with an instrumented shared library: two images, two profiles.
#include <stdio.h>
#include <stdlib.h>

int plugin_score(int x);

static int better(int a, int b) { return a > b; }

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 100, best = 0;
  for (int i = 0; i < rounds; i++) {
    int s = plugin_score(i);
    if (better(s, best))
      best = s;
  }
  printf("%d\n", best);
  return 0;
}
