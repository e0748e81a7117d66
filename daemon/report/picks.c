#include "report/picks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { PICKS_MOST = 64, DAY_S = 86400, NOON_S = 43200, DATE_CHARS = 10 };

/* Days from 1970-01-01 to a date of the Gregorian calendar: years are counted from March, so that a leap day
 * is the last of its year. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t m = month > 2 ? month - 3 : month + 9;
    const int64_t before_1970 = 719468;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - before_1970;
}

static int month_days(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

static bool take_night(const char *text, struct qs_arm_pick *pick)
{
    int year = 0, month = 0, day = 0, n = 0;
    if (strspn(text, "0123456789-") != DATE_CHARS ||
        sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &n) != 3 || n != DATE_CHARS || year < 1970 ||
        month < 1 || month > 12 || day < 1 || day > month_days(year, month))
        return false;
    if (text[n] != '\0' && (text[n] != ':' || text[n + 1] == '\0'))
        return false;
    int64_t noon_s = days_of(year, month, day) * DAY_S + NOON_S;
    pick->from_wall_ns = noon_s * 1000000000;
    pick->until_wall_ns = (noon_s + DAY_S) * 1000000000;
    pick->arm = text[n] == ':' ? qs_strdup(text + n + 1) : NULL;
    return true;
}

static bool take_job(const char *text, struct qs_arm_pick *pick)
{
    enum { DIGITS_MOST = 18 };
    size_t n = strspn(text, "0123456789");
    if (n < 1 || n > DIGITS_MOST || (text[n] != '\0' && (text[n] != ':' || text[n + 1] == '\0')))
        return false;
    pick->job = strtoll(text, NULL, 10);
    pick->arm = text[n] == ':' ? qs_strdup(text + n + 1) : NULL;
    return pick->job > 0;
}

static bool take_item(const char *text, struct qs_arm_pick *pick)
{
    static const char build[] = "build:", night[] = "night:";
    if (strncmp(text, build, sizeof build - 1) == 0) {
        pick->build = qs_strdup(text + sizeof build - 1);
        return *pick->build != '\0';
    }
    if (strncmp(text, night, sizeof night - 1) == 0)
        return take_night(text + sizeof night - 1, pick);
    return take_job(text, pick);
}

bool qs_picks_parse(const char *text, struct qs_picks *ret, struct qs_err *err)
{
    *ret = (struct qs_picks){0};
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        char *item = qs_strndup(at, n);
        ret->at = qs_realloc(ret->at, (ret->count + 1) * sizeof *ret->at);
        ret->at[ret->count] = (struct qs_arm_pick){0};
        bool ok = ret->count < PICKS_MOST && take_item(item, &ret->at[ret->count++]);
        if (!ok) {
            qs_fail(err, QS_E_USAGE,
                    "`%.60s` says no runs: a job `12` or its arm `12:NAME`, `build:LABEL`, or "
                    "`night:2026-11-20`, at most %d of them with commas between",
                    item, PICKS_MOST);
            qs_picks_done(ret);
        }
        free(item);
        at += n;
        if (!ok || *at == '\0')
            return ok;
    }
}

void qs_picks_done(struct qs_picks *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free((char *)s->at[i].arm);
        free((char *)s->at[i].build);
    }
    free(s->at);
    *s = (struct qs_picks){0};
}
