#include "stats/opinion.h"

#include "stats/describe.h"
#include "stats/opinion_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct rule {
    const char *name, *source, *compared, *changed_if;
    qs_opinion_form *form;
} rules[QS_OPINION_RULES] = {
    [QS_OPINION_JUDGE] = {"judge", "Chen & Revels 2016, BenchmarkTools", "the best iteration of each build",
                          "their ratio is off 1 by more than the tolerance", qs_opinion_judge},
    [QS_OPINION_ANDROID] = {"android", "Statistically rigorous Android macrobenchmarks",
                            "the means of all iterations, with a pooled standard deviation",
                            "the interval of their difference excludes 0 and every precondition holds",
                            qs_opinion_android},
    [QS_OPINION_KALIBERA2005] = {"kalibera2005", "Kalibera, Bulej & Tuma 2005, equation 5",
                                 "the means over runs of iterations", "their intervals do not meet",
                                 qs_opinion_kalibera2005},
    [QS_OPINION_FUTHARK] = {"futhark", "futhark benchcmp", "the means of all iterations",
                            "they differ by more than half of both standard deviations together, and by more "
                            "than the band",
                            qs_opinion_futhark},
    [QS_OPINION_RANCID] = {"rancid", "Rancid, table 3", "the medians of the run medians",
                           "they differ by more than 1 ms and by more than 1 %", qs_opinion_rancid},
    [QS_OPINION_PERFHERDER] =
        {"perfherder", "Mozilla Perfherder, perfalert",
         "the 12 run medians after the change with the 12 to 24 before, near ones weighing more",
         "t passes its limit", qs_opinion_perfherder},
    [QS_OPINION_SKIA] = {"skia", "Skia Perf, original step fit", "the run medians, baseline before candidate",
                         "the step over its fit's error reaches the threshold", qs_opinion_skia},
};

const char *qs_opinion_rule_name(enum qs_opinion_rule rule)
{
    return (unsigned)rule < QS_OPINION_RULES ? rules[rule].name : NULL;
}

bool qs_opinion_rule_find(const char *name, enum qs_opinion_rule *ret)
{
    for (enum qs_opinion_rule r = 0; r < QS_OPINION_RULES; r++) {
        if (strcmp(rules[r].name, name) == 0) {
            *ret = r;
            return true;
        }
    }
    return false;
}

const char *qs_opinion_answer_name(enum qs_opinion_answer answer)
{
    static const char *const names[] = {"undecided", "no-change", "regression", "improvement"};
    return (unsigned)answer < sizeof names / sizeof *names ? names[answer] : "undecided";
}

const char *qs_opinion_unit_name(enum qs_opinion_unit unit)
{
    static const char *const names[] = {"value", "ratio", "plain"};
    return (unsigned)unit < sizeof names / sizeof *names ? names[unit] : "plain";
}

void qs_opinion_number(struct qs_opinion *out, const char *name, enum qs_opinion_unit unit, double value)
{
    if (out->number_count < QS_OPINION_NUMBERS)
        out->numbers[out->number_count++] = (struct qs_opinion_number){name, unit, value};
}

void qs_opinion_threshold(struct qs_opinion *out, const char *name, enum qs_opinion_unit unit, double value)
{
    if (out->threshold_count < QS_OPINION_THRESHOLDS)
        out->thresholds[out->threshold_count++] = (struct qs_opinion_number){name, unit, value};
}

static void check(struct qs_opinion *out, const char *name, double value, double bound, bool at_least)
{
    if (out->check_count < QS_OPINION_CHECKS)
        out->checks[out->check_count++] = (struct qs_opinion_check){
            name, value, bound, at_least, at_least ? value >= bound : value <= bound};
}

void qs_opinion_at_least(struct qs_opinion *out, const char *name, double value, double bound)
{
    check(out, name, value, bound, true);
}

void qs_opinion_at_most(struct qs_opinion *out, const char *name, double value, double bound)
{
    check(out, name, value, bound, false);
}

void qs_opinion_decide(struct qs_opinion *out, const struct qs_opinion_opts *opts, int up)
{
    bool worse = opts->lower_is_better ? up > 0 : up < 0;
    out->answer = up == 0 ? QS_OPINION_NO_CHANGE : worse ? QS_OPINION_REGRESSION : QS_OPINION_IMPROVEMENT;
}

/* medians: runs->k doubles. */
static enum qs_status look_at(const struct qs_nested *runs, double *medians, struct qs_opinion_side *out)
{
    *out = (struct qs_opinion_side){.runs = runs, .medians = medians};
    for (size_t j = 0; j < runs->k; j++) {
        enum qs_status status =
            qs_median(runs->v + runs->off[j], runs->off[j + 1] - runs->off[j], &medians[j]);
        if (status != QS_OK)
            return status;
    }
    out->v = runs->v + runs->off[0];
    out->n = runs->off[runs->k] - runs->off[0];
    return QS_OK;
}

static enum qs_status apply(const struct rule *rule, struct qs_opinion_case *c, const struct qs_nested *base,
                            const struct qs_nested *cand, double *medians, struct qs_opinion *out)
{
    enum qs_status status = look_at(base, medians, &c->base);
    if (status == QS_OK)
        status = look_at(cand, medians + base->k, &c->cand);
    if (status != QS_OK)
        return status;
    out->iterations[0] = c->base.n;
    out->iterations[1] = c->cand.n;
    return rule->form(c, out);
}

/* A rule whose preconditions fail has no answer, whatever its numbers say. */
static void check_conditions(struct qs_opinion *out)
{
    for (size_t i = 0; i < out->check_count && out->answer != QS_OPINION_UNDECIDED; i++) {
        if (!out->checks[i].holds) {
            out->answer = QS_OPINION_UNDECIDED;
            out->reason = "preconditions";
        }
    }
}

enum qs_status qs_opinion(enum qs_opinion_rule rule, const struct qs_nested *base,
                          const struct qs_nested *cand, const struct qs_opinion_opts *opts,
                          struct qs_opinion *out)
{
    *out = (struct qs_opinion){.rule = rule, .reason = qs_status_name(QS_EDOM), .runs = {base->k, cand->k}};
    if ((unsigned)rule >= QS_OPINION_RULES || !(opts->level > 0 && opts->level < 1))
        return QS_EDOM;
    out->source = rules[rule].source;
    out->compared = rules[rule].compared;
    out->changed_if = rules[rule].changed_if;
    struct qs_opinion_case c = {.opts = opts};
    double *medians = calloc(base->k + cand->k + 1, sizeof *medians);
    enum qs_status status = medians ? QS_OK : QS_ENOMEM;
    if (status == QS_OK && (base->k == 0 || cand->k == 0))
        status = QS_ENODATA;
    if (status == QS_OK)
        status = apply(&rules[rule], &c, base, cand, medians, out);
    free(medians);
    out->reason = status == QS_OK ? "none" : qs_status_name(status);
    if (status != QS_OK)
        out->answer = QS_OPINION_UNDECIDED;
    check_conditions(out);
    return status == QS_ETOOFEW || status == QS_EDEGENERATE ? QS_OK : status;
}
