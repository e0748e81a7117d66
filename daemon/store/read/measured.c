/* What the statistics see of a job: of each run the durations that it stands on, and what it used. */
#include <math.h>
#include <stdlib.h>

#include "store/read/read.h"
#include "store/read/util.h"
#include "store/read/reader.h"
#include "store/values.h"

static const char runs_sql[] =
    "SELECT r.id, r.uid, r.arm_idx, r.point_idx, r.block, r.pos, r.attempt, " QS_RUN_SUPERSEDED
    ", r.taint, r.state, "
    "coalesce(d.name, ''),"
    " coalesce(d.simulated, 0), coalesce((SELECT min(w.opened_ns) FROM window w WHERE w.run_id = r.id AND "
    "w.phase = 1), 0), json_extract(r.harness, '$.evals'), coalesce(e.id, 0), coalesce(b.id, 0),"
    " coalesce((SELECT sum(max(g.decided_ns - g.began_ns, 0)) FROM window w JOIN gate g ON g.window_id = w.id"
    "  WHERE w.run_id = r.id AND w.traced = 0), 0),"
    " (SELECT substr(g.busiest, 1, instr(g.busiest || '[', '[') - 1) FROM window w JOIN gate g ON "
    "g.window_id = w.id"
    "  WHERE w.run_id = r.id AND w.traced = 0 AND g.busiest <> '' ORDER BY g.decided_ns - g.began_ns DESC "
    "LIMIT 1), coalesce(max(r.ended_wall_ns - r.started_wall_ns, 0), 0)"
    " FROM run r LEFT JOIN session e ON e.id = r.session_id LEFT JOIN boot b ON b.id = e.boot_id"
    " LEFT JOIN device d ON d.id = b.device_id"
    " WHERE r.job_id = ? AND r.block >= 1 ORDER BY r.point_idx, d.name, r.block, r.pos, r.attempt, r.id";

static void take_run(struct qs_stmt *s, struct qs_measured_run *run)
{
    *run = (struct qs_measured_run){.id = qs_stmt_get_int(s)};
    qs_stmt_get_blob(s, run->run_uid, sizeof run->run_uid);
    run->arm = (uint32_t)qs_stmt_get_int(s);
    run->point = (uint32_t)qs_stmt_get_int(s);
    run->block = (uint32_t)qs_stmt_get_int(s);
    run->pos = (uint32_t)qs_stmt_get_int(s);
    run->attempt = (uint32_t)qs_stmt_get_int(s);
    run->superseded = qs_stmt_get_int(s) != 0;
    run->taint = (uint32_t)qs_stmt_get_int(s);
    run->state = qs_read_run_state(qs_stmt_get_text(s));
    run->device = qs_stmt_dup_text(s);
    run->simulated = qs_stmt_get_int(s) != 0;
    run->opened_ns = qs_stmt_get_int(s);
    run->evals_json = qs_stmt_dup_text(s);
    run->session = qs_stmt_get_int(s);
    run->boot = qs_stmt_get_int(s);
    run->waited_ns = qs_stmt_get_int(s);
    run->busiest = qs_stmt_dup_text(s);
    run->taken_ns = qs_stmt_get_int(s);
}

static bool read_runs(struct qs_store_reader *r, int64_t job, struct qs_measured_runs *ret,
                      struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, runs_sql, err))
        return false;
    qs_stmt_int(&s, job);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        ret->at = qs_grow(ret->at, ret->count, sizeof *ret->at);
        take_run(&s, &ret->at[ret->count++]);
    }
    return ok;
}

static bool read_claims(struct qs_store_reader *r, struct qs_measured_run *run, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT silence, count(*), sum(taint <> 0), sum(taint <> 0 AND again IS NOT 1) FROM"
                       " (SELECT silence, taint, phase, traced, n,"
                       "  lead(attempt) OVER next > 0 AND lead(ord) OVER next = ord + 1 AS again"
                       "  FROM window WHERE run_id = ? WINDOW next AS (ORDER BY ord))"
                       " WHERE phase = 1 AND traced = 0 AND n > 0 GROUP BY silence",
                       err))
        return false;
    qs_stmt_int(&s, run->id);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        int64_t claim = qs_stmt_get_int(&s), count = qs_stmt_get_int(&s);
        if (claim >= 0 && claim < QS_SILENCES)
            run->windows[claim] = (uint32_t)count;
        run->windows_tainted += (uint32_t)qs_stmt_get_int(&s);
        run->windows_left += (uint32_t)qs_stmt_get_int(&s);
    }
    return ok;
}

enum { USER, SYSTEM, RSS, USED }; /* the first columns of rusage */

struct usage {
    double sum[USED], max[USED]; /* max: NaN while there is none */
    size_t n[USED];
};

struct reading { /* one pass over a run's iterations */
    struct qs_measured_run *run;
    struct usage usage[2]; /* of those that count, and of the disturbed ones */
};

static void take_iteration(void *user, const struct qs_value *v)
{
    struct reading *g = user;
    g->run->evals = v->evals;
    if (v->i >= g->run->window_n)
        g->run->window_n = v->i + 1;
    qs_values_take(&g->run->values, v);
    if (v->worth != QS_WORTH_COUNTS && v->worth != QS_WORTH_DISTURBED)
        return;
    struct usage *u = &g->usage[v->worth == QS_WORTH_DISTURBED];
    for (int c = 0; c < USED; c++) {
        if (isnan(v->usage[c]))
            continue;
        u->sum[c] += v->usage[c];
        u->max[c] = fmax(u->max[c], v->usage[c]);
        u->n[c]++;
    }
}

static bool read_iterations(struct qs_store_reader *r, struct qs_measured_run *run, struct qs_err *err)
{
    const struct usage none = {.max = {NAN, NAN, NAN}};
    struct reading g = {.run = run, .usage = {none, none}};
    bool ok = qs_read_values(r, run->id, QS_VALUES_USED, take_iteration, &g, err);
    qs_values_of_state(&run->values, run->state);
    const struct usage *u = &g.usage[run->values.disturbed];
    run->user_us_mean = u->n[USER] > 0 ? u->sum[USER] / (double)u->n[USER] : NAN;
    run->system_us_mean = u->n[SYSTEM] > 0 ? u->sum[SYSTEM] / (double)u->n[SYSTEM] : NAN;
    run->rss_max_bytes = u->max[RSS];
    return ok;
}

bool qs_read_measured_runs(struct qs_store_reader *r, int64_t job, struct qs_measured_runs *ret,
                           struct qs_err *err)
{
    *ret = (struct qs_measured_runs){0};
    bool ok = read_runs(r, job, ret, err);
    for (size_t i = 0; ok && i < ret->count; i++)
        ok = read_iterations(r, &ret->at[i], err) && read_claims(r, &ret->at[i], err);
    if (!ok)
        qs_measured_runs_free(ret);
    return ok;
}

void qs_measured_runs_free(struct qs_measured_runs *measured)
{
    for (size_t i = 0; i < measured->count; i++) {
        free(measured->at[i].device);
        free(measured->at[i].values.at);
        free(measured->at[i].evals_json);
        free(measured->at[i].busiest);
    }
    free(measured->at);
    *measured = (struct qs_measured_runs){0};
}
