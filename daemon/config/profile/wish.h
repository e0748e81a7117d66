/* What is wished of the frequencies of one kind: `max | min | N% | FREQ | free`. */
#ifndef QS_CONFIG_PROFILE_WISH_H
#define QS_CONFIG_PROFILE_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/document/scalar.h"

enum qs_wish_how { QS_WISH_FREE, QS_WISH_MAX, QS_WISH_MIN, QS_WISH_SHARE, QS_WISH_FREQUENCY };
struct qs_wish {
    enum qs_wish_how how;
    int64_t value; /* SHARE: parts per million of the most, 1 .. 1,000,000; FREQUENCY: kHz, 1 or more */
};

bool qs_wish_read(const char *text, struct qs_wish *ret, struct qs_scalar_why *why);
/* As it is written. */
void qs_wish_print(const struct qs_wish *wish, struct qs_buf *out);

#endif
