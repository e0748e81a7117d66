#include "api/uri.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static bool decode(const char *raw, size_t n, bool plus, char **ret, struct qs_err *err)
{
    char *out = qs_malloc(n + 1);
    size_t len = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        uint8_t byte = (uint8_t)raw[i];
        if (raw[i] == '%') {
            char hex[3] = {i + 1 < n ? raw[i + 1] : 0, i + 2 < n ? raw[i + 2] : 0, 0};
            ok = qs_unhex(hex, &byte, 1) && byte != 0;
            i += 2;
        } else if (plus && raw[i] == '+') {
            byte = ' ';
        }
        out[len++] = (char)byte;
    }
    out[len] = 0;
    for (size_t i = 0; ok && i < len;)
        i += qs_utf8_next(out + i, len - i, &ok);
    if (ok) {
        *ret = out;
        return true;
    }
    free(out);
    return qs_fail(err, QS_E_USAGE, "the address holds a %%-escape that stands for no character of UTF-8");
}

static bool add_segment(struct qs_uri *uri, const char *raw, size_t n, struct qs_err *err)
{
    if (n == 0)
        return qs_fail(err, QS_E_NOT_FOUND, "the path has an empty part; no address ends with a slash");
    if (uri->segment_count == QS_URI_SEGMENTS)
        return qs_fail(err, QS_E_NOT_FOUND, "no address has more than %d parts", QS_URI_SEGMENTS);
    if (!decode(raw, n, false, &uri->segments[uri->segment_count], err))
        return false;
    uri->segment_count++;
    return true;
}

static bool add_query(struct qs_uri *uri, const char *raw, size_t n, struct qs_err *err)
{
    const char *equals = memchr(raw, '=', n);
    size_t name_len = equals ? (size_t)(equals - raw) : n;
    size_t i = uri->query_count;
    if (n == 0)
        return true;
    if (i == QS_URI_QUERIES)
        return qs_fail(err, QS_E_USAGE, "the query has more than %d values", QS_URI_QUERIES);
    if (!decode(raw, name_len, true, &uri->names[i], err))
        return false;
    if (!decode(equals ? equals + 1 : "", equals ? n - name_len - 1 : 0, true, &uri->values[i], err)) {
        free(uri->names[i]);
        return false;
    }
    uri->query_count++;
    for (size_t k = 0; k < i; k++) {
        if (strcmp(uri->names[k], uri->names[i]) == 0)
            return qs_fail(err, QS_E_USAGE, "the query gives `%.64s` twice", uri->names[i]);
    }
    return true;
}

typedef bool add_fn(struct qs_uri *uri, const char *raw, size_t n, struct qs_err *err);

static bool split(struct qs_uri *uri, const char *text, const char *end, char at, add_fn *add,
                  struct qs_err *err)
{
    for (;;) {
        const char *cut = memchr(text, at, (size_t)(end - text));
        if (!add(uri, text, (size_t)((cut ? cut : end) - text), err))
            return false;
        if (!cut)
            return true;
        text = cut + 1;
    }
}

bool qs_uri_parse(const char *raw, struct qs_uri *ret, struct qs_err *err)
{
    *ret = (struct qs_uri){0};
    size_t n = strnlen(raw, QS_URI_BYTES + 1);
    if (n > QS_URI_BYTES)
        return qs_fail(err, QS_E_LIMIT, "the address is longer than %d bytes", QS_URI_BYTES);
    if (raw[0] != '/')
        return qs_fail(err, QS_E_USAGE, "the address does not begin with a slash");
    const char *query = memchr(raw, '?', n);
    if (split(ret, raw + 1, query ? query : raw + n, '/', add_segment, err) &&
        (!query || split(ret, query + 1, raw + n, '&', add_query, err)))
        return true;
    qs_uri_done(ret);
    return false;
}

void qs_uri_done(struct qs_uri *uri)
{
    for (size_t i = 0; i < uri->segment_count; i++)
        free(uri->segments[i]);
    for (size_t i = 0; i < uri->query_count; i++) {
        free(uri->names[i]);
        free(uri->values[i]);
    }
    *uri = (struct qs_uri){0};
}

const char *qs_uri_get(const struct qs_uri *uri, const char *name)
{
    for (size_t i = 0; i < uri->query_count; i++) {
        if (strcmp(uri->names[i], name) == 0)
            return uri->values[i];
    }
    return NULL;
}

bool qs_number_parse(const char *text, long long lo, long long hi, long long *ret)
{
    if (*text == 0 || text[strspn(text, "0123456789")] != 0)
        return false;
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno != 0 || v < lo || v > hi)
        return false;
    *ret = v;
    return true;
}

bool qs_uri_int(const struct qs_uri *uri, const char *name, long long lo, long long hi, long long fallback,
                long long *ret, struct qs_err *err)
{
    const char *text = qs_uri_get(uri, name);
    *ret = fallback;
    if (!text || qs_number_parse(text, lo, hi, ret))
        return true;
    return qs_fail(err, QS_E_USAGE, "`%s=%.40s`: expected a whole number from %lld to %lld", name, text, lo,
                   hi);
}

bool qs_uri_number(const struct qs_uri *uri, const char *name, double lo, double hi, double *ret,
                   struct qs_err *err)
{
    const char *text = qs_uri_get(uri, name);
    char *end = NULL;
    if (!text)
        return true;
    errno = 0;
    double v = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !(v >= lo && v <= hi))
        return qs_fail(err, QS_E_USAGE, "`%s` is a number from %g to %g, not `%.40s`", name, lo, hi, text);
    *ret = v;
    return true;
}
