#include "api/handlers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/server.h"
#include "api/compare.h"
#include "api/owner.h"
#include "api/reply.h"
#include "api/steps.h"
#include "api/submit.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/job/stored.h"
#include "farm/farm.h"
#include "report/reproduce.h"
#include "store/files.h"
#include "store/read/arms.h"

enum { RUNS_MOST = 10000 };

struct side {
    struct qs_jobs job; /* one */
    struct qs_runs runs;
    struct qs_arm_runs values;
};

struct reproduce {
    struct side original, again;
    struct qs_stored_job stored;  /* the original's document */
    struct qs_buf where;          /* selects the devices that ran it */
    const char *key;              /* of the connection: what makes a second request the same, or NULL */
    double *margin_ratio;         /* of each point; owned */
    struct qs_prepared *prepared; /* the job that does it again; owned */
    struct qs_buf out;
};

static void side_done(struct side *s)
{
    qs_jobs_free(&s->job);
    qs_runs_free(&s->runs);
    qs_arm_runs_free(&s->values);
}

static void done_reproduce(void *data)
{
    struct reproduce *r = data;
    side_done(&r->original);
    side_done(&r->again);
    qs_stored_job_done(&r->stored);
    qs_prepared_free(r->prepared);
    free(r->margin_ratio);
    qs_buf_done(&r->where);
    qs_buf_done(&r->out);
}

static struct reproduce *begin(struct qs_exchange *ex)
{
    struct reproduce *r = qs_exchange_data(ex, sizeof *r, done_reproduce);
    qs_buf_init(&r->where);
    qs_buf_init(&r->out);
    return r;
}

static bool read_job(struct qs_store_reader *reader, int64_t id, struct side *side, struct qs_err *err)
{
    return qs_read_job(reader, id, &side->job, err) && qs_compare_check_ended(&side->job.at[0], err) &&
           qs_read_runs(reader, id, 0, RUNS_MOST, &side->runs, err);
}

static bool is_new_device(const struct qs_runs *runs, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(runs->at[k].device, runs->at[i].device) == 0)
            return false;
    return runs->at[i].device[0] != '\0';
}

/* name == "a" || name == "b" */
static void select_devices(struct reproduce *r)
{
    const struct qs_runs *runs = &r->original.runs;
    for (size_t i = 0; i < runs->count; i++)
        if (is_new_device(runs, i))
            qs_buf_fmt(&r->where, "%sname == \"%s\"", r->where.len > 0 ? " || " : "", runs->at[i].device);
}

static bool read_original(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct reproduce *r = ex->data;
    if (!read_job(reader, ex->match.id, &r->original, err))
        return false;
    if (!qs_stored_job_read(r->original.job.at[0].spec_json, &r->stored, NULL))
        return qs_fail(err, QS_E_CONFLICT, "the document of job %lld cannot be read by this version",
                       (long long)ex->match.id);
    select_devices(r);
    return r->where.len > 0 ||
           qs_fail(err, QS_E_CONFLICT, "job %lld ran on no device: there is nothing to reproduce",
                   (long long)ex->match.id);
}

/* --- what it takes -------------------------------------------------------------------------------------- */

static bool is_new_executable(const struct qs_runs *runs, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (runs->at[k].arm == runs->at[i].arm && strcmp(runs->at[k].device, runs->at[i].device) == 0 &&
            strcmp(runs->at[k].exe_sha256, runs->at[i].exe_sha256) == 0)
            return false;
    return runs->at[i].exe_sha256[0] != '\0';
}

static void put_executables(struct qs_json *j, const struct reproduce *r)
{
    const struct qs_runs *runs = &r->original.runs;
    qs_json_karray(j, "executables");
    for (size_t i = 0; i < runs->count; i++) {
        bool of_job = false;
        if (!is_new_executable(runs, i))
            continue;
        for (size_t k = 0; k < r->stored.file_count; k++)
            of_job = of_job || strcmp(r->stored.files[k].sha256, runs->at[i].exe_sha256) == 0;
        qs_json_object(j);
        qs_json_kstring(j, "arm", runs->at[i].arm_name);
        qs_json_kstring(j, "device", runs->at[i].device);
        qs_json_kstring(j, "path", runs->at[i].exe_path);
        qs_json_kstring(j, "sha256", runs->at[i].exe_sha256);
        qs_json_kbool(j, "of_job", of_job);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

static void say_plan(struct qs_exchange *ex)
{
    struct reproduce *r = ex->data;
    const struct qs_job_info *job = &r->original.job.at[0];
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, job->seed);
    struct qs_json j = qs_json_to(&r->out);
    qs_json_object(&j);
    qs_json_kint(&j, "job", job->id);
    qs_json_kstring(&j, "name", job->name);
    qs_json_kstring(&j, "seed", seed);
    qs_json_kstring(&j, "where", r->where.data);
    qs_json_karray(&j, "files");
    for (size_t i = 0; i < r->stored.file_count; i++) {
        qs_json_object(&j);
        qs_json_kstring(&j, "path", r->stored.files[i].path);
        qs_json_kstring(&j, "sha256", r->stored.files[i].sha256);
        qs_json_kbool(&j, "here", qs_files_has(ex->api->p.files, r->stored.files[i].sha256));
        qs_json_object_end(&j);
    }
    qs_json_array_end(&j);
    put_executables(&j, r);
    qs_json_object_end(&j);
    qs_reply_json(ex, 200, &r->out);
}

void qs_handle_reproduce_plan(struct qs_exchange *ex)
{
    begin(ex);
    qs_exchange_read(ex, read_original, say_plan);
}

/* --- doing it again ------------------------------------------------------------------------------------- */

static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    struct qs_exchange *ex = user;
    struct reproduce *r = ex->data;
    struct qs_api *api = ex->api;
    bool created = !err && id > api->newest_job;
    if (created)
        api->newest_job = id;
    if (!qs_exchange_leave(ex))
        return;
    if (err) {
        qs_reply_error(ex, err);
        return;
    }
    QS_BUF(out);
    qs_buf_fmt(&out, "{\"id\":%" PRId64 ",\"reproduces\":%" PRId64 ",\"state\":\"queued\"}", id,
               r->original.job.at[0].id);
    qs_reply_json(ex, created ? 201 : 200, &out);
}

static bool prepare_again(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct reproduce *r = ex->data;
    if (!read_original(reader, ex, err))
        return false;
    const struct qs_submission sub = {.text = r->stored.text,
                                      .text_bytes = strlen(r->stored.text),
                                      .name = r->stored.name,
                                      .files = r->stored.files,
                                      .file_count = r->stored.file_count,
                                      .reproduces = r->original.job.at[0].id,
                                      .seed = r->original.job.at[0].seed,
                                      .where = r->where.data};
    r->prepared = qs_farm_prepare(ex->api->p.farm, &sub);
    return true;
}

static void send_job(struct qs_exchange *ex)
{
    const struct reproduce *r = ex->data;
    qs_submit_send(ex, r->prepared, r->stored.name, r->key, on_submitted);
}

static void submit(struct qs_exchange *ex)
{
    qs_owner_find(ex, send_job);
}

void qs_handle_reproduce(struct qs_exchange *ex)
{
    struct reproduce *r = begin(ex);
    struct qs_err err = QS_ERR_INIT;
    if (qs_submit_key(ex, &r->key, &err))
        qs_exchange_read(ex, prepare_again, submit);
    else
        qs_reply_error(ex, &err);
}

/* --- how they compare ----------------------------------------------------------------------------------- */

static bool read_values(struct qs_store_reader *reader, struct side *side, struct qs_err *err)
{
    static const char *const none[1];
    const struct qs_run_filter filter = {.job = side->job.at[0].id};
    const struct qs_metric_names time_only = {.names = none, .count = 0};
    return qs_read_arm_runs(reader, &filter, 1, &time_only, &side->values, err);
}

/* Each benchmark has its own. */
static bool take_margins(struct reproduce *r, struct qs_reproduce_input *in, struct qs_err *err)
{
    struct qs_job_spec *spec = NULL;
    const struct qs_job_info *job = &r->original.job.at[0];
    if (!qs_job_from_store(job->spec_json, job->seed, &spec, err))
        return false;
    r->margin_ratio = qs_calloc(spec->point_count + 1, sizeof *r->margin_ratio);
    for (size_t i = 0; i < spec->point_count; i++)
        r->margin_ratio[i] = spec->benchmarks[spec->points[i].benchmark].margin_ratio;
    in->margin_ratio = r->margin_ratio;
    in->point_count = spec->point_count;
    in->alpha = spec->alpha;
    qs_job_free(spec);
    return true;
}

static bool read_both(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct reproduce *r = ex->data;
    const char *run = qs_uri_get(&ex->uri, "run");
    uint8_t uid[16];
    if (run && !qs_unhex(run, uid, sizeof uid))
        return qs_fail(err, QS_E_USAGE, "`run` is 32 hexadecimal digits");
    if (!read_job(reader, ex->match.id, &r->again, err))
        return false;
    (void)qs_stored_job_read(r->again.job.at[0].spec_json, &r->stored, NULL);
    int64_t original = r->stored.reproduces;
    if (original == 0)
        return qs_fail(err, QS_E_CONFLICT, "job %lld does not reproduce another job",
                       (long long)ex->match.id);
    struct qs_reproduce_input in = {
        .run_uid = run ? uid : NULL, .variables = ex->api->p.variables, .progress = qs_steps_progress(ex)};
    bool ok = read_job(reader, original, &r->original, err) && read_values(reader, &r->original, err) &&
              read_values(reader, &r->again, err) && take_margins(r, &in, err);
    const struct side *sides[2] = {&r->original, &r->again};
    struct qs_reproduce_side *of[2] = {&in.original, &in.again};
    for (int i = 0; ok && i < 2; i++)
        *of[i] = (struct qs_reproduce_side){.job = sides[i]->job.at[0].id,
                                            .seed = sides[i]->job.at[0].seed,
                                            .runs = &sides[i]->runs,
                                            .values = &sides[i]->values};
    return ok && qs_reproduce_document(&in, &r->out, err);
}

static void say_both(struct qs_exchange *ex)
{
    struct reproduce *r = ex->data;
    qs_reply_json(ex, 200, &r->out);
}

void qs_handle_reproduction(struct qs_exchange *ex)
{
    begin(ex);
    qs_steps_start(ex);
    qs_exchange_read(ex, read_both, say_both);
}
