#include "ctl/compared.h"

#include <string.h>

#include "ctl/client/api.h"
#include "ctl/computed.h"
#include "ctl/export.h"
#include "ctl/findings.h"
#include "ctl/query.h"
#include "ctl/result.h"

static void lay_out(struct qs_ctl *ctl, const json_t *doc, struct qs_buf *out)
{
    struct qs_layout layout = qs_result_layout(ctl);
    const char *kind = qs_json_get_text(doc, "kind", "");
    if (qs_args_has(ctl->args, "markdown"))
        qs_buf_str(out, qs_json_get_text(doc, "tables", ""));
    else if (qs_args_has(ctl->args, "junit"))
        qs_export_junit(doc, out);
    else if (strcmp(kind, "sides") == 0)
        qs_layout_sides(&layout, doc, out);
    else
        qs_layout_analysis(&layout, doc, out);
}

const char *const qs_fail_on_words[] = {"never", "regression", "probable", "inconclusive", NULL};

int qs_compared_code(const struct qs_ctl *ctl, const json_t *doc)
{
    struct qs_findings findings;
    const char *word = qs_args_text(ctl->args, "fail-on", "regression");
    enum qs_fail_on on = QS_FAIL_NEVER;
    while (qs_fail_on_words[on] != NULL && strcmp(qs_fail_on_words[on], word) != 0)
        on++;
    qs_findings_of(doc, &findings);
    int code = qs_findings_fail(&findings, on) ? QS_EXIT_REGRESSION : QS_EXIT_OK;
    qs_findings_done(&findings);
    return code;
}

/* Two sides that were refused, or have nothing in common, are no good news whatever --fail-on says. */
static int code_of(const struct qs_ctl *ctl, const json_t *doc)
{
    bool sides = strcmp(qs_json_get_text(doc, "kind", ""), "sides") == 0;
    return sides && json_array_size(json_object_get(doc, "results")) == 0 ? QS_EXIT_PRECONDITION
                                                                          : qs_compared_code(ctl, doc);
}

int qs_compared_show(struct qs_ctl *ctl, const struct qs_buf *text)
{
    int code = QS_EXIT_OK;
    QS_BUF(out);
    json_auto_t *doc = qs_api_parse(ctl, "what was compared", text, &code);
    if (doc == NULL)
        return code;
    if (!ctl->json)
        lay_out(ctl, doc, &out);
    qs_ctl_print(ctl->out, ctl->json ? text : &out);
    return code_of(ctl, doc);
}

bool qs_compared_is_side(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    return strncmp(word, "build:", 6) == 0 || strncmp(word, "night:", 6) == 0 ||
           (digits > 0 && (word[digits] == '\0' || word[digits] == ':' || word[digits] == ','));
}

static void add_ratio(struct qs_buf *path, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.6f", value);
    qs_query_add(path, name, text);
}

int qs_compared_sides(struct qs_ctl *ctl, const char *base, const char *candidate)
{
    int code = QS_EXIT_OK;
    QS_BUF(path);
    QS_BUF(text);
    struct qs_http *http = qs_api_reach_reading(ctl, &code);
    if (http == NULL)
        return code;
    qs_buf_str(&path, "/api/v1/compare");
    qs_query_add(&path, "base", base);
    qs_query_add(&path, "candidate", candidate);
    qs_query_list(&path, ctl->args, "metric", "metric");
    qs_query_list(&path, ctl->args, "allow-diff", "allow");
    qs_query_list(&path, ctl->args, "rule", "rule");
    if (qs_args_has(ctl->args, "markdown"))
        qs_query_add(&path, "tables", "markdown");
    (void)qs_query_views(&path, ctl->args);
    if (qs_args_has(ctl->args, "margin"))
        add_ratio(&path, "margin_ratio", (double)qs_args_number(ctl->args, "margin", 0) / 1e6);
    if (qs_args_has(ctl->args, "level"))
        add_ratio(&path, "alpha", 1 - (double)qs_args_number(ctl->args, "level", 0) / 1e6);
    const struct qs_computation what = {.path = path.data};
    if (qs_computed_text(ctl, http, &what, &text, &code))
        code = qs_compared_show(ctl, &text);
    qs_http_free(http);
    return code;
}
