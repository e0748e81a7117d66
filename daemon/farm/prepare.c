/* A submission before the farm's loop sees it: read, checked and written out, on any thread. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "config/job/stored.h"
#include "farm/farm_impl.h"
#include "store/files.h"

static bool bind_files(const struct qs_farm *farm, const struct qs_submission *sub, struct qs_prepared *p)
{
    size_t before = p->problems.count;
    for (size_t i = 0; i < sub->file_count; i++)
        (void)qs_job_bind_file(p->spec, sub->files[i].path, sub->files[i].sha256);
    for (size_t i = 0; i < qs_job_file_count(p->spec); i++) {
        const struct qs_job_file *file = qs_job_file_at(p->spec, i);
        if (file->sha256[0] == '\0')
            qs_problems_add(&p->problems, p->doc, &p->doc->root, "files", "send its hash with the job",
                            "no hash was given for the file `%s`", file->path);
        else if (!qs_files_has(farm->p.files, file->sha256))
            qs_problems_add(&p->problems, p->doc, &p->doc->root, "files",
                            "upload it first: PUT /api/v1/files/HASH",
                            "the content of the file `%s` is not here", file->path);
    }
    return p->problems.count == before;
}

/* What rows of arms and points point to, beside the spec. */
struct texts {
    const struct qs_job_spec *spec;
    char **at; /* owned, each */
    size_t count;
};

static const char *own(struct texts *t, struct qs_buf *buf)
{
    t->at = qs_grow(t->at, t->count, sizeof(char *));
    t->at[t->count] = qs_buf_take(buf);
    return t->at[t->count++];
}

static void texts_done(struct texts *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->at[i]);
    free(t->at);
}

static const char *argv_json(struct texts *t, size_t arm)
{
    struct qs_buf out;
    struct qs_strings argv;
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
    qs_job_argv(t->spec, arm, 0, &argv);
    qs_json_array(&j);
    for (size_t i = 0; i < argv.count; i++)
        qs_json_string(&j, argv.at[i]);
    qs_json_array_end(&j);
    qs_strings_done(&argv);
    return own(t, &out);
}

static const char *params_json(struct texts *t, const struct qs_params *params)
{
    struct qs_buf out;
    qs_buf_init(&out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    for (size_t i = 0; i < params->count; i++)
        qs_json_kstring(&j, params->at[i].name, params->at[i].value);
    qs_json_object_end(&j);
    return own(t, &out);
}

/* Of each set: one text for all that share it. The list is the caller's. */
static const char **conditions_json(struct texts *t)
{
    const char **of = qs_calloc(t->spec->condition_count, sizeof *of);
    for (size_t i = 0; i < t->spec->condition_count; i++) {
        struct qs_buf out;
        qs_buf_init(&out);
        struct qs_json j = qs_json_to(&out);
        qs_job_put_conditions(&j, &t->spec->conditions[i]);
        of[i] = own(t, &out);
    }
    return of;
}

static struct qs_arm_row *arm_rows(struct texts *t, const char *const *conditions)
{
    struct qs_arm_row *rows = qs_calloc(t->spec->arm_count, sizeof *rows);
    for (size_t a = 0; a < t->spec->arm_count; a++) {
        const struct qs_job_arm *arm = &t->spec->arms[a];
        rows[a].name = arm->name;
        rows[a].argv_json = argv_json(t, a);
        rows[a].build_label = arm->build_label;
        rows[a].conditions_json = arm->has_conditions ? conditions[arm->conditions] : NULL;
        if (arm->build_label) {
            struct qs_buf content;
            qs_buf_init(&content);
            qs_farm_build_content(arm, &content);
            rows[a].build_content = own(t, &content);
        }
    }
    return rows;
}

static struct qs_point_row *point_rows(struct texts *t, const char *const *conditions)
{
    struct qs_point_row *rows = qs_calloc(t->spec->point_count, sizeof *rows);
    for (size_t p = 0; p < t->spec->point_count; p++) {
        const struct qs_job_point *point = &t->spec->points[p];
        rows[p] = (struct qs_point_row){.benchmark = t->spec->benchmarks[point->benchmark].name,
                                        .params_json = params_json(t, &point->params),
                                        .conditions_json = conditions[point->conditions],
                                        .label = point->label};
    }
    return rows;
}

static void put_document(const struct qs_submission *sub, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "name", sub->name);
    qs_json_key(&j, "text");
    qs_json_string_n(&j, sub->text, sub->text_bytes);
    qs_json_kobject(&j, "files");
    for (size_t i = 0; i < sub->file_count; i++)
        qs_json_kstring(&j, sub->files[i].path, sub->files[i].sha256);
    qs_json_object_end(&j);
    if (sub->reproduces > 0) {
        qs_json_kint(&j, "reproduces", sub->reproduces);
        if (sub->where)
            qs_json_kstring(&j, "where", sub->where);
    }
    qs_json_object_end(&j);
}

static struct qs_request *rows_of(const struct qs_job_spec *spec, const struct qs_submission *sub)
{
    QS_SCOPED(texts_done) struct texts texts = {.spec = spec};
    QS_FREED const char **conditions = conditions_json(&texts);
    QS_FREED struct qs_arm_row *arms = arm_rows(&texts, conditions);
    QS_FREED struct qs_point_row *points = point_rows(&texts, conditions);
    QS_BUF(stored);
    put_document(sub, &stored);
    const struct qs_job_row row = {.name = spec->name,
                                   .spec_json = stored.data,
                                   .arms = arms,
                                   .arm_count = spec->arm_count,
                                   .points = points,
                                   .point_count = spec->point_count};
    return qs_store_copy_job(&row);
}

struct qs_prepared *qs_farm_prepare(const struct qs_farm *farm, const struct qs_submission *sub)
{
    struct qs_prepared *p = qs_calloc(1, sizeof *p);
    qs_problems_init(&p->problems);
    if (!qs_doc_read(sub->name, sub->text, sub->text_bytes, false, &p->doc, &p->problems) ||
        !qs_job_from_doc(p->doc, &p->spec, &p->problems))
        return p;
    qs_job_set_where(p->spec, sub->where);
    bool ok =
        qs_farm_check_hooks(farm->p.config, qs_loop_is_virtual(farm->p.loop), p->doc, p->spec, &p->problems);
    ok = (sub->only_looked_at || bind_files(farm, sub, p)) && ok;
    if (ok && !sub->only_looked_at)
        p->rows = rows_of(p->spec, sub);
    p->has_seed = sub->reproduces > 0 || p->spec->plan.has_seed;
    p->seed = sub->reproduces > 0 ? sub->seed : p->spec->plan.seed;
    return p;
}

const struct qs_job_spec *qs_prepared_spec(const struct qs_prepared *p)
{
    return p->spec;
}

const struct qs_problems *qs_prepared_problems(const struct qs_prepared *p)
{
    return &p->problems;
}

void qs_prepared_free(struct qs_prepared *p)
{
    if (!p)
        return;
    qs_store_drop_copy(p->rows);
    qs_job_free(p->spec);
    qs_doc_free(p->doc);
    qs_problems_done(&p->problems);
    free(p);
}
