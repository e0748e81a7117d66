#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/options/opt.h"

static const char *shown(const char *s, struct qs_buf *out)
{
    size_t n = strlen(s);
    qs_buf_init(out);
    qs_text_escape(out, s, n < 60 ? n : 60);
    return out->data;
}

__attribute__((format(printf, 3, 4))) static bool refuse(const char *s, char why[160], const char *fmt, ...)
{
    struct qs_buf safe;
    va_list ap;
    QS_BUF(text);
    qs_buf_fmt(&text, "`%s` ", shown(s, &safe));
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    snprintf(why, 160, "%.159s", text.data);
    qs_buf_done(&safe);
    return false;
}

bool qs_opt_read_whole(const char *s, int64_t min, int64_t max, int64_t *ret, char why[160])
{
    char *end = NULL;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (s[0] == '\0' || strspn(s, "-0123456789") != strlen(s) || *end != '\0' || end == s)
        return refuse(s, why, "is not a whole number");
    if (errno != 0 || v < min || v > max)
        return refuse(s, why, "is out of range: %" PRId64 " to %" PRId64, min, max);
    *ret = v;
    return true;
}

/* A decimal number at the start of s, without signs, hexadecimal, infinities; NULL where there is none. */
static const char *decimal(const char *s, double *ret)
{
    size_t digits = strspn(s, "0123456789.");
    char text[32];
    char *end = NULL;
    if (digits == 0 || digits >= sizeof(text))
        return NULL;
    memcpy(text, s, digits);
    text[digits] = '\0';
    *ret = strtod(text, &end);
    return *end == '\0' && end != text ? s + digits : NULL;
}

bool qs_opt_read_time(const char *s, int64_t min_ns, int64_t max_ns, int64_t *ret_ns, char why[160])
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
    double v = 0;
    const char *unit = decimal(s, &v);
    if (unit == NULL)
        return refuse(s, why, "is not a time");
    if (*unit == '\0')
        return refuse(s, why, "has no unit: %ss, %sms or %smin", s, s, s);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(unit, units[i].name) != 0)
            continue;
        double ns = v * units[i].ns;
        QS_BUF(lo);
        QS_BUF(hi);
        qs_text_duration(&lo, (double)min_ns);
        qs_text_duration(&hi, (double)max_ns);
        bool in = ns >= (double)min_ns && ns <= (double)max_ns;
        if (in)
            *ret_ns = (int64_t)(ns + 0.5);
        else
            refuse(s, why, "is out of range: %s to %s", lo.data, hi.data);
        return in;
    }
    return refuse(s, why, "does not have one of the units ns, us, ms, s, min, h");
}

bool qs_opt_read_ratio(const char *s, int64_t min_ppm, int64_t max_ppm, int64_t *ret_ppm, char why[160])
{
    double v = 0;
    const char *unit = decimal(s, &v);
    if (unit == NULL || (*unit != '\0' && strcmp(unit, "%") != 0))
        return refuse(s, why, "is not a share");
    if (*unit == '\0' && v >= 1)
        return refuse(s, why, "has no unit: %s%% or %g", s, v / 100);
    double ppm = v * (*unit == '%' ? 1e4 : 1e6);
    if (ppm < (double)min_ppm || ppm > (double)max_ppm)
        return refuse(s, why, "is out of range: %g%% to %g%%", (double)min_ppm / 1e4, (double)max_ppm / 1e4);
    *ret_ppm = (int64_t)(ppm + 0.5);
    return true;
}
