/* What the statistics see of a job: per run the accepted durations, those that are softly tainted, and means
 * of rusage. */
#include <math.h>
#include <stdlib.h>

#include "store/read.h"
#include "store/read_util.h"
#include "store/reader.h"

static const char runs_sql[] =
    "SELECT r.id, r.uid, r.arm_idx, r.point_idx, r.block, r.pos, r.attempt, r.taint, r.state, "
    "coalesce(d.name, ''),"
    " coalesce(d.simulated, 0), coalesce((SELECT min(w.opened_ns) FROM window w WHERE w.run_id = r.id AND "
    "w.phase = 1), 0), r.warmup_n, json_extract(r.harness, '$.evals'), coalesce(e.id, 0), coalesce(b.id, 0),"
    " coalesce((SELECT sum(max(g.decided_ns - g.began_ns, 0)) FROM window w JOIN gate g ON g.window_id = w.id"
    "  WHERE w.run_id = r.id AND w.traced = 0), 0),"
    " (SELECT substr(g.busiest, 1, instr(g.busiest || '[', '[') - 1) FROM window w JOIN gate g ON "
    "g.window_id = w.id"
    "  WHERE w.run_id = r.id AND w.traced = 0 AND g.busiest <> '' ORDER BY g.decided_ns - g.began_ns DESC "
    "LIMIT 1)"
    " FROM run r LEFT JOIN session e ON e.id = r.session_id LEFT JOIN boot b ON b.id = e.boot_id"
    " LEFT JOIN device d ON d.id = b.device_id"
    " WHERE r.job_id = ? AND r.block >= 1 ORDER BY r.point_idx, d.name, r.block, r.pos, r.attempt, r.id";

static const char iterations_sql[] = "SELECT w.taint | t.taint, t.duration_ns, w.evals, t.i FROM window w "
                                     "JOIN iteration t ON t.window_id = w.id"
                                     " WHERE w.run_id = ? AND w.phase = 1 ORDER BY w.first_seq, w.id, t.i";

static const char rusage_sql[] =
    "SELECT avg(u.user_time_us), avg(u.system_time_us), max(u.max_rss_bytes) FROM window w"
    " JOIN iteration t ON t.window_id = w.id JOIN iteration_rusage u ON u.window_id = t.window_id AND u.i = "
    "t.i"
    " WHERE w.run_id = ? AND w.phase = 1 AND (w.taint | t.taint) & ? = 0";

enum { SOFT = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK };

struct run_keys {
    int64_t *at;
    size_t count;
};

static int64_t take_sample(struct qs_stmt *s, struct qs_sample *sample)
{
    *sample = (struct qs_sample){.user_us_mean = NAN, .system_us_mean = NAN, .rss_max_bytes = NAN};
    int64_t id = qs_stmt_get_int(s);
    qs_stmt_get_blob(s, sample->run_uid, sizeof sample->run_uid);
    sample->arm = (uint32_t)qs_stmt_get_int(s);
    sample->point = (uint32_t)qs_stmt_get_int(s);
    sample->block = (uint32_t)qs_stmt_get_int(s);
    sample->pos = (uint32_t)qs_stmt_get_int(s);
    sample->attempt = (uint32_t)qs_stmt_get_int(s);
    sample->taint = (uint32_t)qs_stmt_get_int(s);
    sample->taints_seen = sample->taint;
    sample->state = qs_read_run_state(qs_stmt_get_text(s));
    sample->device = qs_stmt_dup_text(s);
    sample->simulated = qs_stmt_get_int(s) != 0;
    sample->opened_ns = qs_stmt_get_int(s);
    sample->warmup_n = (size_t)qs_stmt_get_int(s);
    sample->evals_json = qs_stmt_dup_text(s);
    sample->session = qs_stmt_get_int(s);
    sample->boot = qs_stmt_get_int(s);
    sample->waited_ns = qs_stmt_get_int(s);
    sample->busiest = qs_stmt_dup_text(s);
    return id;
}

static bool read_runs(struct qs_store_reader *r, int64_t job, struct qs_samples *ret, struct run_keys *keys,
                      struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, runs_sql, err))
        return false;
    qs_stmt_int(&s, job);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        ret->at = qs_read_grow(ret->at, ret->count, sizeof *ret->at);
        keys->at = qs_read_grow(keys->at, keys->count, sizeof *keys->at);
        keys->at[keys->count++] = take_sample(&s, &ret->at[ret->count]);
        ret->count++;
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    return ok;
}

static void add(double **values, size_t *count, double value)
{
    *values = qs_read_grow(*values, *count, sizeof **values);
    (*values)[(*count)++] = value;
}

static bool read_iterations(struct qs_store_reader *r, int64_t run, struct qs_sample *sample,
                            struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, iterations_sql, err))
        return false;
    qs_stmt_int(&s, run);
    size_t warm = 0;
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        uint32_t taint = (uint32_t)qs_stmt_get_int(&s);
        int64_t total_ns = qs_stmt_get_int(&s), evals = qs_stmt_get_int(&s), place = qs_stmt_get_int(&s);
        sample->evals = evals > 0 ? (uint32_t)evals : 1;
        double duration_ns = (double)total_ns / sample->evals;
        if (place >= sample->window_n)
            sample->window_n = (uint32_t)place + 1;
        sample->taints_seen |= taint;
        sample->n_tainted += taint != 0;
        if (taint == 0 && warm < sample->warmup_n)
            warm++;
        else if (taint == 0)
            add(&sample->durations_ns, &sample->n, duration_ns);
        else if ((taint & ~(uint32_t)SOFT) == 0)
            add(&sample->soft_ns, &sample->soft_n, duration_ns);
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    return ok;
}

static bool read_claims(struct qs_store_reader *r, int64_t run, struct qs_sample *sample, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s,
                       "SELECT silence, count(*) FROM window WHERE run_id = ? AND phase = 1 AND n > 0"
                       " GROUP BY silence",
                       err))
        return false;
    qs_stmt_int(&s, run);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    while (ok && row) {
        int64_t claim = qs_stmt_get_int(&s), count = qs_stmt_get_int(&s);
        if (claim >= 0 && claim < QS_SILENCES)
            sample->windows[claim] = (uint32_t)count;
        ok = qs_stmt_step(&s, &row, err);
    }
    qs_stmt_end(&s);
    return ok;
}

/* Of the clean iterations; of the softly tainted ones where there is no clean one, as for the durations. */
static bool read_rusage(struct qs_store_reader *r, int64_t run, struct qs_sample *sample, struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, rusage_sql, err))
        return false;
    qs_stmt_int(&s, run);
    qs_stmt_int(&s, sample->n > 0 ? -1 : ~(int64_t)SOFT);
    bool row = false, ok = qs_stmt_step(&s, &row, err);
    if (row) {
        sample->user_us_mean = qs_stmt_get_double(&s);
        sample->system_us_mean = qs_stmt_get_double(&s);
        sample->rss_max_bytes = qs_stmt_get_double(&s);
    }
    qs_stmt_end(&s);
    return ok;
}

bool qs_read_samples(struct qs_store_reader *r, int64_t job, struct qs_samples *ret, struct qs_err *err)
{
    struct run_keys keys = {0};
    *ret = (struct qs_samples){0};
    bool ok = read_runs(r, job, ret, &keys, err);
    for (size_t i = 0; ok && i < keys.count; i++)
        ok = read_iterations(r, keys.at[i], &ret->at[i], err) &&
             read_claims(r, keys.at[i], &ret->at[i], err) && read_rusage(r, keys.at[i], &ret->at[i], err);
    free(keys.at);
    if (!ok)
        qs_samples_free(ret);
    return ok;
}

void qs_samples_free(struct qs_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        free(samples->at[i].device);
        free(samples->at[i].durations_ns);
        free(samples->at[i].soft_ns);
        free(samples->at[i].evals_json);
        free(samples->at[i].busiest);
    }
    free(samples->at);
    *samples = (struct qs_samples){0};
}
