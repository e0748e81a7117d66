#include "report/sides/selector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { FILTERS_MOST = 64, DATE_CHARS = 10 };

/* When a day begins on this machine, in seconds; -1 where there is no such day. */
static int64_t midnight_s(int year, int month, int day)
{
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_isdst = -1};
    time_t at = mktime(&tm);
    return tm.tm_year == year - 1900 && tm.tm_mon == month - 1 && tm.tm_mday == day ? (int64_t)at : -1;
}

static int64_t next_midnight_s(int year, int month, int day)
{
    struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day + 1, .tm_isdst = -1};
    return (int64_t)mktime(&tm);
}

void qs_night_name(int64_t wall_ns, char text[QS_NIGHT_CHARS])
{
    struct tm tm;
    time_t at = (time_t)(wall_ns / 1000000000);
    if (!localtime_r(&at, &tm) || strftime(text, QS_NIGHT_CHARS, "%Y-%m-%d", &tm) == 0)
        snprintf(text, QS_NIGHT_CHARS, "?");
}

static bool take_night(const char *text, struct qs_run_filter *filter)
{
    int year = 0, month = 0, day = 0, n = 0;
    if (strspn(text, "0123456789-") != DATE_CHARS ||
        sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &n) != 3 || n != DATE_CHARS || year < 1970)
        return false;
    if (text[n] != '\0' && (text[n] != ':' || text[n + 1] == '\0'))
        return false;
    int64_t from_s = midnight_s(year, month, day);
    filter->from_wall_ns = from_s * 1000000000;
    filter->until_wall_ns = next_midnight_s(year, month, day) * 1000000000;
    filter->arm = text[n] == ':' ? qs_strdup(text + n + 1) : NULL;
    return from_s >= 0;
}

static bool take_job(const char *text, struct qs_run_filter *filter)
{
    enum { DIGITS_MOST = 18 };
    size_t n = strspn(text, "0123456789");
    if (n < 1 || n > DIGITS_MOST || (text[n] != '\0' && (text[n] != ':' || text[n + 1] == '\0')))
        return false;
    filter->job = strtoll(text, NULL, 10);
    filter->arm = text[n] == ':' ? qs_strdup(text + n + 1) : NULL;
    return filter->job > 0;
}

/* A label may have two dots in it: which it is, the store knows. */
static bool take_build(const char *text, struct qs_run_filter *filter)
{
    const char *dots = strstr(text, "..");
    filter->build = qs_strdup(text);
    if (dots && dots > text && dots[2] != '\0') {
        filter->build_from = qs_strndup(text, (size_t)(dots - text));
        filter->build_to = qs_strdup(dots + 2);
    }
    return *text != '\0';
}

static bool take_item(const char *text, struct qs_run_filter *filter)
{
    static const char build[] = "build:", night[] = "night:";
    if (strncmp(text, build, sizeof build - 1) == 0)
        return take_build(text + sizeof build - 1, filter);
    if (strncmp(text, night, sizeof night - 1) == 0)
        return take_night(text + sizeof night - 1, filter);
    return take_job(text, filter);
}

bool qs_run_selector_parse(const char *text, struct qs_run_selector *ret, struct qs_err *err)
{
    *ret = (struct qs_run_selector){0};
    for (const char *at = text;; at++) {
        size_t n = strcspn(at, ",");
        char *item = qs_strndup(at, n);
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        ret->at[ret->count] = (struct qs_run_filter){0};
        bool ok = ret->count < FILTERS_MOST && take_item(item, &ret->at[ret->count++]);
        if (!ok) {
            qs_fail(err, QS_E_USAGE,
                    "`%.60s` does not name runs: write a job `12` or its arm `12:NAME`, `build:LABEL`, "
                    "`build:FROM..TO`, or `night:2026-11-20`, at most %d of them, separated by commas",
                    item, FILTERS_MOST);
            qs_run_selector_done(ret);
        }
        free(item);
        at += n;
        if (!ok || *at == '\0')
            return ok;
    }
}

enum qs_pool qs_run_selector_pool(const struct qs_run_selector *s)
{
    bool named = true, jobs = true;
    for (size_t i = 0; i < s->count; i++) {
        named = named && (s->at[i].arm || s->at[i].build);
        jobs = jobs && (s->at[i].arm || s->at[i].build || s->at[i].job > 0);
    }
    return named ? QS_POOL_ALL : jobs ? QS_POOL_JOBS : QS_POOL_NAMES;
}

void qs_run_selector_done(struct qs_run_selector *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free((char *)s->at[i].arm);
        free((char *)s->at[i].build);
        free((char *)s->at[i].build_from);
        free((char *)s->at[i].build_to);
    }
    free(s->at);
    *s = (struct qs_run_selector){0};
}
