/* Rows of Google Benchmark's documents. Private to formats. */
#ifndef QS_FORMATS_GBENCH_H
#define QS_FORMATS_GBENCH_H

#include <jansson.h>
#include <stdbool.h>

/* A number of a row that is no measurement. */
bool qs_gbench_is_setting(const char *key);
const char *qs_gbench_text(const json_t *row, const char *key, const char *fallback);
/* A mean, a median or a deviation that the tool computed. */
bool qs_gbench_is_aggregate(const json_t *row);

#endif
