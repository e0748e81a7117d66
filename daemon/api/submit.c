#include "api/body.h"
#include "api/submit.h"

#include <jansson.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/flow.h"
#include "api/owner.h"
#include "api/render.h"
#include "api/reply.h"
#include "base/mem.h"
#include "config/job/stored.h"
#include "farm/farm.h"

enum { NAME_BYTES = 255, KEY_BYTES = 200, FILES_MOST = 1000 };

struct submit {
    struct qs_prepared *job; /* owned; NULL once the farm has it: who waits may wait for days */
    char name[NAME_BYTES + 1];
    const char *key; /* borrowed from the request's head, or NULL */
    bool wait, created;
    bool parked, again; /* waits for the end; something has happened since the read began */
    int64_t id;
    struct qs_jobs found;
};

static void done_submit(void *data)
{
    struct submit *s = data;
    qs_prepared_free(s->job);
    qs_jobs_free(&s->found);
}

/* --- a look at a job ------------------------------------------------------------------------------------ */

struct look {
    struct qs_prepared *job; /* owned */
    const char *name;        /* borrowed from the request */
    struct qs_buf out;       /* the answer, as far as the farm has no say in it */
    struct qs_json j;
};

static void done_look(void *data)
{
    struct look *l = data;
    qs_prepared_free(l->job);
    qs_buf_done(&l->out);
}

static void put_files(struct qs_json *j, const struct qs_job_spec *spec)
{
    qs_json_karray(j, "files");
    for (size_t i = 0; i < qs_job_file_count(spec); i++) {
        const struct qs_job_file *file = qs_job_file_at(spec, i);
        qs_json_object(j);
        qs_json_kstring(j, "path", file->path);
        qs_json_kstring(j, "name", file->name);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}

/* The stop rule with its presets written out, and its caps. */
static void put_stop(struct qs_json *j, const struct qs_job_enough *enough)
{
    char text[1024];
    qs_json_key(j, "stop");
    if (!enough->stop) {
        qs_json_null(j);
        return;
    }
    qs_rule_text(enough->stop, text, sizeof text);
    qs_json_object(j);
    qs_json_kstring(j, "rule", text);
    qs_json_kint(j, "cap_time_ns", enough->cap_time_ns);
    qs_json_kint(j, "cap_iterations", enough->cap_iterations);
    qs_json_object_end(j);
}

/* On the pool. */
static bool look_at_job(struct qs_exchange *ex, struct qs_err *err)
{
    struct look *l = ex->data;
    const struct qs_submission sub = {
        .text = ex->body.data, .text_bytes = ex->body.len, .name = l->name, .only_looked_at = true};
    (void)err; /* the problems are the job's */
    l->job = qs_farm_prepare(ex->api->p.farm, &sub);
    const struct qs_job_spec *spec = qs_prepared_spec(l->job);
    if (!spec)
        return true;
    l->j = qs_json_to(&l->out);
    qs_json_object(&l->j);
    qs_json_kbool(&l->j, "ok", true);
    qs_json_kstring(&l->j, "name", spec->name);
    put_files(&l->j, spec);
    qs_render_spec(&l->j, spec);
    put_stop(&l->j, &spec->conditions[qs_job_next_set(spec, 0)].enough);
    qs_job_put_stops(&l->j, spec);
    qs_json_key(&l->j, "actions");
    qs_job_actions_put(&l->j, &spec->actions);
    return true;
}

static void say_look(struct qs_exchange *ex)
{
    struct look *l = ex->data;
    if (!qs_farm_check(ex->api->p.farm, l->job)) {
        qs_reply_problems(ex, QS_E_JOB, qs_prepared_problems(l->job), l->name);
        return;
    }
    size_t count;
    QS_FREED const char **devices = qs_farm_fitting(ex->api->p.farm, qs_prepared_spec(l->job), &count);
    qs_json_karray(&l->j, "devices");
    for (size_t i = 0; i < count; i++)
        qs_json_string(&l->j, devices[i]);
    qs_json_array_end(&l->j);
    qs_json_key(&l->j, "estimate");
    qs_json_null(&l->j);
    qs_json_object_end(&l->j);
    qs_reply_json(ex, 200, &l->out);
}

void qs_handle_validate(struct qs_exchange *ex)
{
    const char *name = qs_uri_get(&ex->uri, "name");
    struct look *l = qs_exchange_data(ex, sizeof *l, done_look);
    l->name = name && *name ? name : "request";
    qs_buf_init(&l->out);
    qs_exchange_work(ex, look_at_job, say_look);
}

/* --- a job to be stored --------------------------------------------------------------------------------- */

/* The array is the caller's, the texts in it are the document's. */
static bool take_files(json_t *body, struct qs_job_file **ret, size_t *ret_count, struct qs_err *err)
{
    json_t *files = json_object_get(body, "files"), *value;
    const char *path;
    if (!files)
        return true;
    if (!json_is_object(files) || json_object_size(files) > FILES_MOST)
        return qs_fail(err, QS_E_USAGE, "`files` is an object of path and SHA-256, at most %d", FILES_MOST);
    *ret = qs_calloc(json_object_size(files) + 1, sizeof **ret);
    json_object_foreach(files, path, value)
    {
        const char *sha = json_string_value(value);
        if (!sha || strlen(sha) != 64 || strspn(sha, "0123456789abcdef") != 64)
            return qs_fail(err, QS_E_USAGE, "files: `%.100s` needs a SHA-256, 64 lower-case hex digits",
                           path);
        struct qs_job_file *file = &(*ret)[(*ret_count)++];
        file->path = (char *)path;
        memcpy(file->sha256, sha, sizeof file->sha256);
    }
    return true;
}

static bool check_body(json_t *body, struct qs_err *err)
{
    static const char *const known[] = {"text", "name", "files", "wait"};
    if (!json_is_object(body) || !json_is_string(json_object_get(body, "text")))
        return qs_fail(err, QS_E_USAGE, "the request needs `text`, the job file as it was written");
    const json_t *name = json_object_get(body, "name"), *wait = json_object_get(body, "wait");
    if (name &&
        (!json_is_string(name) || json_string_length(name) < 1 || json_string_length(name) > NAME_BYTES))
        return qs_fail(err, QS_E_USAGE, "`name` is the name of the file, 1 to %d bytes", NAME_BYTES);
    if (wait && !json_is_boolean(wait))
        return qs_fail(err, QS_E_USAGE, "`wait` is true or false");
    return qs_body_keys(body, "the request", known, sizeof known / sizeof *known, err);
}

/* On the pool. */
static bool read_body(struct qs_exchange *ex, struct qs_err *err)
{
    struct submit *s = ex->data;
    QS_FREED struct qs_job_file *files = NULL;
    size_t file_count = 0;
    json_auto_t *body = qs_body_json(ex, err);
    if (!body || !check_body(body, err) || !take_files(body, &files, &file_count, err))
        return false;
    const json_t *text = json_object_get(body, "text"), *name = json_object_get(body, "name");
    const struct qs_submission sub = {.text = json_string_value(text),
                                      .text_bytes = json_string_length(text),
                                      .name = name ? json_string_value(name) : "request",
                                      .files = files,
                                      .file_count = file_count};
    snprintf(s->name, sizeof s->name, "%s", sub.name);
    s->wait = json_is_true(json_object_get(body, "wait"));
    s->job = qs_farm_prepare(ex->api->p.farm, &sub);
    return true;
}

bool qs_submit_key(struct qs_exchange *ex, const char **ret, struct qs_err *err)
{
    const char *key = MHD_lookup_connection_value(ex->connection, MHD_HEADER_KIND, "Idempotency-Key");
    *ret = key;
    for (size_t i = 0; key && key[i]; i++) {
        if (key[i] < 0x21 || key[i] > 0x7e || i >= KEY_BYTES)
            return qs_fail(err, QS_E_USAGE, "an Idempotency-Key has 1 to %d printable characters", KEY_BYTES);
    }
    return !key || *key || qs_fail(err, QS_E_USAGE, "the Idempotency-Key is empty");
}

static bool read_job(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct submit *s = ex->data;
    qs_jobs_free(&s->found);
    s->found = (struct qs_jobs){0};
    return qs_read_job(reader, s->id, &s->found, err);
}

static int64_t position_of(struct qs_farm *farm, int64_t job)
{
    QS_BUF(text);
    int64_t position = qs_farm_why(farm, job, &text).position;
    return position < 0 ? 0 : position;
}

static qs_exchange_fn say_job;

static void look_again(struct qs_exchange *ex)
{
    struct submit *s = ex->data;
    s->parked = s->again = false;
    qs_exchange_read(ex, read_job, say_job);
}

static void park(struct qs_exchange *ex)
{
    struct submit *s = ex->data;
    if (s->again) {
        look_again(ex);
        return;
    }
    s->parked = true;
    qs_exchange_park(ex);
    qs_flow_end_with_client(ex);
}

static void say_state(struct qs_exchange *ex, enum qs_job_state state)
{
    struct submit *s = ex->data;
    if (s->wait && (state == QS_JOB_QUEUED || state == QS_JOB_RUNNING)) {
        park(ex);
        return;
    }
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kint(&j, "id", s->id);
    qs_json_kstring(&j, "state", qs_job_state_name(state));
    qs_json_kint(&j, "position", position_of(ex->api->p.farm, s->id));
    qs_json_object_end(&j);
    qs_reply_json(ex, s->created ? 201 : 200, &out);
}

static void say_job(struct qs_exchange *ex)
{
    const struct submit *s = ex->data;
    say_state(ex, s->found.at[0].state);
}

/* Numbers only grow: one above all that were given is new, any other belongs to a key seen before, and has to
 * be looked up. Of a new one is known what was committed: a read might wait for the job's first window. */
static void on_submitted(const struct qs_err *err, int64_t id, void *user)
{
    struct qs_exchange *ex = user;
    struct submit *s = ex->data;
    struct qs_api *api = ex->api;
    qs_prepared_free(s->job);
    s->job = NULL;
    qs_exchange_drop_body(ex);
    if (!err) {
        s->id = id;
        s->created = id > api->newest_job;
        api->newest_job = s->created ? id : api->newest_job;
    }
    if (!qs_exchange_leave(ex))
        return;
    if (err)
        qs_reply_error(ex, err);
    else if (s->created)
        say_state(ex, QS_JOB_QUEUED);
    else
        qs_exchange_read(ex, read_job, say_job);
}

void qs_submit_send(struct qs_exchange *ex, struct qs_prepared *job, const char *name, const char *key,
                    qs_store_done_fn *done)
{
    struct qs_err err = QS_ERR_INIT;
    qs_exchange_enter(ex);
    if (qs_farm_submit(ex->api->p.farm, job, ex->owner, key, done, ex, &err) || !qs_exchange_leave(ex))
        return;
    if (err.code == QS_E_JOB)
        qs_reply_problems(ex, QS_E_JOB, qs_prepared_problems(job), name);
    else
        qs_reply_error(ex, &err);
}

static void send_job(struct qs_exchange *ex)
{
    const struct submit *s = ex->data;
    qs_submit_send(ex, s->job, s->name, s->key, on_submitted);
}

static void find_owner(struct qs_exchange *ex)
{
    qs_owner_find(ex, send_job);
}

void qs_handle_submit(struct qs_exchange *ex)
{
    struct submit *s = qs_exchange_data(ex, sizeof *s, done_submit);
    struct qs_err err;
    if (qs_submit_key(ex, &s->key, &err))
        qs_exchange_work(ex, read_body, find_owner);
    else
        qs_reply_error(ex, &err);
}

void qs_submit_tell(struct qs_api *api, int64_t job)
{
    for (struct qs_exchange *ex = api->exchanges; ex; ex = ex->next) {
        struct submit *s = ex->data;
        if (!ex->match.route || ex->match.route->handle != qs_handle_submit || !s || s->id != job)
            continue;
        s->again = true;
        if (s->parked)
            look_again(ex);
    }
}
