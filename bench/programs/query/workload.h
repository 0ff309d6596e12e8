#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "engine.h"

// How much work is done.
typedef struct {
  int64_t customers, products, orders;
  int rounds;   // of the reports
  int lookups;  // small statements
} Scale;

void workload_run(Engine *e, const Scale *scale);

#endif
