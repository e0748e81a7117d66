#include "ctl/query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl/client/http.h"

void qs_query_add(struct qs_buf *path, const char *name, const char *value)
{
    if (value == NULL)
        return;
    qs_buf_fmt(path, "%c%s=", strchr(path->data, '?') == NULL ? '?' : '&', name);
    qs_http_escape(path, value);
}

bool qs_query_times(const struct qs_args *args, struct qs_buf *query, struct qs_err *err)
{
    static const char *const options[] = {"since", "until"};
    int64_t now_ns = (int64_t)time(NULL) * INT64_C(1000000000), wall_ns = 0;
    for (size_t i = 0; i < 2; i++) {
        const char *text = qs_args_text(args, options[i], NULL);
        if (text == NULL)
            continue;
        if (!qs_when_parse(text, now_ns, i == 1, &wall_ns, err))
            return false;
        qs_buf_fmt(query, "&%s=%" PRId64, options[i], wall_ns);
    }
    return true;
}

/* All values of an option that may be given again, with commas between. */
void qs_query_list(struct qs_buf *path, const struct qs_args *args, const char *option, const char *name)
{
    QS_BUF(list);
    for (size_t i = 0; i < args->use_count; i++) {
        const struct qs_opt_use *use = &args->use[i];
        if (strcmp(use->opt->name, option) == 0)
            qs_buf_fmt(&list, "%s%s", list.len > 0 ? "," : "", use->value[0] != NULL ? use->value[0] : "all");
    }
    if (list.len > 0)
        qs_query_add(path, name, list.data);
}

bool qs_query_view_list(struct qs_buf *out, const struct qs_args *args)
{
    static const char *const views[] = {"discard-first", "last", "fenced"};
    size_t before = out->len;
    for (size_t i = 0; i < args->use_count; i++) {
        const struct qs_opt_use *use = &args->use[i];
        for (size_t k = 0; k < sizeof(views) / sizeof(views[0]); k++) {
            if (strcmp(use->opt->name, views[k]) != 0)
                continue;
            qs_buf_fmt(out, "%s%s", out->len > before ? "," : "", views[k]);
            if (use->opt->values != NULL)
                qs_buf_fmt(out, ":%" PRId64, use->number);
        }
    }
    return out->len > before;
}

bool qs_query_views(struct qs_buf *path, const struct qs_args *args)
{
    QS_BUF(list);
    bool any = qs_query_view_list(&list, args);
    if (any && path != NULL)
        qs_query_add(path, "view", list.data);
    return any;
}

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
