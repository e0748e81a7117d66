/* A verdict as JSON. */
#include <math.h>
#include <string.h>

#include "report/job/opinion.h"
#include "report/job/impl.h"
#include "report/sides/verdict.h"
#include "stats/interval.h"

static void put_side(struct qs_json *j, const char *key, const struct qs_side_values *side, bool devices,
                     double alpha)
{
    static const char *const folds[] = {"blocks", "sessions", "builds"};
    struct qs_median_ci ci = {.ci = {.lo = NAN, .hi = NAN, .level = NAN}};
    double median = NAN;
    (void)qs_median(side->v, side->n, &median);
    if (qs_median_ci(side->v, side->n, 1 - alpha, &ci) != QS_OK)
        ci.ci = (struct qs_ci){.lo = NAN, .hi = NAN, .level = NAN};
    qs_json_key(j, key);
    qs_json_object(j);
    qs_json_kint(j, "units", (int64_t)side->n);
    qs_json_kstring(j, "units_of", devices ? "devices" : folds[side->fold]);
    qs_json_kint(j, "units_dropped", (int64_t)side->dropped);
    qs_json_kint(j, "builds", (int64_t)side->builds);
    qs_json_kint(j, "sessions", (int64_t)side->sessions);
    qs_json_kint(j, "runs", (int64_t)side->run_count);
    qs_json_kint(j, "iterations", (int64_t)side->iteration_count);
    qs_json_kdouble(j, "median", median);
    qs_json_kdouble(j, "median_lo", ci.ci.lo);
    qs_json_kdouble(j, "median_hi", ci.ci.hi);
    qs_json_kdouble(j, "median_confidence", ci.ci.level);
    qs_json_object_end(j);
}

static void put_needed(struct qs_json *j, const struct qs_verdict *v)
{
    qs_json_kdouble(j, "mde_ratio", v->mde_ratio);
    qs_json_kdouble(j, "units_needed", v->needed > 0 ? (double)v->needed : NAN);
}

static void put_exact(struct qs_json *j, const struct qs_sides_exact *e)
{
    qs_json_key(j, "exact");
    if (!e->declared) {
        qs_json_null(j);
        return;
    }
    qs_json_object(j);
    qs_json_kbool(j, "base_constant", e->constant[QS_BASE]);
    qs_json_kbool(j, "candidate_constant", e->constant[QS_CAND]);
    qs_json_kdouble(j, "base", e->value[QS_BASE]);
    qs_json_kdouble(j, "candidate", e->value[QS_CAND]);
    qs_json_kdouble(j, "change", e->value[QS_CAND] - e->value[QS_BASE]);
    qs_json_object_end(j);
}

static void put_opinions(struct qs_json *j, const struct qs_sides_how *how,
                         const struct qs_arm_metric *metric, const struct qs_sides_verdict *v)
{
    struct qs_nested side[2];
    bool ns = strcmp(metric->unit, "ns") == 0;
    struct qs_opinion_opts opts = {.lower_is_better = !metric->higher_is_better,
                                   .level = 1 - how->alpha,
                                   .one_ms = ns ? 1e6 : NAN,
                                   .seed = how->seed,
                                   .progress = how->progress};
    for (int k = 0; k < 2; k++)
        side[k] =
            (struct qs_nested){.v = v->side[k].iterations, .off = v->side[k].runs, .k = v->side[k].run_count};
    qs_json_key(j, "opinions");
    if (v->side[0].run_count > 0 && v->side[1].run_count > 0) {
        qs_opinions_write(j, how->opinions, &side[QS_BASE], &side[QS_CAND], &opts, metric->unit);
    } else {
        qs_json_array(j);
        qs_json_array_end(j);
    }
}

void qs_sides_put_verdict(struct qs_json *j, const struct qs_sides_how *how,
                          const struct qs_arm_metric *metric, const struct qs_sides_verdict *v,
                          const char *const names[2])
{
    struct qs_buf sentence;
    qs_buf_init(&sentence);
    qs_sides_sentence(&sentence, metric, names, v);
    qs_json_kstring(j, "metric", metric->name);
    qs_json_kstring(j, "unit", metric->unit);
    qs_json_kbool(j, "lower_is_better", !metric->higher_is_better);
    qs_json_kstring(j, "verdict", qs_verdict_name(v->v.kind));
    qs_json_kstring(j, "reason", v->reason);
    qs_json_kstring(j, "sentence", sentence.data);
    qs_json_kstring(j, "level", qs_sides_level_name(v->level));
    qs_json_kdouble(j, "ratio", v->v.ratio);
    qs_json_kdouble(j, "lo", v->v.l95.lo);
    qs_json_kdouble(j, "hi", v->v.l95.hi);
    qs_json_kdouble(j, "confidence", 1 - how->alpha);
    qs_json_kdouble(j, "lo90", v->v.l90.lo);
    qs_json_kdouble(j, "hi90", v->v.l90.hi);
    qs_report_put_judged(j, &v->v);
    qs_json_kdouble(j, "p", v->v.p);
    qs_json_kdouble(j, "p_bh", v->p_bh);
    qs_json_kbool(j, "stands", !qs_sides_is_doubtful(how, v));
    qs_json_kdouble(j, "df", v->v.df);
    qs_json_kdouble(j, "sd_log", v->v.sd_log);
    put_needed(j, &v->v);
    qs_json_kdouble(j, "sign_test_p", v->v.sign_p);
    qs_json_kdouble(j, "drift_per_block_ratio", v->level == QS_SIDES_BLOCKS ? v->v.drift : NAN);
    qs_json_kbool(j, "uses_tainted", v->uses_soft);
    qs_json_kstring(j, "method", qs_sides_is_exact(v) ? "exact" : v->v.method);
    qs_json_kint(j, "version", v->v.version);
    put_side(j, "base", &v->side[QS_BASE], v->level == QS_SIDES_DEVICES, how->alpha);
    put_side(j, "candidate", &v->side[QS_CAND], v->level == QS_SIDES_DEVICES, how->alpha);
    put_exact(j, &v->exact);
    put_opinions(j, how, metric, v);
    qs_buf_done(&sentence);
}

static void put_kind(struct qs_json *j, const char *key, const struct qs_ttest *t, bool paired)
{
    qs_json_key(j, key);
    qs_json_object(j);
    qs_json_kint(j, "base", (int64_t)t->n[0]);
    qs_json_kint(j, "candidate", (int64_t)t->n[paired ? 0 : 1]);
    qs_json_kdouble(j, "ratio", exp(t->diff));
    qs_json_kdouble(j, "lo", exp(t->ci.lo));
    qs_json_kdouble(j, "hi", exp(t->ci.hi));
    qs_json_object_end(j);
}

static void put_shift(struct qs_json *j, const struct qs_mixed_fold *shift)
{
    qs_json_key(j, "shift");
    if (shift->cells == 0) {
        qs_json_null(j);
        return;
    }
    qs_json_object(j);
    qs_json_kint(j, "sessions", (int64_t)shift->cells);
    qs_json_kdouble(j, "ratio", exp(shift->shift));
    qs_json_kdouble(j, "lo", exp(shift->ci.lo));
    qs_json_kdouble(j, "hi", exp(shift->ci.hi));
    qs_json_kdouble(j, "worth", shift->worth);
    qs_json_kdouble(j, "base_share", shift->share[QS_BASE]);
    qs_json_kdouble(j, "candidate_share", shift->share[QS_CAND]);
    qs_json_object_end(j);
}

static bool has_any(const struct qs_ttest *t)
{
    return t->n[0] + t->n[1] > 0;
}

void qs_sides_put_kinds(struct qs_json *j, const struct qs_sides_verdict *v)
{
    static const char *const keys[QS_KINDS] = {"clean", "disturbed"};
    const struct qs_mixed *m = &v->mixed;
    bool both = has_any(&m->alone[QS_CLEAN]) && has_any(&m->alone[QS_DISTURBED]);
    for (int k = 0; k < QS_KINDS; k++) {
        if (both) {
            put_kind(j, keys[k], &m->alone[k], v->paired);
        } else {
            qs_json_key(j, keys[k]);
            qs_json_null(j);
        }
    }
    qs_json_kdouble(j, "disturbed_worth", both ? m->worth : NAN);
    qs_json_kdouble(j, "disturbed_p", both ? m->agree_p : NAN);
    put_shift(j, &v->shift);
}
