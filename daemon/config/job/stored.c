#include "config/job/stored.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/scalar.h"
#include "config/job/stop.h"
#include "proto/names.h"

/* A job's text as JSON, each byte of it escaped at the worst, and the names and files beside it. */
enum { STORED_BYTES = 6 * QS_DOC_BYTES + 4 * 1024 * 1024 };

static const char *text_at(const struct qs_node *map, const char *key)
{
    const struct qs_node *node = qs_node_get(map, key, NULL);
    return node && node->kind == QS_NODE_TEXT ? node->text : NULL;
}

static const char *string_at(const struct qs_node *map, const char *key)
{
    const struct qs_node *node = qs_node_get(map, key, NULL);
    return node && node->quoted ? node->text : NULL;
}

static void take_files(struct qs_stored_job *s, const struct qs_node *files)
{
    size_t count = files && files->kind == QS_NODE_MAP ? files->count : 0;
    s->files = qs_calloc(count + 1, sizeof *s->files);
    for (size_t i = 0; i < count; i++) {
        const struct qs_node *sha = &files->items[i];
        struct qs_job_file *file = &s->files[s->file_count];
        if (sha->kind != QS_NODE_TEXT || strlen(sha->text) != sizeof file->sha256 - 1)
            continue;
        file->path = files->keys[i].text;
        memcpy(file->sha256, sha->text, sizeof file->sha256);
        s->file_count++;
    }
}

static bool fail(struct qs_err *err, const struct qs_problems *problems)
{
    return qs_fail(err, QS_E_JOB, "the stored job cannot be read by this version: %s",
                   problems->count ? problems->at[0].what : "it has no text");
}

bool qs_stored_job_read(const char *json, struct qs_stored_job *ret, struct qs_err *err)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    struct qs_scalar_why why;
    *ret = (struct qs_stored_job){0};
    if (!json ||
        !qs_doc_read_most("stored job", json, strlen(json), STORED_BYTES, true, &ret->doc, &problems))
        return fail(err, &problems);
    const struct qs_node *root = &ret->doc->root;
    const char *name = text_at(root, "name"), *reproduces = text_at(root, "reproduces");
    ret->text = string_at(root, "text");
    ret->where = text_at(root, "where");
    ret->name = name ? name : "stored job";
    if (ret->text && (!reproduces || qs_scalar_int(reproduces, &ret->reproduces, &why))) {
        take_files(ret, qs_node_get(root, "files", NULL));
        return true;
    }
    qs_stored_job_done(ret);
    return fail(err, &problems);
}

void qs_stored_job_done(struct qs_stored_job *stored)
{
    qs_doc_free(stored->doc);
    free(stored->files);
    *stored = (struct qs_stored_job){0};
}

bool qs_job_from_store(const char *json, uint64_t seed, struct qs_job_spec **ret_spec, struct qs_err *err)
{
    QS_SCOPED(qs_stored_job_done) struct qs_stored_job stored;
    return qs_stored_job_read(json, &stored, err) && qs_job_from_stored(&stored, seed, ret_spec, err);
}

bool qs_job_from_stored(const struct qs_stored_job *stored, uint64_t seed, struct qs_job_spec **ret_spec,
                        struct qs_err *err)
{
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    if (!qs_doc_read(stored->name, stored->text, strlen(stored->text), false, &doc, &problems) ||
        !qs_job_from_doc(doc, ret_spec, &problems))
        return fail(err, &problems);
    for (size_t i = 0; i < stored->file_count; i++)
        (void)qs_job_bind_file(*ret_spec, stored->files[i].path, stored->files[i].sha256);
    qs_job_set_where(*ret_spec, stored->where);
    (*ret_spec)->plan.seed = seed;
    (*ret_spec)->plan.has_seed = true;
    return true;
}

/* What tells one series from another. A control that a later version adds is written only where it is not at
 * its default: else every series would end with that version. */
static void put_controls(struct qs_json *j, const struct qs_job_controls *controls)
{
    qs_json_kobject(j, "controls");
    qs_json_kstring(j, "affinity", controls->cpus[0] ? controls->cpus : "any");
    qs_wishes_put(j, &controls->wishes);
    if (controls->start.sched != QS_SCHED_KEPT) {
        QS_BUF(priority);
        qs_job_put_priority(&controls->start, &priority);
        qs_json_kstring(j, "priority", priority.data);
    }
    if (controls->start.flags != 0)
        qs_json_kstring(j, "aslr", "off");
    qs_json_object_end(j);
}

static void put_app(struct qs_json *j, const struct qs_job_app *app)
{
    if (app->package == NULL)
        return;
    qs_json_kobject(j, "app");
    qs_json_kstring(j, "package", app->package);
    if (app->debuggable != QS_APP_ANY)
        qs_json_kbool(j, "debuggable", app->debuggable == QS_APP_YES);
    if (app->compiled != NULL)
        qs_json_kstring(j, "compiled", app->compiled);
    qs_json_object_end(j);
}

static void put_bound(struct qs_json *j, const char *key, int64_t value, bool ambient)
{
    char text[32];
    snprintf(text, sizeof text, "ambient%+" PRId64, value);
    if (ambient)
        qs_json_kstring(j, key, text);
    else
        qs_json_kint(j, key, value);
}

static void put_expectation(struct qs_json *j, const struct qs_job_expectation *e)
{
    qs_json_object(j);
    qs_json_kstring(j, "sensor", e->sensor);
    if (e->has_lo)
        put_bound(j, "above", e->lo, e->lo_ambient);
    if (e->has_hi)
        put_bound(j, "below", e->hi, e->hi_ambient);
    if (e->has_end)
        qs_json_kint(j, "end_below", e->end);
    qs_json_kint(j, "dwell_ns", e->dwell_ns);
    qs_json_kint(j, "timeout_ns", e->timeout_ns);
    qs_json_kstring(j, "on_timeout", qs_gate_on_timeout_name((enum qs_gate_on_timeout)e->on_timeout));
    qs_json_kbool(j, "backoff", e->backoff);
    qs_json_kbool(j, "unreadable_ok", e->unreadable_ok);
    if (e->heat)
        qs_json_kbool(j, "heat", true);
    if (e->returns)
        qs_json_kbool(j, "returns", true);
    qs_json_object_end(j);
}

void qs_job_put_conditions(struct qs_json *j, const struct qs_job_conditions *set)
{
    qs_json_object(j);
    qs_json_kstring(j, "name", set->name);
    put_controls(j, &set->controls);
    qs_json_karray(j, "gate");
    for (size_t i = 0; i < set->gate_count; i++)
        put_expectation(j, &set->gate[i]);
    qs_json_array_end(j);
    qs_json_kint(j, "patience_ns", set->patience_ns);
    qs_json_kobject(j, "bounds");
    for (size_t i = 0; i < set->bound_count; i++)
        qs_json_kint(j, set->bounds[i].kind, set->bounds[i].bound);
    qs_json_object_end(j);
    qs_json_kint(j, "repeat_tainted", (int64_t)set->repeat_tainted);
    if (set->trip_mc != 0)
        qs_json_kint(j, "trip_mc", set->trip_mc);
    put_app(j, &set->app);
    qs_json_key(j, "stop");
    qs_stop_put(j, set->enough.stop);
    qs_json_kint(j, "cap_time_ns", set->enough.cap_time_ns);
    qs_json_kint(j, "cap_iterations", (int64_t)set->enough.cap_iterations);
    qs_json_object_end(j);
}

void qs_job_put_stops(struct qs_json *j, const struct qs_job_spec *spec)
{
    qs_json_karray(j, "stops");
    for (size_t i = qs_job_next_set(spec, 0); i < spec->condition_count; i = qs_job_next_set(spec, i + 1)) {
        const struct qs_job_enough *enough = &spec->conditions[i].enough;
        char text[1024];
        if (enough->stop != NULL)
            qs_rule_text(enough->stop, text, sizeof(text));
        qs_json_object(j);
        qs_json_kstring(j, "conditions", spec->conditions[i].name);
        qs_json_kstring(j, "stop", enough->stop != NULL ? text : NULL);
        qs_json_kint(j, "cap_iterations", (int64_t)enough->cap_iterations);
        qs_json_kint(j, "cap_time_ns", enough->cap_time_ns);
        qs_json_object_end(j);
    }
    qs_json_array_end(j);
}
