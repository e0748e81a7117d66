#include "config/job/stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/document/doc.h"
#include "config/job/stop.h"

static const char *node_text(const struct qs_node *node)
{
    return node && node->kind == QS_NODE_TEXT ? node->text : NULL;
}

static bool fail(const struct qs_problems *problems, struct qs_err *err)
{
    return qs_fail(err, QS_E_JOB, "the stored job cannot be read by this version: %s",
                   problems->count ? problems->at[0].what : "it has no text");
}

static bool read_text(const struct qs_node *stored, struct qs_doc **ret_doc, struct qs_problems *problems)
{
    const char *text = node_text(qs_node_get(stored, "text", NULL));
    const char *name = node_text(qs_node_get(stored, "name", NULL));
    return text && qs_doc_read(name ? name : "stored job", text, strlen(text), false, ret_doc, problems);
}

static void bind_files(struct qs_job_spec *spec, const struct qs_node *files)
{
    for (size_t i = 0; files && files->kind == QS_NODE_MAP && i < files->count; i++) {
        const char *sha = node_text(&files->items[i]);
        if (sha && strlen(sha) == 64)
            (void)qs_job_bind_file(spec, files->keys[i].text, sha);
    }
}

bool qs_job_from_store(const char *spec_json, uint64_t seed, struct qs_job_spec **ret_spec,
                       struct qs_err *err)
{
    struct qs_problems problems;
    struct qs_doc *stored = NULL, *doc = NULL;
    struct qs_job_spec *spec = NULL;
    qs_problems_init(&problems);
    bool ok = qs_doc_read("stored job", spec_json, strlen(spec_json), true, &stored, &problems) &&
              read_text(&stored->root, &doc, &problems) && qs_job_from_doc(doc, &spec, &problems);
    if (ok) {
        bind_files(spec, qs_node_get(&stored->root, "files", NULL));
        qs_job_set_where(spec, node_text(qs_node_get(&stored->root, "where", NULL)));
        spec->plan.seed = seed;
        spec->plan.has_seed = true;
        *ret_spec = spec;
    } else {
        fail(&problems, err);
    }
    if (doc)
        qs_doc_free(doc);
    if (stored)
        qs_doc_free(stored);
    qs_problems_done(&problems);
    return ok;
}

/* What tells one series from another. A control that a later version adds is written only where it is not at
 * its default: else every series would end with that version. */
static void put_controls(struct qs_json *j, const struct qs_job_controls *controls)
{
    qs_json_key(j, "controls");
    qs_json_object(j);
    qs_json_kstring(j, "affinity", controls->cpus[0] ? controls->cpus : "any");
    qs_json_kstring(j, "frequency", "free");
    qs_json_object_end(j);
}

static void put_expectation(struct qs_json *j, const struct qs_job_expectation *e)
{
    static const char *const words[] = {[QS_ON_TIMEOUT_TAINT] = "taint",
                                        [QS_ON_TIMEOUT_DEFER] = "defer",
                                        [QS_ON_TIMEOUT_REQUEUE] = "requeue",
                                        [QS_ON_TIMEOUT_FAIL] = "fail"};
    qs_json_object(j);
    qs_json_kstring(j, "sensor", e->sensor);
    if (e->has_lo)
        qs_json_kint(j, "above", e->lo);
    if (e->has_hi)
        qs_json_kint(j, "below", e->hi);
    qs_json_kint(j, "dwell_ns", e->dwell_ns);
    qs_json_kint(j, "timeout_ns", e->timeout_ns);
    qs_json_kstring(j, "on_timeout", words[e->on_timeout]);
    qs_json_kbool(j, "backoff", e->backoff);
    qs_json_kbool(j, "unreadable_ok", e->unreadable_ok);
    qs_json_object_end(j);
}

void qs_job_put_conditions(struct qs_json *j, const struct qs_job_conditions *set)
{
    qs_json_object(j);
    qs_json_kstring(j, "name", set->name);
    put_controls(j, &set->controls);
    qs_json_key(j, "gate");
    qs_json_array(j);
    for (size_t i = 0; i < set->gate_count; i++)
        put_expectation(j, &set->gate[i]);
    qs_json_array_end(j);
    qs_json_kint(j, "patience_ns", set->patience_ns);
    qs_json_key(j, "bounds");
    qs_json_object(j);
    for (size_t i = 0; i < set->bound_count; i++)
        qs_json_kint(j, set->bounds[i].kind, set->bounds[i].bound);
    qs_json_object_end(j);
    qs_json_kint(j, "repeat_tainted", (int64_t)set->repeat_tainted);
    qs_json_key(j, "stop");
    qs_stop_put(j, set->enough.stop);
    qs_json_kint(j, "cap_time_ns", set->enough.cap_time_ns);
    qs_json_kint(j, "cap_iterations", (int64_t)set->enough.cap_iterations);
    qs_json_object_end(j);
}
