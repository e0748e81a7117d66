#include "store/read/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/metrics.h"
#include "store/read/util.h"
#include "store/read/reader.h"
#include "store/write/write.h"

#define COLUMNS                                                                                              \
    "SELECT w.id, r.id, r.uid, w.ord, w.attempt, w.taint, w.evals, w.opened_ns, w.closed_ns,"                \
    " g.decided_ns - g.began_ns FROM run r JOIN window w ON w.run_id = r.id"                                 \
    " LEFT JOIN gate g ON g.window_id = w.id WHERE w.phase = 1 AND w.n > 0"
#define ORDER " ORDER BY r.id, w.first_seq, w.id"

static const char job_sql[] = COLUMNS " AND r.job_id = ? AND r.block >= 1" ORDER;
static const char run_sql[] = COLUMNS " AND r.id = ?" ORDER;
static const char evidence_sql[] = "SELECT n.name, e.before, e.after FROM evidence e"
                                   " JOIN sensor n ON n.id = e.sensor_id WHERE e.window_id = ? ORDER BY n.id";
static const char metrics_sql[] = "SELECT m.name, v.i, v.value FROM iteration_metric v"
                                  " JOIN metric m ON m.id = v.metric_id WHERE v.window_id = ?"
                                  " ORDER BY m.id, v.i";
/* Not the processor time, which is a part of what is measured. */
static const char rusage_sql[] =
    "SELECT i, minor_faults, major_faults, voluntary_switches, involuntary_switches, block_in, block_out,"
    " max_rss_bytes FROM iteration_rusage WHERE window_id = ? ORDER BY i";
enum { RUSAGE_KINDS = 7 };
static const char *const rusage_kinds[RUSAGE_KINDS] = {
    "iteration.minor_faults",         "iteration.major_faults", "iteration.voluntary_switches",
    "iteration.involuntary_switches", "iteration.block_in",     "iteration.block_out",
    "iteration.max_rss_bytes"};

static uint32_t kind_of(struct qs_windows *all, const char *name)
{
    for (size_t i = 0; i < all->kind_count; i++)
        if (strcmp(all->kinds[i], name) == 0)
            return (uint32_t)i;
    all->kinds = qs_grow(all->kinds, all->kind_count, sizeof *all->kinds);
    all->kinds[all->kind_count] = qs_strdup(name);
    return (uint32_t)all->kind_count++;
}

static void add_value(struct qs_windows *all, struct qs_window_info *w, const char *kind, double before,
                      double after)
{
    if (isnan(before) && isnan(after))
        return;
    w->values = qs_grow(w->values, w->value_count, sizeof *w->values);
    w->values[w->value_count++] = (struct qs_window_value){kind_of(all, kind), before, after};
}

static void take_window(struct qs_stmt *s, struct qs_windows *all)
{
    int64_t waited_ns = 0;
    all->at = qs_grow(all->at, all->count, sizeof *all->at);
    struct qs_window_info *w = &all->at[all->count++];
    *w = (struct qs_window_info){.id = qs_stmt_get_int(s)};
    w->run = qs_stmt_get_int(s);
    qs_stmt_get_blob(s, w->run_uid, sizeof w->run_uid);
    w->ord = (uint32_t)qs_stmt_get_int(s);
    w->attempt = (uint32_t)qs_stmt_get_int(s);
    w->taint = (uint32_t)qs_stmt_get_int(s);
    w->evals = (uint32_t)qs_stmt_get_int(s);
    w->opened_ns = qs_stmt_get_int(s);
    w->closed_ns = qs_stmt_get_int(s);
    if (qs_stmt_get_maybe(s, &waited_ns))
        add_value(all, w, "gate.wait_ns", (double)waited_ns, (double)waited_ns);
}

static bool read_list(struct qs_store_reader *r, const char *sql, int64_t key, struct qs_windows *all,
                      struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, sql, err))
        return false;
    qs_stmt_int(&s, key);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err))
        take_window(&s, all);
    return ok;
}

static bool read_evidence(struct qs_store_reader *r, struct qs_windows *all, struct qs_window_info *w,
                          struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(&r->db, &s, evidence_sql, err))
        return false;
    qs_stmt_int(&s, w->id);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        QS_FREED char *kind = qs_stmt_dup_text(&s);
        double before = qs_stmt_get_double(&s), after = qs_stmt_get_double(&s);
        add_value(all, w, kind, before, after);
    }
    return ok;
}

/* --- means over the iterations that the run stands on --- */

struct mean {
    double sum;
    size_t n;
};

static void mean_add(struct mean *m, double value)
{
    m->sum += isnan(value) ? 0 : value;
    m->n += isnan(value) ? 0 : 1;
}

static void put_mean(struct qs_windows *all, struct qs_window_info *w, const char *kind, const struct mean *m)
{
    if (m->n > 0)
        add_value(all, w, kind, m->sum / (double)m->n, m->sum / (double)m->n);
}

/* Whether the iteration at this place of the window is one of those. */
static bool is_taken(const struct qs_window_info *w, enum qs_worth taken, uint32_t i)
{
    size_t k = 0, end = w->n;
    while (k < end) {
        size_t mid = k + (end - k) / 2;
        if (w->places[mid] < i)
            k = mid + 1;
        else
            end = mid;
    }
    return k < w->n && w->places[k] == i && w->worth[k] == taken;
}

static bool read_metrics(struct qs_store_reader *r, struct qs_windows *all, struct qs_window_info *w,
                         enum qs_worth taken, struct qs_err *err)
{
    struct qs_stmt s;
    struct mean mean = {0};
    QS_BUF(kind);
    if (!qs_stmt_begin(&r->db, &s, metrics_sql, err))
        return false;
    qs_stmt_int(&s, w->id);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        const char *name = qs_stmt_get_text(&s);
        if (strcmp(kind.data + (kind.len > 0 ? strlen("iteration.") : 0), name) != 0) {
            put_mean(all, w, kind.data, &mean);
            mean = (struct mean){0};
            qs_buf_clear(&kind);
            qs_buf_fmt(&kind, "iteration.%s", name);
        }
        uint32_t i = (uint32_t)qs_stmt_get_int(&s);
        mean_add(&mean, is_taken(w, taken, i) ? qs_stmt_get_double(&s) : NAN);
    }
    put_mean(all, w, kind.data, &mean);
    return ok;
}

static bool read_rusage(struct qs_store_reader *r, struct qs_windows *all, struct qs_window_info *w,
                        enum qs_worth taken, struct qs_err *err)
{
    struct qs_stmt s;
    struct mean means[RUSAGE_KINDS] = {{0}};
    if (!qs_stmt_begin(&r->db, &s, rusage_sql, err))
        return false;
    qs_stmt_int(&s, w->id);
    bool ok = true;
    while (qs_stmt_next(&s, &ok, err)) {
        bool is_one = is_taken(w, taken, (uint32_t)qs_stmt_get_int(&s));
        for (size_t k = 0; is_one && k < RUSAGE_KINDS; k++)
            mean_add(&means[k], qs_stmt_get_double(&s));
    }
    for (size_t k = 0; k < RUSAGE_KINDS; k++)
        put_mean(all, w, rusage_kinds[k], &means[k]);
    return ok;
}

struct cursor { /* among the windows of a run, which come in the order of their iterations */
    struct qs_window_info *w;
    const struct qs_window_info *end;
};

static void take_iteration(void *user, const struct qs_value *v)
{
    struct cursor *at = user;
    while (at->w < at->end && at->w->id != v->window)
        at->w++;
    if (at->w == at->end)
        return;
    struct qs_window_info *w = at->w;
    w->durations_ns = qs_grow(w->durations_ns, w->n, sizeof *w->durations_ns);
    w->worth = qs_grow(w->worth, w->n, sizeof *w->worth);
    w->places = qs_grow(w->places, w->n, sizeof *w->places);
    w->places[w->n] = v->i;
    w->durations_ns[w->n] = v->value;
    w->worth[w->n++] = v->worth;
}

/* The windows of a run follow each other. */
static enum qs_worth taken_of_run(const struct qs_window_info *w, const struct qs_window_info *end)
{
    bool any = false;
    for (int64_t run = w->run; w < end && w->run == run; w++)
        for (size_t i = 0; i < w->n; i++)
            any = any || w->worth[i] == QS_WORTH_COUNTS;
    return qs_worth_taken(!any);
}

static bool read_all(struct qs_store_reader *r, const char *sql, int64_t key, struct qs_windows *ret,
                     struct qs_err *err)
{
    *ret = (struct qs_windows){0};
    enum qs_worth taken = QS_WORTH_COUNTS;
    bool ok = read_list(r, sql, key, ret, err);
    for (size_t i = 0; ok && i < ret->count; i++) {
        struct qs_window_info *w = &ret->at[i];
        struct cursor at = {.w = w, .end = ret->at + ret->count};
        if (i == 0 || w->run != w[-1].run) {
            ok = qs_read_values(r, w->run, 0, take_iteration, &at, err);
            taken = taken_of_run(w, at.end);
        }
        ok = ok && read_evidence(r, ret, w, err) && read_metrics(r, ret, w, taken, err) &&
             read_rusage(r, ret, w, taken, err);
    }
    if (!ok)
        qs_windows_free(ret);
    return ok;
}

bool qs_read_job_windows(struct qs_store_reader *r, int64_t job, struct qs_windows *ret, struct qs_err *err)
{
    return read_all(r, job_sql, job, ret, err);
}

bool qs_read_run_windows(struct qs_store_reader *r, const uint8_t run_uid[16], struct qs_windows *ret,
                         struct qs_err *err)
{
    int64_t run = 0;
    *ret = (struct qs_windows){0};
    return qs_find_run(&r->db, run_uid, &run, err) && read_all(r, run_sql, run, ret, err);
}

void qs_windows_free(struct qs_windows *windows)
{
    for (size_t i = 0; i < windows->count; i++) {
        free(windows->at[i].durations_ns);
        free(windows->at[i].worth);
        free(windows->at[i].places);
        free(windows->at[i].values);
    }
    for (size_t i = 0; i < windows->kind_count; i++)
        free(windows->kinds[i]);
    free(windows->at);
    free(windows->kinds);
    *windows = (struct qs_windows){0};
}
