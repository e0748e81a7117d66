#include "ctl/when.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *unit;
    int64_t seconds;
} units[] = {{"min", 60}, {"h", 3600}, {"d", 86400}, {"w", 604800}};

static bool parse_ago(const char *text, int64_t *ret_seconds)
{
    char *end = NULL;
    long long n = strtoll(text, &end, 10);
    if (end == text || n < 0 || n > 100000 || text[0] < '0' || text[0] > '9')
        return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(end, units[i].unit) == 0) {
            *ret_seconds = n * units[i].seconds;
            return true;
        }
    return false;
}

static bool parse_date(const char *text, bool end_of_day, int64_t *ret_seconds)
{
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S",
                                        "%Y-%m-%dT%H:%M:%SZ"};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);
        if (end == NULL || *end != '\0' || tm.tm_year < 70)
            continue;
        *ret_seconds = (int64_t)timegm(&tm) + (i == 0 && end_of_day ? 86399 : 0);
        return true;
    }
    return false;
}

bool qs_when_parse(const char *text, int64_t now_wall_ns, bool end_of_day, int64_t *ret_wall_ns,
                   struct qs_err *err)
{
    int64_t seconds = 0;
    if (parse_ago(text, &seconds)) {
        bool before_all = seconds > now_wall_ns / 1000000000;
        *ret_wall_ns = before_all ? 0 : now_wall_ns - seconds * INT64_C(1000000000);
        return true;
    }
    if (parse_date(text, end_of_day, &seconds) && seconds <= INT64_MAX / 1000000000 - 1) {
        *ret_wall_ns = seconds * INT64_C(1000000000) + (end_of_day ? 999999999 : 0);
        return true;
    }
    return qs_fail(err, QS_E_USAGE,
                   "`%.40s` is not a point in time: write 2026-11-01, 2026-11-01T05:30, 12h, 30d or 2w",
                   text);
}
