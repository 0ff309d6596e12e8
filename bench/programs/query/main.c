// An SQL engine in memory, and a workload for it.
//
//   query [--quick | --brief] [FILE]
//
// Without FILE the workload runs, some seconds long or, with --brief and
// --quick, a third and some hundredths of one, and a checksum of all results is printed. FILE has
// statements, one per line, that run after the workload's data are there.
#include "workload.h"

#include <stdio.h>
#include <string.h>

static const Scale full = {.customers = 6000, .products = 1500, .orders = 40000, .rounds = 7, .lookups = 30000};
static const Scale brief = {.customers = 1500, .products = 375, .orders = 8000, .rounds = 2, .lookups = 6000};
static const Scale quick = {.customers = 200, .products = 60, .orders = 900, .rounds = 1, .lookups = 500};

static int run_file(Engine *e, const char *name) {
  FILE *f = fopen(name, "r");
  if (!f) {
    perror(name);
    return 1;
  }
  char line[4096];
  while (fgets(line, sizeof line, f)) {
    engine_run(e, line);
    fputs(e->last.at, stdout);
  }
  fclose(f);
  return 0;
}

int main(int argc, char **argv) {
  const Scale *scale = &full;
  const char *file = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--quick") == 0)
      scale = &quick;
    else if (strcmp(argv[i], "--brief") == 0)
      scale = &brief;
    else
      file = argv[i];
  }
  Engine engine = {0};
  workload_run(&engine, scale);
  const char *wrong = engine_check(&engine);
  if (wrong)
    fprintf(stderr, "%s\n", wrong);
  int code = file ? run_file(&engine, file) : 0;
  printf("%lld statements, %lld failures, %lld rows, checksum %016llx\n", (long long)engine.statements,
         (long long)engine.failures, (long long)engine.rows, (unsigned long long)engine.checksum);
  engine_free(&engine);
  return wrong ? 1 : code;
}
