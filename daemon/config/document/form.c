#include "config/document/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "config/document/doc.h"

const char *const qs_form_kinds[] = {"google-benchmark", "numbers", "pattern", "androidx", "am-start", NULL};
const char *const qs_form_units[] = {"ns", "us", "ms", "s", NULL};

void qs_form_done(struct qs_form *f)
{
    free(f->pattern);
    free(f->benchmark);
    free(f->file);
    free(f->other);
    free(f->metric);
    free(f->launch);
    *f = (struct qs_form){0};
}

double qs_form_unit_ns(enum qs_form_unit unit)
{
    static const double ns[] = {1, 1e3, 1e6, 1e9};
    return ns[unit];
}

enum qs_form_unit qs_form_unit_of(const char *text)
{
    unsigned unit = QS_FORM_NS;
    while (qs_form_units[unit] && strcmp(qs_form_units[unit], text) != 0)
        unit++;
    return (enum qs_form_unit)unit;
}

const char *qs_form_source(const struct qs_form *f)
{
    return f->file                       ? f->file
           : f->kind == QS_FORM_ANDROIDX ? "am instrument"
           : f->kind == QS_FORM_AM_START ? "am start"
                                         : "stdout";
}

/* Does the document itself say what its values are in? */
static bool names_units(const struct qs_form *f)
{
    return f->kind != QS_FORM_NUMBERS && f->kind != QS_FORM_PATTERN;
}

static void put(struct qs_json *j, const char *key, const char *text)
{
    if (text)
        qs_json_kstring(j, key, text);
}

void qs_form_json(const struct qs_form *f, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    put(&j, "format", qs_form_kinds[f->kind]);
    bool other = f->unit == QS_FORM_OTHER;
    put(&j, "unit", names_units(f) ? NULL : other ? f->other : qs_form_units[f->unit]);
    put(&j, "metric", f->metric);
    put(&j, "better", !other ? NULL : f->higher_is_better ? "higher" : "lower");
    put(&j, "pattern", f->pattern);
    put(&j, "launch", f->launch);
    put(&j, "benchmark", f->benchmark);
    put(&j, "file", f->file);
    qs_json_object_end(&j);
}

static const char *text_of(const struct qs_doc *doc, const char *key)
{
    const struct qs_node *node = qs_node_get(&doc->root, key, NULL);
    return node && node->kind == QS_NODE_TEXT ? node->text : NULL;
}

static char *copy_of(const struct qs_doc *doc, const char *key)
{
    const char *text = text_of(doc, key);
    return text ? qs_strdup(text) : NULL;
}

static bool find(const char *const *words, const char *word, unsigned *ret)
{
    for (*ret = 0; word && words[*ret]; ++*ret)
        if (strcmp(words[*ret], word) == 0)
            return true;
    return false;
}

static bool take_unit(const struct qs_doc *doc, struct qs_form *f)
{
    const char *unit = text_of(doc, "unit"), *better = text_of(doc, "better");
    if (names_units(f) || !unit) {
        f->metric = names_units(f) ? copy_of(doc, "metric") : NULL;
        return names_units(f);
    }
    f->unit = qs_form_unit_of(unit);
    if (f->unit != QS_FORM_OTHER)
        return true;
    f->other = qs_strdup(unit);
    f->metric = copy_of(doc, "metric");
    f->higher_is_better = better && strcmp(better, "higher") == 0;
    return better && f->metric;
}

static bool take(const struct qs_doc *doc, struct qs_form *f)
{
    unsigned kind;
    if (!find(qs_form_kinds, text_of(doc, "format"), &kind))
        return false;
    f->kind = (enum qs_form_kind)kind;
    f->pattern = copy_of(doc, "pattern");
    f->benchmark = copy_of(doc, "benchmark");
    f->file = copy_of(doc, "file");
    f->launch = copy_of(doc, "launch");
    return take_unit(doc, f) && (f->kind != QS_FORM_PATTERN || f->pattern);
}

bool qs_form_from_json(const char *json, struct qs_form *ret, struct qs_err *err)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    *ret = (struct qs_form){0};
    if (qs_doc_read("run", json, strlen(json), true, &doc, &problems) && take(doc, ret))
        return true;
    qs_form_done(ret);
    return qs_fail(err, QS_E_DATA, "the stored description of the run's stream cannot be read: %.200s", json);
}
