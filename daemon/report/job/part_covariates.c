/* What rises and falls with the times: rank correlation of everything that was read around the windows with
 * the medians of windows and of runs. Association, and no more: most of what is read drifts with time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/job/parts.h"
#include "stats/multi.h"
#include "stats/dependence.h"

/* What is compared of a kind. LEVEL: the mean of both readings. Of sums that only grow, what they grew by:
 * PER_SECOND of the window where they grow with time by themselves, PER_ITERATION where they grow with the
 * work. The other way round a long window alone would make an association. */
enum per { LEVEL, PER_SECOND, PER_ITERATION };

struct row {
    const char *name; /* borrowed */
    enum per per;
    bool of_runs;
    size_t n;
    double rho, p, p_bh;
};

struct table {
    struct row *rows; /* owned */
    size_t count, constant, too_few;
};

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool ends(const char *s, const char *with)
{
    size_t n = strlen(s), m = strlen(with);
    return n >= m && strcmp(s + n - m, with) == 0;
}

/* What tells of the link and not of the machine. */
static bool is_left_out(const char *kind)
{
    return begins(kind, "host.") || begins(kind, "agent.tcp.") || begins(kind, "agent.link.");
}

static enum per per_of(const char *kind)
{
    static const struct {
        const char *ends_in;
        enum per per;
    } sums[] = {{"_ticks", PER_SECOND},       {".some_us", PER_SECOND}, {"_delay_ns", PER_SECOND},
                {"_switches", PER_ITERATION}, {".count", PER_SECOND},   {"agent.cpu_us", PER_ITERATION}};
    for (size_t i = 0; i < sizeof sums / sizeof *sums && !begins(kind, "iteration."); i++)
        if (ends(kind, sums[i].ends_in))
            return sums[i].per;
    return LEVEL;
}

static double growth(const struct qs_window_info *w, const struct qs_window_value *v, enum per per)
{
    double seconds = (double)(w->closed_ns - w->opened_ns) / 1e9;
    double over = per == PER_SECOND ? seconds : (double)w->n;
    /* Rounded, so that the last bit of a division does not rank equal rates. */
    return over > 0 && v->after >= v->before ? (double)(float)((v->after - v->before) / over) : NAN;
}

static double value_of(const struct qs_window_info *w, size_t kind, enum per per)
{
    for (size_t i = 0; i < w->value_count; i++) {
        const struct qs_window_value *v = &w->values[i];
        if (v->kind != kind)
            continue;
        if (per != LEVEL)
            return growth(w, v, per);
        if (isnan(v->before))
            return v->after;
        return isnan(v->after) ? v->before : v->before + (v->after - v->before) / 2;
    }
    return NAN;
}

static void add_row(struct table *t, struct row row, const double *x, const double *y)
{
    struct qs_spearman s;
    enum qs_status status = qs_spearman(x, y, row.n, &s);
    t->constant += status == QS_EDEGENERATE;
    t->too_few += status == QS_ETOOFEW || status == QS_ENODATA;
    if (status != QS_OK)
        return;
    t->rows = qs_grow(t->rows, t->count, sizeof *t->rows);
    row.rho = s.rho;
    row.p = row.p_bh = s.p;
    t->rows[t->count++] = row;
}

struct pairs { /* owned; room for every window */
    double *x, *y, *sum;
    size_t *windows;
};

/* A run has the mean over its windows. */
static void add_runs(struct table *t, struct row row, const double *of_window,
                     const struct qs_part_windows *w, const struct qs_part_run *runs, size_t count,
                     struct pairs *p)
{
    for (size_t r = 0; r < count; r++) {
        p->sum[r] = 0;
        p->windows[r] = 0;
    }
    for (size_t i = 0; i < w->count; i++) {
        p->sum[w->at[i].run] += isfinite(of_window[i]) ? of_window[i] : 0;
        p->windows[w->at[i].run] += isfinite(of_window[i]) ? 1 : 0;
    }
    row.of_runs = true;
    for (size_t r = 0; r < count; r++) {
        if (p->windows[r] == 0 || !isfinite(runs[r].median))
            continue;
        p->x[row.n] = p->sum[r] / (double)p->windows[r];
        p->y[row.n++] = runs[r].median;
    }
    add_row(t, row, p->x, p->y);
}

static void add_windows(struct table *t, struct row row, const double *of_window,
                        const struct qs_part_windows *w, struct pairs *p)
{
    for (size_t i = 0; i < w->count; i++) {
        if (!isfinite(of_window[i]))
            continue;
        p->x[row.n] = of_window[i];
        p->y[row.n++] = w->at[i].median_ns;
    }
    add_row(t, row, p->x, p->y);
}

static void fill(struct table *t, const struct qs_part_windows *w, const struct qs_part_run *runs,
                 size_t count)
{
    size_t most = w->count + count + 1;
    struct pairs p = {.x = qs_calloc(most, sizeof *p.x),
                      .y = qs_calloc(most, sizeof *p.y),
                      .sum = qs_calloc(most, sizeof *p.sum),
                      .windows = qs_calloc(most, sizeof *p.windows)};
    double *v = qs_calloc(most, sizeof *v);
    for (size_t kind = 0; kind <= w->all->kind_count; kind++) {
        bool time = kind == w->all->kind_count;
        struct row row = {.name = time ? "time" : w->all->kinds[kind]};
        if (is_left_out(row.name))
            continue;
        row.per = per_of(row.name);
        for (size_t i = 0; i < w->count; i++)
            v[i] = time ? (double)w->at[i].info->opened_ns : value_of(w->at[i].info, kind, row.per);
        if (w->count != count) /* else they are the same */
            add_windows(t, row, v, w, &p);
        if (count > 1)
            add_runs(t, row, v, w, runs, count, &p);
    }
    free(v);
    free(p.x);
    free(p.y);
    free(p.sum);
    free(p.windows);
}

static int by_strength(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    double dx = fabs(x->rho), dy = fabs(y->rho);
    if (dx != dy)
        return dx > dy ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (int)x->of_runs - (int)y->of_runs;
}

static void adjust(struct table *t)
{
    if (t->count == 0)
        return;
    double *p = qs_calloc(t->count, sizeof *p);
    for (size_t i = 0; i < t->count; i++)
        p[i] = t->rows[i].p;
    if (qs_adjust(p, t->count, QS_MULTI_BH, p) == QS_OK)
        for (size_t i = 0; i < t->count; i++)
            t->rows[i].p_bh = p[i];
    qsort(t->rows, t->count, sizeof *t->rows, by_strength);
    free(p);
}

static const char *const per_words[] = {
    [LEVEL] = NULL, [PER_SECOND] = "second", [PER_ITERATION] = "iteration"};

static void put_row(struct qs_json *j, const struct row *row)
{
    qs_json_object(j);
    qs_json_kstring(j, "name", row->name);
    qs_json_kstring(j, "per", per_words[row->per]);
    qs_json_kstring(j, "of", row->of_runs ? "run" : "window");
    qs_json_kint(j, "n", (int64_t)row->n);
    qs_json_kdouble(j, "rho", row->rho);
    qs_json_kdouble(j, "p", row->p);
    qs_json_kdouble(j, "p_bh", row->p_bh);
    qs_json_object_end(j);
}

void qs_put_part_covariates(struct qs_json *j, const struct qs_part_windows *w,
                            const struct qs_part_run *runs, size_t count)
{
    struct table t = {0};
    fill(&t, w, runs, count);
    adjust(&t);
    qs_json_kobject(j, "covariates");
    qs_json_kstring(j, "method", "Spearman's rank correlation, p by Student's t, adjusted over all rows");
    qs_json_kstring(j, "adjusted", qs_multi_name(QS_MULTI_BH));
    qs_json_kstring(j, "meaning", "association, not cause");
    qs_json_kint(j, "windows", (int64_t)w->count);
    qs_json_kint(j, "runs", (int64_t)count);
    qs_json_kint(j, "n_min", QS_SPEARMAN_N_MIN);
    qs_json_kint(j, "constant", (int64_t)t.constant);
    qs_json_kint(j, "too_few", (int64_t)t.too_few);
    qs_json_karray(j, "rows");
    for (size_t i = 0; i < t.count; i++)
        put_row(j, &t.rows[i]);
    qs_json_array_end(j);
    qs_json_object_end(j);
    free(t.rows);
}
