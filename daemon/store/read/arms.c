#include "store/read/arms.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "store/ids.h"
#include "store/read/util.h"
#include "store/read/values.h"
#include "store/read/reader.h"
#include "store/write/write.h"

static const char runs_sql[] =
    "SELECT r.id, r.uid, r.job_id, coalesce(r.session_id, 0), coalesce(e.env_id, 0),"
    " coalesce(b.fingerprint_id, 0), r.arm_idx, r.point_idx, r.block, r.pos, r.attempt, " QS_RUN_SUPERSEDED
    ", r.taint, r.state,"
    " coalesce(d.simulated, 0), m.name, p.params, " QS_SQL_CONTROLS ", " QS_SQL_CONDITIONS
    ", jp.label, a.name, d.name, u.label,"
    " u.content, r.exe_sha256, v.body, f.body, j.state IN ('queued', 'running')"
    " FROM run r JOIN job j ON j.id = r.job_id JOIN arm a ON a.job_id = r.job_id AND a.idx = r.arm_idx"
    " JOIN job_point jp ON jp.job_id = r.job_id AND jp.idx = r.point_idx JOIN point p ON p.id = jp.point_id"
    " JOIN benchmark m ON m.id = p.benchmark_id LEFT JOIN build u ON u.id = a.build_id"
    " LEFT JOIN session e ON e.id = r.session_id LEFT JOIN env v ON v.id = e.env_id"
    " LEFT JOIN boot b ON b.id = e.boot_id LEFT JOIN env f ON f.id = b.fingerprint_id"
    " LEFT JOIN device d ON d.id = b.device_id"
    " WHERE r.block >= 1 AND r.job_id BETWEEN ?1 AND iif(?1 = 0, 9223372036854775807, ?1) AND (?2 IS NULL OR "
    "a.name = ?2)"
    " AND (?3 IS NULL OR u.label = ?3 OR (?6 IS NOT NULL AND u.id BETWEEN"
    "  (SELECT id FROM build WHERE label = ?6) AND (SELECT id FROM build WHERE label = ?7)"
    "  AND NOT EXISTS (SELECT 1 FROM build WHERE label = ?3)))"
    " AND (?5 = 0 OR (e.started_wall_ns >= ?4 AND e.started_wall_ns < ?5))"
    " ORDER BY r.job_id, r.point_idx, d.name, r.block, r.pos, r.attempt, r.id";

struct reading {
    struct qs_store_reader *r;
    struct qs_arm_runs *ret;
    struct qs_ids runs, running;   /* owned: what was met: runs, jobs that have not ended */
    struct qs_metric_list metrics; /* owned; given to the result at the end */
};

static char *dup_hex(struct qs_stmt *s)
{
    uint8_t bytes[32];
    if (!qs_stmt_get_blob(s, bytes, sizeof bytes))
        return NULL;
    char *text = qs_malloc(2 * sizeof bytes + 1);
    qs_hex(bytes, sizeof bytes, text);
    return text;
}

static void take_run(struct qs_stmt *s, struct qs_arm_run *run)
{
    *run = (struct qs_arm_run){.id = qs_stmt_get_int(s)};
    qs_stmt_get_blob(s, run->uid, sizeof run->uid);
    run->job = qs_stmt_get_int(s);
    run->session = qs_stmt_get_int(s);
    run->env = qs_stmt_get_int(s);
    run->host = qs_stmt_get_int(s);
    run->arm = (uint32_t)qs_stmt_get_int(s);
    run->point = (uint32_t)qs_stmt_get_int(s);
    run->block = (uint32_t)qs_stmt_get_int(s);
    run->pos = (uint32_t)qs_stmt_get_int(s);
    run->attempt = (uint32_t)qs_stmt_get_int(s);
    run->superseded = qs_stmt_get_int(s) != 0;
    run->taints = (uint32_t)qs_stmt_get_int(s);
    run->state = qs_read_run_state(qs_stmt_get_text(s));
    run->simulated = qs_stmt_get_int(s) != 0;
    char **const texts[] = {&run->benchmark, &run->params_json, &run->controls_json, &run->conditions_json,
                            &run->label,     &run->arm_name,    &run->device,        &run->build};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = qs_stmt_dup_text(s);
    run->build_content = dup_hex(s);
    run->exe_sha256 = dup_hex(s);
    run->env_json = qs_stmt_dup_text(s);
    run->host_json = qs_stmt_dup_text(s);
}

static void run_done(struct qs_arm_run *run, size_t metrics)
{
    for (size_t m = 0; run->values && m < metrics; m++)
        free(run->values[m].at);
    free(run->values);
    char *const texts[] = {run->benchmark,     run->params_json, run->controls_json, run->conditions_json,
                           run->label,         run->arm_name,    run->device,        run->build,
                           run->build_content, run->exe_sha256,  run->env_json,      run->host_json};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

static void note_running(struct reading *g, int64_t job)
{
    struct qs_arm_runs *ret = g->ret;
    if (!qs_ids_add(&g->running, job))
        return;
    ret->running = qs_grow(ret->running, ret->running_count, sizeof *ret->running);
    ret->running[ret->running_count++] = job;
}

static bool read_runs(struct reading *g, const struct qs_run_filter *filter, struct qs_err *err)
{
    struct qs_stmt s;
    struct qs_arm_runs *ret = g->ret;
    if (!qs_stmt_begin(&g->r->db, &s, runs_sql, err))
        return false;
    qs_stmt_int(&s, filter->job);
    qs_stmt_text(&s, filter->arm);
    qs_stmt_text(&s, filter->build);
    qs_stmt_int(&s, filter->from_wall_ns);
    qs_stmt_int(&s, filter->until_wall_ns);
    qs_stmt_text(&s, filter->build_from);
    qs_stmt_text(&s, filter->build_to);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        struct qs_arm_run *run = &ret->at[ret->count];
        take_run(&s, run);
        bool running = qs_stmt_get_int(&s) != 0;
        if (running)
            note_running(g, run->job);
        if (running || !qs_ids_add(&g->runs, run->id))
            run_done(run, 0);
        else
            ret->count++;
    }
    return ok;
}

static bool read_values(struct reading *g, struct qs_arm_run *run, struct qs_err *err)
{
    bool ok = true;
    run->values = qs_calloc(g->metrics.count, sizeof *run->values);
    for (size_t m = 0; ok && m < g->metrics.count; m++)
        ok = qs_read_run_values(g->r, run->id, run->state, g->metrics.ids[m], &run->values[m], err);
    run->taints |= run->values[0].taints;
    return ok;
}

static bool read_metrics(struct reading *g, const struct qs_metric_names *names, struct qs_err *err)
{
    qs_metric_list_duration(&g->metrics);
    if (!names->names)
        return qs_metric_list_add(g->r, NULL, 0, &g->metrics, err);
    for (size_t i = 0; i < names->count; i++)
        if (!qs_metric_list_add(g->r, names->names[i], 0, &g->metrics, err))
            return false;
    return true;
}

static bool find_id(struct qs_store_reader *r, const char *sql, int64_t job, const char *name, int64_t *ret,
                    struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    *ret = 0;
    if (!qs_stmt_begin(&r->db, &s, sql, err))
        return false;
    if (job > 0)
        qs_stmt_int(&s, job);
    if (name)
        qs_stmt_text(&s, name);
    return qs_stmt_one(&s, ret, &found, err);
}

static bool find_build(struct qs_store_reader *r, const char *label, int64_t *ret, struct qs_err *err)
{
    static const char sql[] = "SELECT id FROM build WHERE label = ?1";
    return find_id(r, sql, 0, label, ret, err);
}

struct labels {
    char **at; /* owned */
    size_t count;
};

static bool read_labels(struct qs_store_reader *r, struct labels *ret, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, "SELECT label FROM build", err))
        return false;
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        ret->at[ret->count++] = qs_stmt_dup_text(&s);
    }
    return ok;
}

static bool no_build(struct qs_store_reader *r, const char *label, struct qs_err *err)
{
    struct labels labels = {0};
    if (read_labels(r, &labels, err)) {
        const char *near = qs_nearest(label, (const char *const *)labels.at, labels.count);
        const char *ask = near ? ", did you mean `" : "", *end = near ? "`?" : ";";
        qs_fail(err, QS_E_NOT_FOUND, "there is no build `%.60s`%s%.60s%s `quiesce builds` lists them", label,
                ask, near ? near : "", end);
    }
    for (size_t i = 0; i < labels.count; i++)
        free(labels.at[i]);
    free(labels.at);
    return false;
}

static bool check_build(struct qs_store_reader *r, const struct qs_run_filter *filter, struct qs_err *err)
{
    int64_t whole = 0, from = 0, to = 0;
    if (!find_build(r, filter->build, &whole, err) ||
        (filter->build_from &&
         (!find_build(r, filter->build_from, &from, err) || !find_build(r, filter->build_to, &to, err))))
        return false;
    if (whole > 0 || (from > 0 && to > 0 && from <= to))
        return true;
    if (from > to && to > 0)
        return qs_fail(err, QS_E_USAGE, "the build `%.60s` came after `%.60s`: write build:%.60s..%.60s",
                       filter->build_from, filter->build_to, filter->build_to, filter->build_from);
    return no_build(r,
                    !filter->build_from ? filter->build
                    : from == 0         ? filter->build_from
                                        : filter->build_to,
                    err);
}

/* A name that is wrong must not look like one that has no runs. */
static bool check_filter(struct qs_store_reader *r, const struct qs_run_filter *filter, struct qs_err *err)
{
    static const char find_job[] = "SELECT id FROM job WHERE id = ?1";
    static const char find_arm[] = "SELECT idx + 1 FROM arm WHERE job_id = ?1 AND name = ?2";
    int64_t job = 0, arm = 0;
    if (filter->job > 0 && !find_id(r, find_job, filter->job, NULL, &job, err))
        return false;
    if (filter->job > 0 && job == 0)
        return qs_fail(err, QS_E_NOT_FOUND, "there is no job %lld", (long long)filter->job);
    if (filter->build && !check_build(r, filter, err))
        return false;
    if (filter->job == 0 || !filter->arm)
        return true;
    return find_id(r, find_arm, filter->job, filter->arm, &arm, err) &&
           (arm > 0 ||
            qs_fail(err, QS_E_NOT_FOUND, "job %lld has no arm `%.60s`", (long long)filter->job, filter->arm));
}

bool qs_read_arm_runs(struct qs_store_reader *r, const struct qs_run_filter *filters, size_t count,
                      const struct qs_metric_names *names, struct qs_arm_runs *ret, struct qs_err *err)
{
    struct reading g = {.r = r, .ret = ret};
    *ret = (struct qs_arm_runs){0};
    bool ok = read_metrics(&g, names, err);
    for (size_t i = 0; ok && i < count; i++)
        ok = check_filter(r, &filters[i], err) && read_runs(&g, &filters[i], err);
    ret->metrics = g.metrics.at;
    ret->metric_count = g.metrics.count;
    for (size_t i = 0; ok && i < ret->count; i++)
        ok = read_values(&g, &ret->at[i], err);
    qs_ids_done(&g.runs);
    qs_ids_done(&g.running);
    free(g.metrics.ids);
    if (!ok)
        qs_arm_runs_free(ret);
    return ok;
}

void qs_arm_runs_free(struct qs_arm_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        run_done(&runs->at[i], runs->metric_count);
    struct qs_metric_list list = {.at = runs->metrics, .count = runs->metric_count};
    qs_metric_list_done(&list);
    free(runs->at);
    free(runs->running);
    *runs = (struct qs_arm_runs){0};
}
