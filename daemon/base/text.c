#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NEAREST_BYTES = 64, NEAREST_DISTANCE = 3 };

void qs_hex(const uint8_t *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * n] = '\0';
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool qs_unhex(const char *s, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int high = digit_of(s[2 * i]);
        int low = high < 0 ? -1 : digit_of(s[2 * i + 1]);
        if (low < 0)
            return false;
        out[i] = (uint8_t)(high * 16 + low);
    }
    return s[2 * n] == '\0';
}

/* How many bytes the lead byte asks for, and the range that its second byte must be in (Unicode 15, table
 * 3-7); 0 where no character starts so. */
static size_t lead(unsigned char c, unsigned char *low, unsigned char *high)
{
    *low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    *high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c <= 0xdf)
        return 2;
    if (c >= 0xe0 && c <= 0xef)
        return 3;
    return c >= 0xf0 && c <= 0xf4 ? 4 : 0;
}

size_t qs_utf8_next(const char *s, size_t n, bool *valid)
{
    const unsigned char *u = (const unsigned char *)s;
    unsigned char low, high;
    size_t need = lead(u[0], &low, &high);
    *valid = false;
    if (need == 0)
        return 1;
    for (size_t i = 1; i < need; i++) {
        if (i >= n || u[i] < low || u[i] > high)
            return i;
        low = 0x80;
        high = 0xbf;
    }
    *valid = true;
    return need;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: insert, delete, replace and swap of neighbours cost one; no part is edited twice.
 */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[3][NEAREST_BYTES + 1];
    for (size_t j = 0; j <= nb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = row[i % 3];
        const size_t *up = row[(i + 2) % 3];
        const size_t *up2 = row[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = least(least(up[j], now[j - 1]) + 1, up[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], up2[j - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

const char *qs_nearest(const char *word, const char *const *candidates, size_t count)
{
    size_t len = strnlen(word, NEAREST_BYTES + 1);
    if (len > NEAREST_BYTES)
        return NULL;
    const char *best = NULL;
    size_t bound = least(1 + len / 4, NEAREST_DISTANCE) + 1;
    for (size_t i = 0; i < count; i++) {
        size_t other = strnlen(candidates[i], NEAREST_BYTES + 1);
        if (other > NEAREST_BYTES)
            continue;
        size_t d = distance(word, len, candidates[i], other);
        if (d < bound && (d < len || d == 0)) {
            best = candidates[i];
            bound = d;
        }
    }
    return best;
}

/* Whether a well-formed character of n bytes makes a terminal do something instead of showing it: C0, DEL,
 * C1, line and paragraph separators, and the marks that turn the direction of the text around it. */
static bool acts_on_terminal(const unsigned char *u, size_t n)
{
    if (n == 1)
        return u[0] < 0x20 || u[0] == 0x7f;
    if (n == 2)
        return (u[0] == 0xc2 && u[1] < 0xa0) || (u[0] == 0xd8 && u[1] == 0x9c);
    if (n != 3 || u[0] != 0xe2)
        return false;
    if (u[1] == 0x80)
        return u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae);
    return u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9;
}

void qs_text_escape(struct qs_buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n;) {
        bool valid;
        size_t step = qs_utf8_next(s + i, n - i, &valid);
        const unsigned char *u = (const unsigned char *)s + i;
        if (valid && !acts_on_terminal(u, step)) {
            qs_buf_add(out, s + i, step);
        } else {
            for (size_t k = 0; k < step; k++)
                qs_buf_fmt(out, "\\x%02x", u[k]);
        }
        i += step;
    }
}

void qs_text_first_line(struct qs_buf *out, const char *s, size_t n)
{
    size_t from = 0;
    while (from < n && (unsigned char)s[from] <= ' ')
        from++;
    size_t to = from;
    while (to < n && s[to] != '\n' && s[to] != '\r')
        to++;
    qs_text_escape(out, s + from, to - from);
}

bool qs_text_is_shown(const char *s)
{
    bool shown = true;
    for (size_t n = strlen(s); shown && n > 0;) {
        size_t step = qs_utf8_next(s, n, &shown);
        shown = shown && !acts_on_terminal((const unsigned char *)s, step);
        s += step;
        n -= step;
    }
    return shown;
}

/* From a minute on: the two largest units, whole. */
static void long_duration(struct qs_buf *out, double ns)
{
    const double most_s = 9e15; /* far beyond any life, and exact in a double */
    double seconds = ns / 1e9 + 0.5;
    uint64_t s = (uint64_t)(seconds < most_s ? seconds : most_s);
    if (s < 3600)
        qs_buf_fmt(out, "%u min %u s", (unsigned)(s / 60), (unsigned)(s % 60));
    else if (s < 86400)
        qs_buf_fmt(out, "%u h %u min", (unsigned)(s / 3600), (unsigned)(s % 3600 / 60));
    else
        qs_buf_fmt(out, "%llu d %u h", (unsigned long long)(s / 86400), (unsigned)(s % 86400 / 3600));
}

void qs_text_duration(struct qs_buf *out, double ns)
{
    static const struct {
        const char *name;
        double ns;
        double below; /* what rounds to this many or more of it is said in the next unit */
    } units[] = {{"ns", 1, 999.5}, {"µs", 1e3, 999.5}, {"ms", 1e6, 999.5}, {"s", 1e9, 59.95}};
    if (ns != ns) {
        qs_buf_str(out, "?");
        return;
    }
    if (ns < 0) {
        qs_buf_char(out, '-');
        ns = -ns;
    }
    if (ns == 0) {
        qs_buf_str(out, "0 ns");
        return;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double v = ns / units[i].ns;
        if (v < units[i].below) {
            int decimals = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
            qs_buf_fmt(out, "%.*f %s", decimals, v, units[i].name);
            return;
        }
    }
    long_duration(out, ns);
}

bool qs_text_is_word(const char *s, const char *signs)
{
    const char *p = s;
    for (; *p; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        if (!plain && !strchr(signs, *p))
            return false;
    }
    return p > s;
}

void qs_text_time(int64_t wall_ns, char out[32])
{
    int64_t ms = wall_ns / 1000000 - (wall_ns % 1000000 < 0);
    int64_t s = ms / 1000 - (ms % 1000 < 0);
    time_t t = (time_t)s;
    struct tm tm;
    gmtime_r(&t, &tm); /* cannot fail: 64 bits of nanoseconds span the years 1677 to 2262 */
    size_t n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(out + n, 32 - n, ".%03uZ", (unsigned)(ms - s * 1000));
}

void qs_text_second(int64_t wall_ns, char out[32])
{
    qs_text_time(wall_ns, out);
    snprintf(strchr(out, '.'), 2, "Z");
}
