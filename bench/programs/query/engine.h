// Statements from text to effect.
#ifndef ENGINE_H
#define ENGINE_H

#include "table.h"

typedef struct {
  Database db;
  Failure failure;
  int64_t statements, failures, rows;
  uint64_t checksum; // of all results and messages
  Text last;         // the last result, a line per row
} Engine;

// engine_run runs a statement. Failures are results, too: they leave a message
// in last.
bool engine_run(Engine *e, const char *sql);
bool engine_runf(Engine *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
int64_t engine_load(Engine *e, const char *table, const Text *csv);
// engine_check fails the program when an index does not fit its table.
const char *engine_check(const Engine *e);
void engine_free(Engine *e);

#endif
