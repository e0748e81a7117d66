/* Private to config: text to typed values, the way a person means it. Numbers are decimal: `0777` is 777 and
 * `1e3` is 1000; a quantity carries its unit (0 alone needs none). Every function returns false with a reason
 * that says what to write instead. */
#ifndef QS_CONFIG_DOCUMENT_SCALAR_H
#define QS_CONFIG_DOCUMENT_SCALAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct qs_scalar_why {
    char text[200];       /* "`20` has no unit" */
    char suggestion[120]; /* "write 20s, 20ms or 20min", or "" */
};

enum qs_quantity { QS_QTY_DURATION, QS_QTY_BYTES, QS_QTY_TEMPERATURE, QS_QTY_FREQUENCY };

bool qs_scalar_int(const char *text, int64_t *ret, struct qs_scalar_why *why);
/* 0 .. 18446744073709551615, for seeds. */
bool qs_scalar_uint(const char *text, uint64_t *ret, struct qs_scalar_why *why);
/* A whole multiple of 10^-digits, as that multiple: "1.5" with digits 3 is 1500. */
bool qs_scalar_scaled(const char *text, int digits, int64_t *ret, struct qs_scalar_why *why);
/* "2%" or "0.02"; the double nearest to the decimal value. */
bool qs_scalar_ratio(const char *text, double *ret, struct qs_scalar_why *why);
/* "2%" or "0.02" as whole parts per million. */
bool qs_scalar_ppm(const char *text, int64_t *ret, struct qs_scalar_why *why);
/* In ns, bytes, milli-degrees C or kHz: "1min30s", "64KiB", "34.5C", "1.8GHz". */
bool qs_scalar_quantity(const char *text, enum qs_quantity quantity, int64_t *ret, struct qs_scalar_why *why);
/* true, yes, on / false, no, off */
bool qs_scalar_bool(const char *text, bool *ret, struct qs_scalar_why *why);

/* Text between backticks in a message: at most 60 bytes of it. */
struct qs_shown {
    char text[72];
};
struct qs_shown qs_show(const char *text);

#endif
