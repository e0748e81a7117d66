#include "config/document/scalar.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum { DIGITS_MAX = 18 };

/* mantissa * 10^exponent, exact. */
struct decimal {
    bool negative;
    int64_t mantissa;
    int exponent;
};

struct qs_shown qs_show(const char *text)
{
    struct qs_shown s;
    size_t n = strlen(text);
    if (n <= 60) {
        memcpy(s.text, text, n + 1);
        return s;
    }
    n = 57;
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    memcpy(s.text, text, n);
    memcpy(s.text + n, "…", sizeof("…"));
    return s;
}

static bool __attribute__((format(printf, 3, 4)))
refuse(struct qs_scalar_why *why, const char *suggestion, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(why->text, sizeof(why->text), fmt, ap);
    va_end(ap);
    snprintf(why->suggestion, sizeof(why->suggestion), "%s", suggestion);
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool push_digit(struct decimal *d, char c, int *digits)
{
    if (d->mantissa != 0 || c != '0')
        (*digits)++;
    if (*digits > DIGITS_MAX)
        return false;
    d->mantissa = d->mantissa * 10 + (c - '0');
    return true;
}

/* The exponent of "1e3"; an `e` that no digit follows belongs to what comes after the number. */
static const char *read_exponent(const char *s, struct decimal *d)
{
    if (*s != 'e' && *s != 'E')
        return s;
    const char *p = s + 1;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!is_digit(*p))
        return s;
    int e = 0;
    for (; is_digit(*p); p++)
        if (e < 1000)
            e = e * 10 + (*p - '0');
    d->exponent += negative ? -e : e;
    return p;
}

/* Reads the number at the start of s; returns what follows it, or NULL where there is none or it has too many
 * digits. */
static const char *read_decimal(const char *s, struct decimal *d)
{
    *d = (struct decimal){0};
    int digits = 0;
    d->negative = *s == '-';
    if (*s == '-' || *s == '+')
        s++;
    const char *from = s;
    for (; is_digit(*s); s++)
        if (!push_digit(d, *s, &digits))
            return NULL;
    if (*s == '.' && is_digit(s[1]))
        for (s++; is_digit(*s); s++) {
            if (!push_digit(d, *s, &digits))
                return NULL;
            d->exponent--;
        }
    if (s == from)
        return NULL;
    s = read_exponent(s, d);
    while (d->mantissa != 0 && d->mantissa % 10 == 0) {
        d->mantissa /= 10;
        d->exponent++;
    }
    if (d->mantissa == 0)
        d->exponent = 0;
    return s;
}

enum scaling { SCALED, TOO_FINE, TOO_LARGE };

/* *ret = d * factor where that is a whole number. */
static enum scaling scale(struct decimal d, int64_t factor, int64_t *ret)
{
    for (; d.exponent < 0 && factor % 10 == 0; d.exponent++)
        factor /= 10;
    int64_t v = 0;
    if (__builtin_mul_overflow(d.mantissa, factor, &v))
        return TOO_LARGE;
    for (; d.exponent > 0; d.exponent--)
        if (__builtin_mul_overflow(v, (int64_t)10, &v)) /* soon: v is not 0, as 0 has no exponent */
            return TOO_LARGE;
    for (; d.exponent < 0; d.exponent++) {
        if (v % 10 != 0)
            return TOO_FINE;
        v /= 10;
    }
    *ret = d.negative ? -v : v;
    return SCALED;
}

bool qs_scalar_scaled(const char *text, int digits, int64_t *ret, struct qs_scalar_why *why)
{
    struct decimal d;
    const char *rest = read_decimal(text, &d);
    int64_t factor = 1;
    for (int i = 0; i < digits; i++)
        factor *= 10;
    if (rest == NULL || *rest != '\0')
        return refuse(why, "", "`%s` is not a %s", qs_show(text).text,
                      digits == 0 ? "whole number" : "number");
    enum scaling how = scale(d, factor, ret);
    if (how == TOO_FINE && digits == 0)
        return refuse(why, "", "`%s` is not a whole number", qs_show(text).text);
    if (how == TOO_FINE)
        return refuse(why, "", "`%s` has more than %d decimals", qs_show(text).text, digits);
    return how == SCALED || refuse(why, "", "`%s` is too large", qs_show(text).text);
}

bool qs_scalar_int(const char *text, int64_t *ret, struct qs_scalar_why *why)
{
    return qs_scalar_scaled(text, 0, ret, why);
}

bool qs_scalar_uint(const char *text, uint64_t *ret, struct qs_scalar_why *why)
{
    uint64_t v = 0;
    size_t i = 0;
    for (; is_digit(text[i]); i++)
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
            return refuse(why, "", "`%s` is more than 18446744073709551615", qs_show(text).text);
    if (i == 0 || text[i] != '\0')
        return refuse(why, "", "`%s` is not a whole number from 0", qs_show(text).text);
    *ret = v;
    return true;
}

/* Up to 2^53 and 10^22 both parts are exact doubles, and one division rounds correctly. */
bool qs_scalar_ratio(const char *text, double *ret, struct qs_scalar_why *why)
{
    int64_t billionths = 0;
    struct decimal d;
    const char *rest = read_decimal(text, &d);
    if (rest == NULL || (strcmp(rest, "") != 0 && strcmp(rest, "%") != 0 && strcmp(rest, " %") != 0))
        return refuse(why, "write a share as 2% or 0.02", "`%s` is not a share", qs_show(text).text);
    bool percent = *rest != '\0';
    if (scale(d, percent ? 10000000 : 1000000000, &billionths) != SCALED ||
        billionths > INT64_C(9007199254740992) || billionths < -INT64_C(9007199254740992))
        return refuse(why, "write a share as 2% or 0.02", "`%s` is too large or too fine for a share",
                      qs_show(text).text);
    if (!percent && billionths >= 1000000000) {
        char advice[120];
        double v = (double)billionths / 1e9;
        snprintf(advice, sizeof(advice), "write %g%% or %g; the whole is 100%%", v, v / 100);
        return refuse(why, advice, "`%s` has no unit, and a share below 1 needs none", qs_show(text).text);
    }
    *ret = (double)billionths / 1e9;
    return true;
}

bool qs_scalar_ppm(const char *text, int64_t *ret, struct qs_scalar_why *why)
{
    double ratio = 0;
    if (!qs_scalar_ratio(text, &ratio, why))
        return false;
    double ppm = ratio * 1e6;
    *ret = (int64_t)(ppm < 0 ? ppm - 0.5 : ppm + 0.5);
    return true;
}

struct unit {
    const char *name;
    int64_t factor;
};

struct quantity {
    const char *what;     /* "time" */
    const char *base;     /* what the result counts */
    const char *names;    /* the units, for messages */
    const char *forms[3]; /* units to suggest after a bare number */
    const struct unit *units;
};

static const struct unit durations[] = {{"ns", 1},
                                        {"us", 1000},
                                        {"µs", 1000},
                                        {"ms", 1000000},
                                        {"s", 1000000000},
                                        {"min", INT64_C(60000000000)},
                                        {"h", INT64_C(3600000000000)},
                                        {"d", INT64_C(86400000000000)},
                                        {NULL, 0}};
static const struct unit sizes[] = {{"B", 1},         {"kB", 1000},       {"KB", 1000},
                                    {"MB", 1000000},  {"GB", 1000000000}, {"KiB", 1 << 10},
                                    {"MiB", 1 << 20}, {"GiB", 1 << 30},   {NULL, 0}};
static const struct unit temperatures[] = {{"C", 1000}, {"°C", 1000}, {NULL, 0}};
static const struct unit frequencies[] = {{"kHz", 1}, {"MHz", 1000}, {"GHz", 1000000}, {NULL, 0}};

static const struct quantity *quantity_of(enum qs_quantity q)
{
    static const struct quantity table[] = {
        [QS_QTY_DURATION] = {"time", "nanosecond", "ns, us, ms, s, min, h, d", {"s", "ms", "min"}, durations},
        [QS_QTY_BYTES] = {"size", "byte", "B, kB, MB, GB, KiB, MiB, GiB", {"KiB", "MiB", "B"}, sizes},
        [QS_QTY_TEMPERATURE] =
            {"temperature", "thousandth of a degree", "C", {"C", NULL, NULL}, temperatures},
        [QS_QTY_FREQUENCY] = {"frequency", "kHz", "kHz, MHz, GHz", {"MHz", "GHz", "kHz"}, frequencies},
    };
    return &table[q];
}

static bool no_unit(const struct quantity *q, const char *text, struct qs_scalar_why *why)
{
    refuse(why, "", "`%s` has no unit", qs_show(text).text);
    struct qs_shown n = qs_show(text);
    if (q->forms[1] == NULL)
        snprintf(why->suggestion, sizeof(why->suggestion), "write %.20s%s", n.text, q->forms[0]);
    else
        snprintf(why->suggestion, sizeof(why->suggestion), "write %.20s%s, %.20s%s or %.20s%s", n.text,
                 q->forms[0], n.text, q->forms[1], n.text, q->forms[2]);
    return false;
}

static bool unknown_unit(const struct quantity *q, const char *text, const char *unit, size_t n,
                         struct qs_scalar_why *why)
{
    char word[24];
    snprintf(word, sizeof(word), "%.*s", (int)(n < 20 ? n : 20), unit);
    if (strcmp(q->what, "time") == 0 && strcmp(word, "m") == 0) {
        refuse(why, "", "`%s`: `m` could be minutes or milliseconds", qs_show(text).text);
        int digits = (int)(unit - text < 20 ? unit - text : 20);
        snprintf(why->suggestion, sizeof(why->suggestion), "write %.*smin or %.*sms", digits, text, digits,
                 text);
        return false;
    }
    refuse(why, "", "`%s`: `%s` is not a unit of %s", qs_show(text).text, word, q->what);
    snprintf(why->suggestion, sizeof(why->suggestion), "the units are %s", q->names);
    return false;
}

static const struct unit *find_unit(const struct unit *units, const char *s, size_t n)
{
    for (; units->name != NULL; units++)
        if (strlen(units->name) == n && memcmp(units->name, s, n) == 0)
            return units;
    return NULL;
}

/* "1:30" would be 90 in YAML 1.1; a person may mean an hour and a half. */
static bool has_clock_form(const char *text)
{
    size_t i = 0;
    while (is_digit(text[i]))
        i++;
    return i > 0 && text[i] == ':' && is_digit(text[i + 1]);
}

/* One number and its unit at *at; moves on to what follows. */
static bool read_part(const struct quantity *q, const char *text, const char **at, int64_t *ret,
                      struct qs_scalar_why *why)
{
    struct decimal d;
    const char *rest = read_decimal(*at, &d);
    if (rest == NULL)
        return refuse(why, "", "`%s` is not a %s", qs_show(text).text, q->what);
    if (*rest == ' ')
        rest++;
    size_t n = strcspn(rest, "0123456789. ");
    if (*rest == '\0' && d.mantissa == 0 && rest[-1] != ' ' && *at == text) { /* 0 of anything is the same */
        *ret = 0;
        *at = rest;
        return true;
    }
    if (*rest == '\0')
        return no_unit(q, text, why);
    const struct unit *unit = find_unit(q->units, rest, n);
    if (unit == NULL)
        return unknown_unit(q, text, rest, n, why);
    enum scaling how = scale(d, unit->factor, ret);
    *at = rest + n;
    if (how == TOO_FINE)
        return refuse(why, "", "`%s` is finer than one %s", qs_show(text).text, q->base);
    return how == SCALED || refuse(why, "", "`%s` is too large", qs_show(text).text);
}

bool qs_scalar_quantity(const char *text, enum qs_quantity quantity, int64_t *ret, struct qs_scalar_why *why)
{
    const struct quantity *q = quantity_of(quantity);
    if (quantity == QS_QTY_DURATION && has_clock_form(text))
        return refuse(why, "write 1min30s, or 1h30min",
                      "`%s` could be minutes and seconds or hours and minutes", qs_show(text).text);
    const char *at = text;
    int64_t sum = 0;
    do {
        int64_t part = 0;
        while (*at == ' ' && at != text)
            at++;
        if (!read_part(q, text, &at, &part, why))
            return false;
        if (__builtin_add_overflow(sum, part, &sum))
            return refuse(why, "", "`%s` is too large", qs_show(text).text);
    } while (*at != '\0' && quantity == QS_QTY_DURATION);
    if (*at != '\0')
        return refuse(why, "", "`%s` is not a %s", qs_show(text).text, q->what);
    *ret = sum;
    return true;
}

bool qs_scalar_bool(const char *text, bool *ret, struct qs_scalar_why *why)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcasecmp(text, words[i]) != 0)
            continue;
        *ret = i % 2 == 1;
        return true;
    }
    return refuse(why, "write true or false (yes, no, on, off are read too)",
                  "`%s` is neither true nor false", qs_show(text).text);
}
