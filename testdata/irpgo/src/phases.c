// Calls its functions in an order that its arguments choose: argv[1] the first
// phase, argv[2] the step to the next one, argv[3] how many phases. Functions
// that are never called get no timestamp.
#include <stdio.h>
#include <stdlib.h>

static long acc;

#define LEAF(n)                                                                \
  __attribute__((noinline)) static void leaf_##n(void) { acc = acc * 3 + n; }
LEAF(1) LEAF(2) LEAF(3) LEAF(4) LEAF(5) LEAF(6) LEAF(7) LEAF(8) LEAF(9)

#define PHASE(name, ...)                                                       \
  __attribute__((noinline)) void name(void) {                                  \
    static void (*const calls[])(void) = {__VA_ARGS__};                        \
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++)                \
      calls[i]();                                                              \
  }
PHASE(load_config, leaf_1, leaf_2)
PHASE(open_window, leaf_3, leaf_1, leaf_4)
PHASE(read_index, leaf_5, leaf_2)
PHASE(draw_frame, leaf_6, leaf_3)
PHASE(play_sound, leaf_7)
PHASE(save_state, leaf_8, leaf_2, leaf_5)
PHASE(never_reached, leaf_9)

int main(int argc, char **argv) {
  static void (*const phases[])(void) = {load_config, open_window, read_index,
                                         draw_frame,  play_sound,  save_state};
  enum { PHASES = sizeof phases / sizeof *phases };
  int at = argc > 1 ? atoi(argv[1]) : 0;
  int step = argc > 2 ? atoi(argv[2]) : 1;
  int count = argc > 3 ? atoi(argv[3]) : PHASES;

  for (int i = 0; i < count; i++) {
    phases[at % PHASES]();
    at += step;
  }
  if (acc == 42)
    never_reached();
  printf("%ld\n", acc);
  return 0;
}
