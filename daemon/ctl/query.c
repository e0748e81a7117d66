#include "ctl/query.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "ctl/client/http.h"
#include "ctl/when.h"

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
