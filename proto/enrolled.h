/* The key of one device, as its enrolment makes it (PROTOCOL.md, "TLS"): the file that holds it, the same on
 * both sides, is one line, `quiesce-key NAME SECRET`, the secret in 64 hex digits. */
#ifndef QS_PROTO_ENROLLED_H
#define QS_PROTO_ENROLLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    QS_ENROLLED_NAME_MAX_BYTES = 64,
    QS_ENROLLED_SECRET_BYTES = 32,
    QS_ENROLLED_FILE_MAX_BYTES = 12 + QS_ENROLLED_NAME_MAX_BYTES + 1 + 2 * QS_ENROLLED_SECRET_BYTES + 1
};

struct qs_enrolled {
    char name[QS_ENROLLED_NAME_MAX_BYTES + 1]; /* the device's in its farm: visible ASCII, no blank */
    uint8_t secret[QS_ENROLLED_SECRET_BYTES];
};

/* What a device can be enrolled as. */
bool qs_enrolled_is_name(const char *name, size_t n);
/* The contents of a file; false: it is none of these. */
bool qs_enrolled_parse(const uint8_t *bytes, size_t n, struct qs_enrolled *ret);
/* Returns how many bytes the file has; no NUL. The name is one. */
size_t qs_enrolled_write(const struct qs_enrolled *key, char out[QS_ENROLLED_FILE_MAX_BYTES]);

#endif
