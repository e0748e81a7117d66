/* Each allocation of each statistic fails once: QS_ENOMEM and no other number, or the same numbers where it
 * can do without. Linked with wrappers of malloc, calloc and realloc. */
#include "answers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/stopping.h"
#include "stats/drift.h"
#include "stats/hier.h"
#include "stats/mixed.h"
#include "stats/mixed_median.h"
#include "stats/modality.h"
#include "stats/multi.h"
#include "stats/normality.h"
#include "stats/opinion.h"
#include "stats/outlier.h"
#include "stats/pelt.h"
#include "stats/rancid.h"
#include "stats/variance.h"
#include "stats/rng.h"
#include "stats/rule.h"
#include "stats/dependence.h"
#include "stats/steps.h"
#include "stats/stepfit.h"
#include "stats/trend.h"
#include "stats/verdict.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

static struct {
    size_t asked, refused; /* which one, from 0; SIZE_MAX: none */
} heap = {0, SIZE_MAX};

static bool is_refused(void)
{
    return heap.asked++ == heap.refused;
}

void *__wrap_malloc(size_t bytes)
{
    return is_refused() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes)
{
    return is_refused() ? NULL : __real_realloc(old, bytes);
}

enum { N = 40, TRIED = 60 };

struct data {
    double x[N], y[N];
    bool disturbed[N];
};

static struct data data_of(bool tied)
{
    struct data d;
    struct qs_rng rng;
    qs_rng_seed(&rng, 5, tied);
    for (size_t i = 0; i < N; i++) {
        d.x[i] = 100 + 10 * qs_rng_unit(&rng) + (i < N / 2 ? 0 : 30);
        d.y[i] = 110 + 10 * qs_rng_unit(&rng);
        if (tied)
            d.x[i] = floor(d.x[i]), d.y[i] = floor(d.y[i]);
        d.disturbed[i] = qs_rng_below(&rng, 2) == 0;
    }
    return d;
}

static bool same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static bool alike(const struct answer *a, const struct answer *b)
{
    bool same = a->status == b->status && a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = same_number(a->number[i].v, b->number[i].v);
    return same;
}

/* What had been found before the memory ended may stand, but nothing else. */
static bool says_no_other(const struct answer *whole, const struct answer *a)
{
    bool known = a->count <= whole->count;
    for (size_t i = 0; known && i < a->count; i++)
        known =
            isnan(a->number[i].v) || a->number[i].v == 0 || same_number(whole->number[i].v, a->number[i].v);
    return known;
}

static void try_methods(const struct method *methods, const struct data *d)
{
    for (const struct method *m = methods; m->name; m++) {
        struct answer whole = {.status = QS_OK};
        heap.asked = 0;
        m->ask(d->x, N, d->y, N, &whole);
        for (size_t k = 0, all = heap.asked; k < all && k < TRIED; k++) {
            struct answer a = {.status = QS_OK};
            heap.asked = 0;
            heap.refused = k;
            m->ask(d->x, N, d->y, N, &a);
            heap.refused = SIZE_MAX;
            if (a.status == QS_ENOMEM ? !says_no_other(&whole, &a) : !alike(&whole, &a))
                fail_msg("%s: allocation %zu of %zu: %s", m->name, k, all, qs_status_name(a.status));
        }
    }
}

static void methods_without_memory(void **state)
{
    (void)state;
    for (int tied = 0; tied < 2; tied++) {
        const struct data d = data_of(tied);
        try_methods(answers_sample, &d);
        try_methods(answers_series, &d);
        try_methods(answers_pairs, &d);
        try_methods(answers_runs, &d);
    }
}

/* ---- what is not among the methods ---- */

typedef enum qs_status ask(const struct data *d, double *ret);

static size_t run_off[] = {0, 5, 10, 15, 20, 25, 30, 35, N}, session_off[] = {0, 2, 5, 8};

static struct qs_nested runs_of(const double *v)
{
    return (struct qs_nested){.v = v, .off = run_off, .k = 8};
}

static enum qs_status ask_rancid(const struct data *d, double *ret)
{
    struct qs_rancid r;
    enum qs_status status = qs_rancid(d->x, 7, d->y, 7, 0.9, 1, NULL, &r);
    *ret = r.sd_ratio_ci.lo;
    return status;
}

static enum qs_status ask_evolution(const struct data *d, double *ret)
{
    double error[N], rel_iqr[N] = {0};
    enum qs_status status = qs_error_evolution(d->x, N, 7, error, rel_iqr);
    *ret = rel_iqr[N - 1];
    return status;
}

static enum qs_status ask_hier_boot(const struct data *d, double *ret)
{
    const struct qs_hier_boot_opts opts = {.seed = 1, .resamples = 50, .level = 0.9};
    const struct qs_tree x = {.v = d->x, .depth = 2, .off = {run_off, session_off}, .count = {8, 3}},
                         y = {.v = d->y, .depth = 1, .off = {run_off}, .count = {8}};
    struct qs_hier_boot b;
    enum qs_status status = qs_hier_boot_ratio(&x, &y, &opts, &b);
    *ret = b.ci.lo;
    return status;
}

static enum qs_status ask_tree(const struct data *d, double *ret)
{
    const struct qs_tree x = {.v = d->x, .depth = 2, .off = {run_off, session_off}, .count = {8, 3}};
    struct qs_components c;
    struct qs_ci ci;
    enum qs_status status = qs_tree_components(&x, &c);
    *ret = c.level[2].var;
    return status != QS_OK ? status : qs_tree_ci(&x, 0.9, &ci);
}

static enum qs_status ask_reml(const struct data *d, double *ret)
{
    const struct qs_nested x = runs_of(d->x);
    struct qs_reml r;
    enum qs_status status = qs_reml(&x, &r);
    *ret = r.between;
    return status;
}

static enum qs_status ask_kalibera(const struct data *d, double *ret)
{
    const struct qs_nested x = runs_of(d->x);
    struct qs_kalibera2005 k;
    enum qs_status status = qs_hier_kalibera2005(&x, 0.9, &k);
    *ret = k.se;
    return status;
}

static enum qs_status ask_two_kinds(const struct data *d, double *ret)
{
    const struct qs_mixed_side x = {d->x, d->disturbed, N}, y = {d->y, d->disturbed, N};
    struct qs_mixed m;
    enum qs_status status = qs_mixed_two(&x, &y, 0.9, &m);
    *ret = m.test.diff;
    return status;
}

static enum qs_status ask_mixed_mean(const struct data *d, double *ret)
{
    struct qs_mixed m;
    enum qs_status status = qs_mixed_mean(d->x, d->disturbed, N, 0.9, &m);
    *ret = m.test.diff;
    return status;
}

static enum qs_status ask_mixed_blocks(const struct data *d, double *ret)
{
    struct qs_paired p;
    struct qs_mixed m;
    enum qs_status status = qs_mixed_blocks(d->x, d->y, d->disturbed, N, 0.9, &p, &m);
    *ret = p.test.ratio;
    return status;
}

static enum qs_status ask_mixed_median(const struct data *d, double *ret)
{
    struct qs_mixed_median m;
    enum qs_status status = qs_mixed_median(d->x, d->disturbed, N, 0.9, &m);
    *ret = m.median;
    return status;
}

static enum qs_status ask_fold(const struct data *d, double *ret)
{
    struct qs_fold_value v[N];
    struct qs_mixed_fold f;
    for (size_t i = 0; i < N; i++)
        v[i] = (struct qs_fold_value){d->x[i], d->disturbed[i], i / 4, i / 8, i >= N / 2};
    enum qs_status status = qs_mixed_fold(v, N, 0.9, &f);
    *ret = f.shift;
    return status;
}

static enum qs_status ask_mixed_verdict(const struct data *d, double *ret)
{
    const struct qs_verdict_opts opts = qs_verdict_opts_default();
    const struct qs_side_runs x = {d->x, N, 0, d->disturbed}, y = {d->y, N, 0, d->disturbed};
    struct qs_verdict v;
    struct qs_mixed m;
    enum qs_status status = qs_verdict_mixed_runs(&x, &y, &opts, &v, &m);
    if (status == QS_OK)
        status = qs_verdict_mixed_blocks(d->x, d->y, d->disturbed, N, 0, &opts, &v, &m);
    *ret = v.ratio;
    return status;
}

static enum qs_status ask_modality(const struct data *d, double *ret)
{
    struct qs_modality_test t;
    enum qs_status status = qs_modality_test(d->x, N, NAN, NULL, &t);
    *ret = t.mvalue;
    return status;
}

static enum qs_status ask_dip(const struct data *d, double *ret)
{
    const double v[] = {1, 2, 3, 7, 8, 9};
    struct qs_dip dip;
    enum qs_status status = qs_dip(v, 6, &dip);
    (void)d;
    *ret = dip.dip;
    return status;
}

static enum qs_status ask_adjust(const struct data *d, double *ret)
{
    const double p[] = {0.1, 0.02, 0.9};
    double out[3];
    enum qs_status status = qs_adjust(p, 3, QS_MULTI_BH, out);
    (void)d;
    *ret = out[1];
    return status;
}

static enum qs_status ask_shape(const struct data *d, double *ret)
{
    struct qs_shape_test t;
    enum qs_status status = qs_shape_test(d->x, N, 0.05, &t);
    *ret = t.log.p;
    return status;
}

static enum qs_status ask_known_normal(const struct data *d, double *ret)
{
    struct qs_fit fit;
    enum qs_status status = qs_ks_normal(d->x, N, 118, 15, &fit);
    *ret = fit.p;
    return status;
}

static enum qs_status ask_window(const struct data *d, double *ret)
{
    struct qs_window_outliers w;
    enum qs_status status = qs_window_flags(d->x, N, 10, NULL, &w);
    *ret = (double)w.n_assessed;
    return status;
}

static enum qs_status ask_spearman(const struct data *d, double *ret)
{
    struct qs_spearman s;
    enum qs_status status = qs_spearman(d->x, d->y, N, &s);
    *ret = s.rho;
    return status;
}

static enum qs_status ask_pelt_mean(const struct data *d, double *ret)
{
    size_t places[N], count = 0;
    enum qs_status status = qs_pelt_mean(d->x, N, NULL, places, &count);
    *ret = (double)count;
    return status;
}

static enum qs_status ask_steps(const struct data *d, double *ret)
{
    const struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_steps s;
    enum qs_status status = qs_steps_find(d->x, N, &opts, &s);
    *ret = s.scale;
    assert_true(status == QS_OK || (!s.point && !s.y && !s.alone));
    qs_steps_free(&s);
    return status;
}

static enum qs_status ask_theil_sen(const struct data *d, double *ret)
{
    return qs_theil_sen(d->x, N, NULL, ret);
}

static enum qs_status ask_drift_about(const struct data *d, double *ret)
{
    struct qs_drift drift;
    enum qs_status status = qs_drift_about(d->x, d->y, N, 0.9, NULL, &drift);
    *ret = drift.slope;
    return status;
}

static enum qs_status ask_stepfit(const struct data *d, double *ret)
{
    struct qs_stepfit fit;
    enum qs_status status = QS_OK;
    for (int kind = 0; kind < QS_STEP_KINDS && status == QS_OK; kind++) {
        const struct qs_stepfit_opts opts = {(enum qs_step_kind)kind, 0.1, 0.1};
        status = qs_stepfit(d->x, N, &opts, &fit);
    }
    *ret = fit.step;
    return status;
}

/* One that has no memory for a part of a rule says that it does not apply, or the same. */
static enum qs_status ask_opinions(const struct data *d, double *ret)
{
    const struct qs_nested x = runs_of(d->x), y = runs_of(d->y);
    const struct qs_opinion_opts opts = {.lower_is_better = true, .level = 0.9, .one_ms = NAN};
    enum qs_status status = QS_OK;
    *ret = 0;
    for (enum qs_opinion_rule rule = 0; rule < QS_OPINION_RULES && status == QS_OK; rule++) {
        struct qs_opinion o;
        if (rule == QS_OPINION_RANCID)
            continue;
        status = qs_opinion(rule, &x, &y, &opts, &o);
        *ret = 3 * *ret + (double)o.answer;
        assert_true(status == QS_OK || o.answer == QS_OPINION_UNDECIDED);
    }
    return status;
}

static enum qs_status ask_stopping(const struct data *d, double *ret)
{
    struct qs_rule leaf = {.kind = QS_RULE_RSE, .arg = {1e-6, 10, QS_ROOT_SQUARE}};
    const struct qs_rule rule = {.kind = QS_RULE_NOT, .child = &leaf, .child_count = 1};
    const struct qs_stopping_caps caps = qs_stopping_default_caps();
    struct qs_stopping *c = qs_stopping_new(&rule, &caps);
    enum qs_status status = c ? QS_OK : QS_ENOMEM;
    for (size_t i = 0; i < 20 * N && status == QS_OK; i++)
        status = qs_stopping_push(c, d->x[i % N], i % 3 == 1);
    *ret = c ? (double)qs_stopping_n(c) : 0;
    if (c)
        qs_stopping_free(c);
    return status;
}

static void others_without_memory(void **state)
{
    static const struct {
        const char *name;
        ask *ask;
    } all[] = {{"rancid", ask_rancid},
               {"evolution", ask_evolution},
               {"hier_boot", ask_hier_boot},
               {"tree", ask_tree},
               {"reml", ask_reml},
               {"kalibera", ask_kalibera},
               {"two_kinds", ask_two_kinds},
               {"mixed_mean", ask_mixed_mean},
               {"mixed_blocks", ask_mixed_blocks},
               {"mixed_median", ask_mixed_median},
               {"fold", ask_fold},
               {"mixed_verdict", ask_mixed_verdict},
               {"modality", ask_modality},
               {"dip", ask_dip},
               {"adjust", ask_adjust},
               {"shape", ask_shape},
               {"known_normal", ask_known_normal},
               {"window", ask_window},
               {"spearman", ask_spearman},
               {"pelt_mean", ask_pelt_mean},
               {"steps", ask_steps},
               {"theil_sen", ask_theil_sen},
               {"drift_about", ask_drift_about},
               {"stepfit", ask_stepfit},
               {"opinions", ask_opinions},
               {"stopping", ask_stopping}};
    const struct data d = data_of(false);
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double whole, part;
        heap.asked = 0;
        assert_int_equal(all[i].ask(&d, &whole), QS_OK);
        size_t asked = heap.asked, told = 0;
        for (size_t k = 0; k < asked && k < TRIED; k++) {
            heap.asked = 0;
            heap.refused = k;
            enum qs_status status = all[i].ask(&d, &part);
            heap.refused = SIZE_MAX;
            told += status == QS_ENOMEM;
            if (status != QS_ENOMEM && !(status == QS_OK && same_number(part, whole)))
                fail_msg("%s: allocation %zu of %zu: %s", all[i].name, k, asked, qs_status_name(status));
        }
        assert_true(told > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(methods_without_memory),
                                       cmocka_unit_test(others_without_memory)};
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
