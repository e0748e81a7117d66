/* From a prepared submission to a stored job. */
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"

static void no_device(const struct qs_farm *farm, struct qs_prepared *p)
{
    QS_BUF(names);
    for (const struct qs_inventory_item *item = qs_inventory_first(farm->inventory); item; item = item->next)
        qs_buf_fmt(&names, "%s%s", names.len > 0 ? ", " : "", item->config->name);
    const struct qs_node *devices = qs_node_get(&p->doc->root, "devices", NULL);
    const struct qs_node *where = qs_node_get(devices, "where", NULL);
    QS_BUF(hint);
    qs_buf_fmt(&hint, "the farm has: %s", names.len ? names.data : "no device at all");
    qs_problems_add(&p->problems, p->doc, where ? where : &p->doc->root, "devices.where", hint.data,
                    "no device of this farm fits `%s`", p->spec->where ? p->spec->where : "any");
}

bool qs_farm_check(const struct qs_farm *farm, struct qs_prepared *p)
{
    size_t fitting;
    if (!p->spec)
        return false;
    free(qs_farm_match(farm, p->spec, &fitting));
    if (fitting == 0)
        no_device(farm, p);
    return p->problems.count == 0;
}

struct submitted {
    struct qs_farm *farm;
    struct qs_job_spec *spec;
    uint64_t seed;
    int64_t wall_ns;
    qs_store_done_fn *done;
    void *user;
};

static void enqueue(struct submitted *s, int64_t id)
{
    struct qs_farm *farm = s->farm;
    struct qs_farm_job *job = qs_farm_job_new(farm, id, s->seed, s->spec);
    job->submitted_wall_ns = s->wall_ns;
    qs_queue_add_job(farm->queue, &job->queue, s->spec->where);
    s->spec = NULL;
    qs_farm_add(farm, job);
    QS_BUF(body);
    struct qs_json j = qs_json_to(&body);
    qs_json_object(&j);
    qs_json_kint(&j, "position", (int64_t)farm->job_count - 1);
    QS_BUF(why);
    if (qs_queue_why(farm->queue, &job->queue) == QS_WAIT_DEVICE_HELD)
        (void)qs_farm_why(farm, id, &why);
    else if (farm->job_count > 1)
        qs_buf_fmt(&why, "job %lld (%s) is before it", (long long)farm->jobs[0]->id, farm->jobs[0]->name);
    qs_json_kstring(&j, "why", why.data);
    qs_json_object_end(&j);
    qs_farm_emit(farm, "job.queued", id, NULL, NULL, body.data);
    qs_farm_dispatch_soon(farm);
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
    free(s);
}

bool qs_farm_submit(struct qs_farm *farm, struct qs_prepared *p, const char *owner, const char *idem,
                    qs_store_done_fn *done, void *user, struct qs_err *err)
{
    if (farm->job_count + farm->submitting >= QS_FARM_JOBS_MAX)
        return qs_fail(err, QS_E_LIMIT,
                       "%d jobs are waiting or running already: cancel some, or submit when some have ended",
                       QS_FARM_JOBS_MAX);
    if (!qs_farm_check(farm, p))
        return qs_fail(err, QS_E_JOB, "the job file has %zu problem%s", p->problems.count,
                       p->problems.count == 1 ? "" : "s");
    struct submitted *s = qs_calloc(1, sizeof *s);
    struct qs_job_row row = {
        .idem = idem, .owner = owner, .seed = p->seed, .submitted_wall_ns = qs_loop_wall_ns(farm->p.loop)};
    if (!p->has_seed) {
        qs_loop_random(farm->p.loop, &row.seed, sizeof row.seed);
        row.seed >>= 1; /* 63 bits: every reader of numbers can give it back to repeat the job */
    }
    *s = (struct submitted){.farm = farm,
                            .spec = p->spec,
                            .seed = row.seed,
                            .wall_ns = row.submitted_wall_ns,
                            .done = done,
                            .user = user};
    farm->submitting++;
    qs_store_submit_copy(farm->p.store, p->rows, &row, on_submitted, s);
    p->spec = NULL;
    p->rows = NULL;
    return true;
}
