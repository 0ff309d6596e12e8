#ifndef STORE_H
#define STORE_H

#ifdef __cplusplus
extern "C" {
#endif

void store_put(unsigned key, const char *value, unsigned len);
int store_get(unsigned key, char *out, unsigned cap);
int store_delete(unsigned key);
unsigned store_best(unsigned order);

// report.cpp; weak so that C-only programs may leave it out.
int report_total(unsigned kind, const unsigned *values, unsigned n)
    __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
