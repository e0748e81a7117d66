#include "proto/enrolled.h"

#include <string.h>

static const char begins[] = "quiesce-key ";
static const char digits[] = "0123456789abcdef";

enum { BEGINS_BYTES = sizeof begins - 1, SECRET_DIGITS = 2 * QS_ENROLLED_SECRET_BYTES };

bool qs_enrolled_is_name(const char *name, size_t n)
{
    bool ok = n >= 1 && n <= QS_ENROLLED_NAME_MAX_BYTES;
    for (size_t i = 0; ok && i < n; i++)
        ok = name[i] > ' ' && name[i] < 127;
    return ok;
}

static bool read_digit(uint8_t byte, uint8_t *value)
{
    const char *at = byte != '\0' ? strchr(digits, byte) : NULL;
    *value = at ? (uint8_t)((unsigned)*value << 4 | (unsigned)(at - digits)) : 0;
    return at != NULL;
}

bool qs_enrolled_parse(const uint8_t *bytes, size_t n, struct qs_enrolled *ret)
{
    if (n > 0 && bytes[n - 1] == '\n')
        n--;
    if (n < BEGINS_BYTES + 1 + 1 + SECRET_DIGITS || memcmp(bytes, begins, BEGINS_BYTES) != 0)
        return false;
    size_t name_bytes = n - BEGINS_BYTES - 1 - SECRET_DIGITS;
    const uint8_t *name = bytes + BEGINS_BYTES, *secret = name + name_bytes + 1;
    if (!qs_enrolled_is_name((const char *)name, name_bytes) || name[name_bytes] != ' ')
        return false;
    memset(ret, 0, sizeof *ret);
    memcpy(ret->name, name, name_bytes);
    bool ok = true;
    for (size_t i = 0; i < SECRET_DIGITS; i++)
        ok = read_digit(secret[i], &ret->secret[i / 2]) && ok;
    return ok;
}

size_t qs_enrolled_write(const struct qs_enrolled *key, char out[QS_ENROLLED_FILE_MAX_BYTES])
{
    size_t name_bytes = strlen(key->name);
    char *at = out;
    memcpy(at, begins, BEGINS_BYTES);
    at += BEGINS_BYTES;
    memcpy(at, key->name, name_bytes);
    at += name_bytes;
    *at++ = ' ';
    for (size_t i = 0; i < QS_ENROLLED_SECRET_BYTES; i++) {
        *at++ = digits[key->secret[i] >> 4];
        *at++ = digits[key->secret[i] & 15];
    }
    *at++ = '\n';
    return (size_t)(at - out);
}
