/* From a person's text to a stored job. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "config/job/stored.h"
#include "farm/farm_impl.h"
#include "store/files.h"

static void no_device(const struct qs_farm *farm, const struct qs_doc *doc, const struct qs_job_spec *spec,
                      struct qs_problems *problems)
{
    QS_BUF(names);
    for (const struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next)
        qs_buf_fmt(&names, "%s%s", names.len > 0 ? ", " : "", item->config->name);
    const struct qs_node *devices = qs_node_get(&doc->root, "devices", NULL);
    const struct qs_node *where = qs_node_get(devices, "where", NULL);
    QS_BUF(hint);
    qs_buf_fmt(&hint, "the farm has: %s", names.len ? names.data : "no device at all");
    qs_problems_add(problems, doc, where ? where : &doc->root, "devices.where", hint.data,
                    "no device of this farm fits `%s`", spec->where ? spec->where : "any");
}

static bool bind_files(struct qs_farm *farm, const struct qs_doc *doc, struct qs_job_spec *spec,
                       const struct qs_submission *sub, struct qs_problems *problems)
{
    size_t before = problems->count;
    for (size_t i = 0; i < sub->file_count; i++)
        (void)qs_job_bind_file(spec, sub->files[i].path, sub->files[i].sha256);
    for (size_t i = 0; sub->files && i < qs_job_file_count(spec); i++) {
        const struct qs_job_file *file = qs_job_file_at(spec, i);
        if (file->sha256[0] == '\0')
            qs_problems_add(problems, doc, &doc->root, "files", "send its hash with the job",
                            "no content was named for the file `%s`", file->path);
        else if (!qs_files_has(farm->p.files, file->sha256))
            qs_problems_add(problems, doc, &doc->root, "files", "upload it first: PUT /api/v1/files/HASH",
                            "the content of the file `%s` is not here", file->path);
    }
    return problems->count == before;
}

bool qs_farm_check(struct qs_farm *farm, const struct qs_submission *sub, struct qs_job_spec **ret_spec,
                   struct qs_problems *problems)
{
    struct qs_doc *doc;
    struct qs_job_spec *spec;
    if (!qs_doc_read(sub->name, sub->text, sub->text_bytes, false, &doc, problems))
        return false;
    bool ok = qs_job_from_doc(doc, &spec, problems);
    if (ok) {
        qs_job_set_where(spec, sub->where);
        size_t fitting;
        free(qs_farm_match(farm, spec, &fitting));
        if (fitting == 0) {
            no_device(farm, doc, spec, problems);
            ok = false;
        }
        ok = qs_farm_check_hooks(farm->p.config, qs_loop_is_virtual(farm->p.loop), doc, spec, problems) && ok;
        ok = bind_files(farm, doc, spec, sub, problems) && ok;
        if (ok)
            *ret_spec = spec;
        else
            qs_job_free(spec);
    }
    qs_doc_free(doc);
    return ok;
}

static char *document(const struct qs_submission *sub)
{
    struct qs_json j;
    QS_BUF(out);
    qs_json_init(&j, &out);
    qs_json_object(&j);
    qs_json_kstring(&j, "name", sub->name);
    qs_json_key(&j, "text");
    qs_json_string_n(&j, sub->text, sub->text_bytes);
    qs_json_key(&j, "files");
    qs_json_object(&j);
    for (size_t i = 0; i < sub->file_count; i++)
        qs_json_kstring(&j, sub->files[i].path, sub->files[i].sha256);
    qs_json_object_end(&j);
    if (sub->reproduces > 0) {
        qs_json_kint(&j, "reproduces", sub->reproduces);
        if (sub->where)
            qs_json_kstring(&j, "where", sub->where);
    }
    qs_json_object_end(&j);
    return qs_buf_take(&out);
}

struct submitted {
    struct qs_farm *farm;
    struct qs_job_spec *spec;
    char *spec_json;
    uint64_t seed;
    int64_t wall_ns;
    qs_store_done_fn *done;
    void *user;
};

static void enqueue(struct submitted *s, int64_t id)
{
    struct qs_farm *farm = s->farm;
    struct qs_farm_job *job = qs_farm_job_new(farm, id, s->seed, s->spec, s->spec_json);
    job->submitted_wall_ns = s->wall_ns;
    qs_queue_add_job(farm->queue, &job->queue, s->spec->where);
    s->spec = NULL;
    qs_farm_add(farm, job);
    struct qs_json j;
    QS_BUF(body);
    qs_json_init(&j, &body);
    qs_json_object(&j);
    qs_json_kint(&j, "position", (int64_t)farm->job_count - 1);
    QS_BUF(why);
    if (farm->job_count > 1)
        qs_buf_fmt(&why, "job %lld (%s) is before it", (long long)farm->jobs[0]->id, farm->jobs[0]->name);
    qs_json_kstring(&j, "why", why.data);
    qs_json_object_end(&j);
    qs_farm_news(farm, "job.queued", id, NULL, NULL, body.data);
    qs_farm_plan_soon(farm);
}

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    struct submitted *s = user;
    struct qs_err why = err ? *err : QS_ERR_INIT;
    s->farm->submitting--;
    if (!err)
        qs_farm_disk_is_back(s->farm);
    else if (err->code == QS_E_STORE)
        qs_fail_prefix(&why, "nothing was submitted, because the daemon cannot write its database");
    /* The same key again names a job that is here, or was. */
    if (!err && !qs_farm_find(s->farm, id) && id > s->farm->newest_job && !s->farm->stopping) {
        s->farm->newest_job = id;
        enqueue(s, id);
    }
    s->done(err ? &why : NULL, id, s->user);
    qs_job_free(s->spec);
    free(s->spec_json);
    free(s);
}

/* The rows of arms and points are views into these. */
struct row_texts {
    struct qs_arm_row *arms;
    struct qs_point_row *points;
    const char **conditions; /* of each set, once it was asked for; borrowed from owned */
    char **owned;
    size_t owned_n;
};

static const char *own(struct row_texts *t, struct qs_buf *buf)
{
    t->owned = qs_grow(t->owned, t->owned_n, sizeof(char *));
    t->owned[t->owned_n] = qs_buf_take(buf);
    return t->owned[t->owned_n++];
}

static const char *argv_json(struct row_texts *t, const struct qs_job_spec *spec, size_t arm)
{
    struct qs_buf out;
    struct qs_json j;
    struct qs_strings argv;
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_job_argv(spec, arm, 0, &argv);
    qs_json_array(&j);
    for (size_t i = 0; i < argv.count; i++)
        qs_json_string(&j, argv.at[i]);
    qs_json_array_end(&j);
    qs_strings_done(&argv);
    return own(t, &out);
}

static const char *params_json(struct row_texts *t, const struct qs_params *params)
{
    struct qs_buf out;
    struct qs_json j;
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_json_object(&j);
    for (size_t i = 0; i < params->count; i++)
        qs_json_kstring(&j, params->at[i].name, params->at[i].value);
    qs_json_object_end(&j);
    return own(t, &out);
}

/* One text for all points that share a set. */
static const char *conditions_json(struct row_texts *t, const struct qs_job_spec *spec, size_t set)
{
    struct qs_buf out;
    struct qs_json j;
    if (t->conditions[set])
        return t->conditions[set];
    qs_buf_init(&out);
    qs_json_init(&j, &out);
    qs_job_put_conditions(&j, &spec->conditions[set]);
    return t->conditions[set] = own(t, &out);
}

static void make_rows(struct row_texts *t, const struct qs_job_spec *spec)
{
    *t = (struct row_texts){0};
    t->arms = qs_calloc(spec->arm_count, sizeof *t->arms);
    t->points = qs_calloc(spec->point_count, sizeof *t->points);
    t->conditions = qs_calloc(spec->condition_count, sizeof *t->conditions);
    for (size_t a = 0; a < spec->arm_count; a++) {
        const struct qs_job_arm *arm = &spec->arms[a];
        t->arms[a].name = arm->name;
        t->arms[a].argv_json = argv_json(t, spec, a);
        t->arms[a].build_label = arm->build_label;
        t->arms[a].conditions_json = arm->has_conditions ? conditions_json(t, spec, arm->conditions) : NULL;
        if (arm->build_label) {
            struct qs_buf content;
            qs_buf_init(&content);
            qs_farm_build_content(arm, &content);
            t->arms[a].build_content = own(t, &content);
        }
    }
    for (size_t p = 0; p < spec->point_count; p++) {
        const struct qs_job_point *point = &spec->points[p];
        t->points[p] = (struct qs_point_row){.benchmark = spec->benchmarks[point->benchmark].name,
                                             .params_json = params_json(t, &point->params),
                                             .conditions_json = conditions_json(t, spec, point->conditions),
                                             .label = point->label};
    }
}

static void rows_done(struct row_texts *t)
{
    for (size_t i = 0; i < t->owned_n; i++)
        free(t->owned[i]);
    free(t->owned);
    free(t->arms);
    free(t->points);
    free(t->conditions);
}

bool qs_farm_submit(struct qs_farm *farm, const struct qs_submission *sub, qs_store_done_fn *done, void *user,
                    struct qs_problems *problems, struct qs_err *err)
{
    static const struct qs_job_file none[1];
    struct qs_submission bound = *sub;
    if (farm->job_count + farm->submitting >= QS_FARM_JOBS_MAX)
        return qs_fail(err, QS_E_LIMIT,
                       "%d jobs wait or run already: cancel some, or submit when some have ended",
                       QS_FARM_JOBS_MAX);
    if (!bound.files)
        bound.files = none; /* a submission names its files, even when there are none */
    struct submitted *s = qs_calloc(1, sizeof *s);
    if (!qs_farm_check(farm, &bound, &s->spec, problems)) {
        free(s);
        return qs_fail(err, QS_E_JOB, "the job file has %zu problem%s", problems->count,
                       problems->count == 1 ? "" : "s");
    }
    s->farm = farm;
    s->done = done;
    s->user = user;
    s->spec_json = document(sub);
    s->wall_ns = qs_loop_wall_ns(farm->p.loop);
    s->seed = sub->reproduces > 0 ? sub->seed : s->spec->plan.seed;
    if (sub->reproduces == 0 && !s->spec->plan.has_seed) {
        qs_loop_random(farm->p.loop, &s->seed, sizeof s->seed);
        s->seed >>= 1; /* 63 bits: every reader of numbers can give it back to repeat the job */
    }
    struct row_texts rows;
    make_rows(&rows, s->spec);
    const struct qs_job_row row = {.idem = sub->idem,
                                   .owner = sub->owner,
                                   .name = s->spec->name,
                                   .spec_json = s->spec_json,
                                   .seed = s->seed,
                                   .submitted_wall_ns = s->wall_ns,
                                   .arms = rows.arms,
                                   .arm_count = s->spec->arm_count,
                                   .points = rows.points,
                                   .point_count = s->spec->point_count};
    farm->submitting++;
    qs_store_submit(farm->p.store, &row, on_submitted, s);
    rows_done(&rows);
    return true;
}
