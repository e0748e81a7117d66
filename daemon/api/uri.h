/* A request's target, cut and decoded: a path of segments and a query of names and values. Bounded, because
 * it comes from a stranger. */
#ifndef QS_API_URI_H
#define QS_API_URI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { QS_URI_BYTES = 4096, QS_URI_SEGMENTS = 8, QS_URI_QUERIES = 8 };

struct qs_uri {
    char *segments[QS_URI_SEGMENTS]; /* owned, decoded: may hold any character but NUL */
    size_t segment_count;
    char *names[QS_URI_QUERIES], *values[QS_URI_QUERIES]; /* owned */
    size_t query_count;
};

/* "/a/b%20c?x=1&y": segments "a", "b c"; names x and y, values "1" and "". QS_E_LIMIT where it is too long;
 * QS_E_USAGE: no leading slash, a broken escape, %00, bytes that are not UTF-8, an empty segment, a name
 * twice. To be freed after success only. */
bool qs_uri_parse(const char *raw, struct qs_uri *ret, struct qs_err *err);
void qs_uri_done(struct qs_uri *uri);
/* NULL where it was not given. */
const char *qs_uri_get(const struct qs_uri *uri, const char *name);
/* The value as a number of digits only, lo <= value <= hi; `fallback` where it was not given. QS_E_USAGE. */
bool qs_uri_int(const struct qs_uri *uri, const char *name, long long lo, long long hi, long long fallback,
                long long *ret, struct qs_err *err);
/* The value as a number with or without a fraction, lo <= value <= hi; not given: *ret stays. QS_E_USAGE. */
bool qs_uri_number(const struct qs_uri *uri, const char *name, double lo, double hi, double *ret,
                   struct qs_err *err);
/* Digits only, within lo..hi. */
bool qs_number_parse(const char *text, long long lo, long long hi, long long *ret);

#endif
