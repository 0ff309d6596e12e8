// A function that nothing calls.
#include <stdio.h>

int dead(int x) { return x > 3 ? puts("dead") : x; }
__attribute__((noinline)) int live(int x) { return x > 3 ? puts("live") : x; }
int main(int argc, char **argv) { return live(argc) == 77; }
