/* 128-bit identities: of a farm, a run, a session. Random bytes without structure; all zero means "none". */
#ifndef QS_PROTO_UID_H
#define QS_PROTO_UID_H

#include <stdbool.h>
#include <stdint.h>

enum { QS_UID_BYTES = 16, QS_UID_HEX_BYTES = 33 };

struct qs_uid {
    uint8_t b[QS_UID_BYTES];
};

bool qs_uid_equal(const struct qs_uid *a, const struct qs_uid *b);
bool qs_uid_is_zero(const struct qs_uid *u);
/* 32 lower-case hex digits and a NUL. */
void qs_uid_hex(const struct qs_uid *u, char out[QS_UID_HEX_BYTES]);

#endif
