#include "store/read/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/read/util.h"
#include "store/read/values.h"
#include "store/read/reader.h"

/* One of the two is given. A run that is asked for by itself tells what it has, whatever became of it. */
static const char runs_sql[] = "SELECT id, uid, job_id, iif(uid = ?2, 'done', state) FROM run"
                               " WHERE (job_id = ?1 AND block >= 1) OR uid = ?2 ORDER BY uid";

enum { UID_BYTES = 16 };

static bool read_runs(struct qs_store_reader *r, int64_t *job, const uint8_t *uid, struct qs_job_metrics *ret,
                      struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, runs_sql, err))
        return false;
    qs_stmt_int(&s, *job);
    qs_stmt_blob(&s, uid, UID_BYTES);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        struct qs_run_metrics *run = &ret->at[ret->count++];
        *run = (struct qs_run_metrics){.id = qs_stmt_get_int(&s)};
        qs_stmt_get_blob(&s, run->uid, sizeof run->uid);
        *job = qs_stmt_get_int(&s);
        run->state = qs_read_run_state(qs_stmt_get_text(&s));
    }
    return ok;
}

static bool read_list(struct qs_store_reader *r, int64_t job, const struct qs_metric_names *names,
                      struct qs_metric_list *list, struct qs_err *err)
{
    if (!names->names)
        return qs_metric_list_add(r, NULL, job, list, err);
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], "duration_ns") != 0 &&
            !qs_metric_list_add(r, names->names[i], 0, list, err))
            return false;
    return true;
}

static bool read_run(struct qs_store_reader *r, const struct qs_metric_list *list, struct qs_run_metrics *run,
                     struct qs_err *err)
{
    bool ok = true;
    run->values = qs_calloc(list->count + 1, sizeof *run->values);
    for (size_t m = 0; ok && m < list->count; m++)
        ok = qs_read_run_values(r, run->id, run->state, list->ids[m], &run->values[m], err);
    return ok;
}

static bool check_values(const struct qs_job_metrics *all, struct qs_err *err)
{
    for (size_t m = 0; m < all->metric_count; m++) {
        size_t n = 0;
        for (size_t i = 0; i < all->count; i++)
            n += all->at[i].values[m].n;
        if (n == 0)
            return qs_fail(err, QS_E_NOT_FOUND, "there is no accepted value of the metric `%.60s` here",
                           all->metrics[m].name);
    }
    return true;
}

static bool read_all(struct qs_store_reader *r, int64_t job, const uint8_t *uid,
                     const struct qs_metric_names *names, struct qs_job_metrics *ret, struct qs_err *err)
{
    struct qs_metric_list list = {0};
    *ret = (struct qs_job_metrics){0};
    bool ok = read_runs(r, &job, uid, ret, err) && read_list(r, job, names, &list, err);
    ret->metrics = list.at;
    ret->metric_count = list.count;
    for (size_t i = 0; ok && i < ret->count; i++)
        ok = read_run(r, &list, &ret->at[i], err);
    ok = ok && (!names->names || check_values(ret, err));
    free(list.ids);
    if (!ok)
        qs_job_metrics_free(ret);
    return ok;
}

bool qs_read_job_metrics(struct qs_store_reader *r, int64_t job, const struct qs_metric_names *names,
                         struct qs_job_metrics *ret, struct qs_err *err)
{
    return read_all(r, job, NULL, names, ret, err);
}

bool qs_read_run_metrics(struct qs_store_reader *r, const uint8_t run_uid[16],
                         const struct qs_metric_names *names, struct qs_job_metrics *ret, struct qs_err *err)
{
    return read_all(r, 0, run_uid, names, ret, err);
}

void qs_job_metrics_free(struct qs_job_metrics *metrics)
{
    struct qs_metric_list list = {.at = metrics->metrics, .count = metrics->metric_count};
    for (size_t i = 0; i < metrics->count; i++) {
        struct qs_run_metrics *run = &metrics->at[i];
        for (size_t m = 0; run->values && m < metrics->metric_count; m++)
            free(run->values[m].at);
        free(run->values);
    }
    free(metrics->at);
    qs_metric_list_done(&list);
    *metrics = (struct qs_job_metrics){0};
}

static int by_uid(const void *key, const void *one)
{
    const struct qs_run_metrics *run = one;
    return memcmp(key, run->uid, sizeof run->uid);
}

const struct qs_run_metrics *qs_job_metrics_find(const struct qs_job_metrics *metrics,
                                                 const uint8_t run_uid[16])
{
    return metrics->count > 0 ? bsearch(run_uid, metrics->at, metrics->count, sizeof *metrics->at, by_uid)
                              : NULL;
}
