#include "proto/uid.h"

#include <stddef.h>
#include <string.h>

bool qs_uid_equal(const struct qs_uid *a, const struct qs_uid *b)
{
    return memcmp(a->b, b->b, QS_UID_BYTES) == 0;
}

bool qs_uid_is_zero(const struct qs_uid *u)
{
    uint8_t any = 0;
    for (size_t i = 0; i < QS_UID_BYTES; i++)
        any |= u->b[i];
    return any == 0;
}

void qs_uid_hex(const struct qs_uid *u, char out[QS_UID_HEX_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < QS_UID_BYTES; i++) {
        out[2 * i] = digits[u->b[i] >> 4];
        out[2 * i + 1] = digits[u->b[i] & 15];
    }
    out[QS_UID_HEX_BYTES - 1] = '\0';
}
