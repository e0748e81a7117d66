/* The one form of a comparison: rows that write it, and that print its description (schema/verdict.md,
 * schema/verdict.schema.json). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/fields.h"
#include "report/job/opinion.h"
#include "report/verdict/verdict.h"
#include "stats/describe.h"
#include "stats/interval.h"

struct told_side {
    const char *units_of;
    size_t units, units_dropped, builds, sessions, runs, iterations;
    double median, median_lo, median_hi, median_level;
};

struct told_kind {
    size_t base, candidate;
    double ratio, lo, hi;
};

struct told_shift {
    size_t sessions;
    double ratio, lo, hi, worth, base_share, candidate_share;
};

struct told_superiority {
    double estimate, lo, hi;
};

struct told_exact {
    bool base_constant, candidate_constant;
    double base, candidate, change;
};

struct told {
    const char *base_arm, *candidate_arm, *metric, *unit, *verdict, *reason, *sentence, *notes, *units_of,
        *method;
    const struct qs_judging *how;
    const struct qs_comparison *of;
    bool lower_is_better, stands, uses_tainted, losses_differ;
    double ratio, lo, hi, level, call_level, lo90, hi90, judged_lo, judged_hi, judged_level, p, p_bh, df,
        sd_log, margin_ratio, mde_ratio, needed, seconds_needed, sign_test_p, drift_per_block_ratio,
        disturbed_worth, disturbed_p, lost_p, timed_out_p;
    size_t version;
    const struct told_side *base, *candidate;
    const struct told_kind *clean, *disturbed;
    const struct told_shift *shift;
    const struct told_superiority *superiority;
    const struct told_exact *exact;
    const struct qs_ratios *ratios;
};

static const char *const unit_words[] = {"blocks", "sessions",   "runs", "devices",
                                         "builds", "iterations", NULL};
static const char *const verdict_words[] = {"regression",           "improvement", "probable-regression",
                                            "probable-improvement", "negligible",  "equivalent",
                                            "inconclusive",         NULL};
static const char *const reason_words[] = {
    "none",        "too-few-runs",       "wide-interval",        "borderline",   "no-spread", "exact",
    "one-session", "taint-rates-differ", "timeout-rates-differ", "not-positive", NULL};

static const struct qs_field side_rows[] = {
    QS_ROW(told_side, units, COUNT, "units that count"),
    QS_ROW(told_side, units_of, TEXT, "what a unit is on this side", .words = unit_words),
    QS_ROW(told_side, units_dropped, COUNT, "units left out, or of a kind that does not count"),
    QS_ROW(told_side, builds, COUNT, "builds (or arms without one) measured in them; 0 for files"),
    QS_ROW(told_side, sessions, COUNT, "sessions that they come from; 0 for files"),
    QS_ROW(told_side, runs, COUNT, "runs in them"),
    QS_ROW(told_side, iterations, COUNT, "values in them"),
    QS_ROW(told_side, median, DOUBLE, "median of the units, in the metric's unit"),
    QS_ROW(told_side, median_lo, DOUBLE, "lower end of its order-statistic interval"),
    QS_ROW(told_side, median_hi, DOUBLE, "upper end"),
    QS_ROW(told_side, median_level, DOUBLE, "the confidence that this interval reaches"),
    {.name = NULL}};

static const struct qs_field kind_rows[] = {
    QS_ROW(told_kind, base, COUNT,
           "units of the base (where blocks are shared, as many as of the candidate)"),
    QS_ROW(told_kind, candidate, COUNT, "units of the candidate"),
    QS_ROW(told_kind, ratio, DOUBLE, "candidate over base, of geometric means"),
    QS_ROW(told_kind, lo, DOUBLE, "lower end of its interval; null below two"),
    QS_ROW(told_kind, hi, DOUBLE, "upper end"),
    {.name = NULL}};

static const struct qs_field shift_rows[] = {
    QS_ROW(told_shift, sessions, COUNT, "sessions that have both kinds: it is estimated from them"),
    QS_ROW(told_shift, ratio, DOUBLE, "disturbed blocks over clean ones of the same session"),
    QS_ROW(told_shift, lo, DOUBLE, "lower end of its interval"),
    QS_ROW(told_shift, hi, DOUBLE, "upper end"),
    QS_ROW(told_shift, worth, DOUBLE, "weight of a disturbed block in its session; a clean one has 1"),
    QS_ROW(told_shift, base_share, DOUBLE, "share of the base's weight that comes from disturbed blocks"),
    QS_ROW(told_shift, candidate_share, DOUBLE, "the same of the candidate"),
    {.name = NULL}};

static const struct qs_field superiority_rows[] = {
    QS_ROW(told_superiority, estimate, DOUBLE, "the share; 0.5: neither is above the other"),
    QS_ROW(told_superiority, lo, DOUBLE,
           "lower end of its interval at `level`: Wilson's for pairs, Newcombe's method 5 (2006) for two "
           "samples"),
    QS_ROW(told_superiority, hi, DOUBLE, "upper end"),
    {.name = NULL}};

static const struct qs_field exact_rows[] = {
    QS_ROW(told_exact, base_constant, BOOL, "all values of the base are equal"),
    QS_ROW(told_exact, candidate_constant, BOOL, "the same of the candidate"),
    QS_ROW(told_exact, base, DOUBLE, "that value; null where it varies"),
    QS_ROW(told_exact, candidate, DOUBLE, "that value of the candidate"),
    QS_ROW(told_exact, change, DOUBLE, "candidate minus base"),
    {.name = NULL}};

static const struct qs_field ratio_rows[] = {
    QS_ROW(qs_told_ratio, method, TEXT, "how it is computed"),
    QS_ROW(qs_told_ratio, ratio, DOUBLE, "candidate over base"),
    QS_ROW(qs_told_ratio, lo, DOUBLE, "lower end of its interval"),
    QS_ROW(qs_told_ratio, hi, DOUBLE, "upper end"),
    QS_ROW(qs_told_ratio, status, TEXT, "`ok`, or why there is none"),
    QS_ROW(qs_told_ratio, resamples, COUNT, "how many; 0: the method does not resample"),
    QS_ROW(qs_told_ratio, few_units, BOOL, "too few units at the top level for resampling to say much"),
    {.name = NULL}};

static const struct qs_field ratios_rows[] = {
    QS_ROW(qs_ratios, fieller, OBJECT, "ratio of the means of the units", .of = ratio_rows),
    QS_ROW(qs_ratios, bootstrap, OBJECT,
           "ratio of the means; iterations within runs within sessions are resampled", .of = ratio_rows),
    {.name = NULL}};

static void put_opinions(struct qs_json *j, const void *at)
{
    const struct told *told = at;
    const struct qs_judging *how = told->how;
    const struct qs_comparison *c = told->of;
    struct qs_opinion_opts opts = {.lower_is_better = !c->metric->higher_is_better,
                                   .level = 1 - how->alpha,
                                   .one_ms = qs_opinions_one_ms(c->metric->unit),
                                   .seed = how->seed,
                                   .progress = how->progress};
    bool any = c->values[QS_BASE].off && c->values[QS_CAND].off;
    qs_opinions_write(j, any ? how->opinions : QS_OPINIONS_NONE, &c->values[QS_BASE], &c->values[QS_CAND],
                      &opts, c->metric->unit);
}

static const struct qs_field rows[] = {
    QS_ROW(told, base_arm, TEXT, "name of the baseline: an arm, a build, a file"),
    QS_ROW(told, candidate_arm, TEXT, "name of what is compared with it"),
    QS_ROW(told, metric, TEXT, "`duration_ns`, or a program's or file's name for it"),
    QS_ROW(told, unit, TEXT, "unit of its values"),
    QS_ROW(told, lower_is_better, BOOL, "which way is better"),
    QS_ROW(told, verdict, TEXT, "what the interval shows", .words = verdict_words),
    QS_ROW(told, reason, TEXT, "why the verdict is not stronger", .words = reason_words),
    QS_ROW(told, sentence, TEXT, "the interval that the verdict rests on, in words"),
    QS_ROW(told, notes, TEXT, "what pages, tables and JUnit add to it, in a few words; null: nothing"),
    QS_ROW(told, units_of, TEXT, "what counts once", .words = unit_words),
    QS_ROW(told, ratio, DOUBLE, "candidate over base, of geometric means"),
    QS_ROW(told, lo, DOUBLE, "lower end of its interval"),
    QS_ROW(told, hi, DOUBLE, "upper end"),
    QS_ROW(told, level, DOUBLE, "confidence of `lo` and `hi`: 1 - alpha"),
    QS_ROW(told, call_level, DOUBLE,
           "confidence at which a regression or improvement, probable ones too, is called: stricter than "
           "`level`, so that noise alone is seldom called a change"),
    QS_ROW(told, lo90, DOUBLE, "lower end of the interval at 1 - 2 alpha, by which equivalence is judged"),
    QS_ROW(told, hi90, DOUBLE, "upper end"),
    QS_ROW(told, judged_lo, DOUBLE,
           "lower end of the interval that the verdict rests on: at 1 - 2 alpha for `negligible` and "
           "`equivalent`, else `lo`"),
    QS_ROW(told, judged_hi, DOUBLE, "upper end"),
    QS_ROW(told, judged_level, DOUBLE, "its confidence"),
    QS_ROW(told, p, DOUBLE, "two-sided p of the hypothesis of no change; null where compared exactly"),
    QS_ROW(
        told, p_bh, DOUBLE,
        "p adjusted for all comparisons of the document (Benjamini & Hochberg 1995); null for files, whose "
        "`family` has it"),
    QS_ROW(told, stands, BOOL,
           "false for a change that is expected by chance among so many: such a regression fails no build"),
    QS_ROW(told, df, DOUBLE, "degrees of freedom; null where nothing varied"),
    QS_ROW(told, sd_log, DOUBLE,
           "standard deviation of the logs: of the differences of blocks, or of the units"),
    QS_ROW(told, margin_ratio, DOUBLE, "the smallest change that matters"),
    QS_ROW(told, mde_ratio, DOUBLE, "the change that as many units detect with a power of 80 %"),
    QS_ROW(told, needed, DOUBLE,
           "units per side that detect a change of the margin with a power of 80 %; null: not attainable"),
    QS_ROW(told, seconds_needed, DOUBLE,
           "time to measure the missing ones in this job, without waits for gates"),
    QS_ROW(
        told, superiority, OBJECT,
        "the share of pairs in which a unit of the candidate is above one of the base, ties half (Vargha & "
        "Delaney's A): each in its own pair where `method` is paired, else of all pairs; null: compared "
        "exactly, or "
        "nothing to compare",
        .of = superiority_rows),
    QS_ROW(told, sign_test_p, DOUBLE, "blocks and devices: sign test, a check that assumes no normality"),
    QS_ROW(told, drift_per_block_ratio, DOUBLE,
           "blocks: Theil-Sen slope of the difference, which shows whether it drifted"),
    QS_ROW(told, uses_tainted, BOOL, "disturbed blocks count too, with their weight"),
    QS_ROW(told, clean, OBJECT,
           "result of the undisturbed units alone; null unless there are units of both kinds",
           .of = kind_rows),
    QS_ROW(told, disturbed, OBJECT, "the same for units in which some run has only softly tainted data",
           .of = kind_rows),
    QS_ROW(
        told, disturbed_worth, DOUBLE,
        "weight of a disturbed unit; a clean one has 1. 0: the clean ones count alone, because both kinds "
        "differ beyond chance, or because there are enough clean ones; null: there is one kind, or all count "
        "alike"),
    QS_ROW(told, disturbed_p, DOUBLE,
           "p of no difference between both kinds (Welch); null where one has fewer than three units"),
    QS_ROW(told, shift, OBJECT,
           "correction of disturbed blocks that are averaged into sessions or builds; null: none",
           .of = shift_rows),
    QS_ROW(told, lost_p, DOUBLE,
           "Fisher's exact test, p that both sides lost the same share of their runs; null for files"),
    QS_ROW(told, timed_out_p, DOUBLE, "the same for runs that timed out; null: not tested"),
    QS_ROW(told, losses_differ, BOOL,
           "one of the two is below alpha: what is left is a biased selection, and good news is withheld"),
    QS_ROW(told, method, TEXT,
           "`paired-log-t`, `paired-log-t-weighted` (disturbed blocks count less), `log-welch`, "
           "`log-welch-by-kind`, `log-welch-shifted`, `exact`"),
    QS_ROW(told, version, COUNT, "version of the method, so that a stored result can be computed again"),
    QS_ROW(told, base, OBJECT, "what the verdict rests on: the base", .of = side_rows),
    QS_ROW(told, candidate, OBJECT, "of the candidate", .of = side_rows),
    QS_ROW(told, exact, OBJECT, "for a metric that is declared deterministic; else null", .of = exact_rows),
    QS_ROW(told, ratios, OBJECT, "the ratio by other methods; null unless two sides are compared",
           .of = ratios_rows),
    QS_ROW_PUT("opinions", put_opinions, OBJECTS,
               "what other tools' rules say; empty unless asked for; not part of the verdict",
               .ref = "analysis.schema.json#/$defs/opinion"),
    {.name = NULL}};

static struct told_side side_of(const struct qs_comparison *c, int k)
{
    const struct qs_side_values *side = &c->side[k];
    struct qs_median_ci ci = {.ci = qs_ci_none(NAN)};
    struct told_side told = {.units = c->v.n_used[k],
                             .units_of = unit_words[side->fold],
                             .units_dropped = side->dropped + side->n - c->v.n_used[k],
                             .builds = side->builds,
                             .sessions = side->sessions,
                             .runs = side->run_count,
                             .iterations = side->iteration_count,
                             .median = NAN};
    (void)qs_median(side->v, side->n, &told.median);
    if (qs_median_ci(side->v, side->n, 1 - c->alpha, &ci) != QS_OK)
        ci.ci = qs_ci_none(NAN);
    told.median_lo = ci.ci.lo;
    told.median_hi = ci.ci.hi;
    told.median_level = ci.ci.level;
    return told;
}

/* Where disturbed units count, all do; else the clean ones alone. */
static size_t counting(const struct qs_comparison *c, int k, double *ret)
{
    const struct qs_side_values *side = &c->side[k];
    bool all = c->v.n_used[k] == side->n;
    size_t n = 0;
    for (size_t i = 0; i < side->n; i++)
        if (all || (side->disturbed && !side->disturbed[i]))
            ret[n++] = side->v[i];
    return n;
}

struct qs_superiority qs_comparison_superiority(const struct qs_comparison *c)
{
    struct qs_superiority s = {.a = NAN, .ci = qs_ci_none(1 - c->alpha)};
    if (qs_comparison_is_exact(c))
        return s;
    QS_FREED double *x = qs_calloc(c->side[QS_BASE].n + 1, sizeof *x);
    QS_FREED double *y = qs_calloc(c->side[QS_CAND].n + 1, sizeof *y);
    size_t nx = counting(c, QS_BASE, x), ny = counting(c, QS_CAND, y);
    if (c->paired && nx == ny)
        (void)qs_superiority_paired(x, y, nx, 1 - c->alpha, &s);
    else if (!c->paired)
        (void)qs_superiority(x, nx, y, ny, 1 - c->alpha, &s);
    return s;
}

static struct told_kind kind_of(const struct qs_comparison *c, int kind)
{
    const struct qs_ttest *t = &c->mixed.alone[kind];
    return (struct told_kind){.base = t->n[0],
                              .candidate = t->n[c->paired ? 0 : 1],
                              .ratio = exp(t->diff),
                              .lo = exp(t->ci.lo),
                              .hi = exp(t->ci.hi)};
}

static struct told_shift shift_of(const struct qs_mixed_fold *s)
{
    return (struct told_shift){.sessions = s->cells,
                               .ratio = exp(s->shift),
                               .lo = exp(s->ci.lo),
                               .hi = exp(s->ci.hi),
                               .worth = s->worth,
                               .base_share = s->share[QS_BASE],
                               .candidate_share = s->share[QS_CAND]};
}

static struct told_exact exact_of(const struct qs_exact *e)
{
    return (struct told_exact){.base_constant = e->constant[QS_BASE],
                               .candidate_constant = e->constant[QS_CAND],
                               .base = e->value[QS_BASE],
                               .candidate = e->value[QS_CAND],
                               .change = e->value[QS_CAND] - e->value[QS_BASE]};
}

static bool has_both_kinds(const struct qs_mixed *m)
{
    const struct qs_ttest *clean = &m->alone[QS_CLEAN], *off = &m->alone[QS_DISTURBED];
    return clean->n[0] + clean->n[1] > 0 && off->n[0] + off->n[1] > 0;
}

static void tell_verdict(struct told *t, const struct qs_comparison *c)
{
    const struct qs_verdict *v = &c->v;
    const struct qs_ci *judged = qs_verdict_interval(v);
    double more = fmax((double)v->needed - (double)v->n_used[QS_BASE], 0);
    t->verdict = qs_verdict_name(v->kind);
    t->reason = c->reason;
    t->units_of = unit_words[c->units];
    t->ratio = v->ratio;
    t->lo = v->l95.lo;
    t->hi = v->l95.hi;
    t->level = 1 - c->alpha;
    t->call_level = 1 - QS_CALL_SHARE * c->alpha;
    t->lo90 = v->l90.lo;
    t->hi90 = v->l90.hi;
    t->judged_lo = judged->lo;
    t->judged_hi = judged->hi;
    t->judged_level = judged->level;
    t->p = v->p;
    t->p_bh = c->p_bh;
    t->stands = !qs_comparison_is_doubtful(c);
    t->df = v->df;
    t->sd_log = v->sd_log;
    t->margin_ratio = c->margin_ratio;
    t->mde_ratio = v->mde_ratio;
    t->needed = v->needed > 0 ? (double)v->needed : NAN;
    t->seconds_needed = v->needed > 0 ? more * c->seconds_per_unit : NAN;
    t->sign_test_p = v->sign_p;
    t->drift_per_block_ratio = c->units == QS_UNITS_BLOCKS ? v->drift : NAN;
    t->method = qs_comparison_is_exact(c) ? "exact" : v->method;
    t->version = v->version;
}

void qs_comparison_put(struct qs_json *j, const struct qs_judging *how, const struct qs_comparison *c)
{
    bool both = has_both_kinds(&c->mixed);
    QS_BUF(sentence);
    QS_BUF(notes);
    qs_comparison_sentence(&sentence, c);
    const struct qs_superiority s = qs_comparison_superiority(c);
    qs_comparison_notes(&notes, c, &s);
    const struct told_side base = side_of(c, QS_BASE), candidate = side_of(c, QS_CAND);
    const struct told_kind clean = kind_of(c, QS_CLEAN), disturbed = kind_of(c, QS_DISTURBED);
    const struct told_shift shift = shift_of(&c->shift);
    const struct told_exact exact = exact_of(&c->exact);
    const struct told_superiority superiority = {.estimate = s.a, .lo = s.ci.lo, .hi = s.ci.hi};
    struct told told = {.base_arm = c->names[QS_BASE],
                        .candidate_arm = c->names[QS_CAND],
                        .metric = c->metric->name,
                        .unit = c->metric->unit,
                        .lower_is_better = !c->metric->higher_is_better,
                        .sentence = c->sentence ? c->sentence : sentence.data,
                        .notes = notes.len > 0 ? notes.data : NULL,
                        .uses_tainted = c->uses_tainted,
                        .clean = both ? &clean : NULL,
                        .disturbed = both ? &disturbed : NULL,
                        .disturbed_worth = both ? c->mixed.worth : NAN,
                        .disturbed_p = both ? c->mixed.agree_p : NAN,
                        .shift = c->shift.cells > 0 ? &shift : NULL,
                        .lost_p = c->lost_p,
                        .timed_out_p = c->timeout_p,
                        .losses_differ = c->lost_p < c->alpha || c->timeout_p < c->alpha,
                        .base = &base,
                        .candidate = &candidate,
                        .superiority = isfinite(s.a) ? &superiority : NULL,
                        .exact = c->exact.declared ? &exact : NULL,
                        .ratios = c->ratios,
                        .how = how,
                        .of = c};
    tell_verdict(&told, c);
    qs_put_object(j, rows, &told);
}

void qs_comparison_schema(struct qs_buf *out)
{
    qs_fields_document(out, "A comparison of one metric of two arms, sides or files", rows);
}

void qs_comparison_table(struct qs_buf *out)
{
    qs_fields_table(out, rows, "");
}
