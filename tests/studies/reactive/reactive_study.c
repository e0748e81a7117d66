/* Junge's rule against fixed numbers of iterations: reactive_study FILE. FILE has a repetition a line, all of
 * one benchmark, in ns. Prints JSON: a list with an object for each rule. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/dependence.h"
#include "stats/describe.h"
#include "studies/stop/replay.h"

enum { BASELINE = 1 };

static const struct row {
    const char *name;
    struct qs_rule rule;
} rows[] = {
    {"fixed 10", {.kind = QS_RULE_FIXED, .arg = {10}}},
    {"fixed 10000", {.kind = QS_RULE_FIXED, .arg = {10000}}},
    {"futhark original", {.kind = QS_RULE_FUTHARK, .arg = {1, 5e8, 1, 0, 10}}},
    {"futhark", {.kind = QS_RULE_FUTHARK, .arg = {0, 5e8, 1, 0, 10}}},
    {"futhark, strictness 2, 1 s", {.kind = QS_RULE_FUTHARK, .arg = {0, 1e9, 2, 0, 10}}},
    {"futhark, cube root", {.kind = QS_RULE_FUTHARK, .arg = {0, 5e8, 1, 1, 10}}},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* What a rule makes of the repetitions. */
struct outcome {
    double *mean;              /* of what it kept, each repetition */
    double r1, measured_ns, n; /* means over the repetitions */
    size_t capped, restarted;  /* the record ended first; more than the first iteration was set aside */
};

static bool judge(const struct set *set, const struct qs_rule *rule, struct outcome *out)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct series *s = &set->s[i];
        struct replay r;
        struct qs_summary kept;
        double r1[2];
        if (!replay_rule(s, rule, 1, &r) ||
            qs_describe(s->v + r.kept_from, r.n - r.kept_from, &kept) != QS_OK)
            return false;
        if (qs_acf(s->v + r.kept_from, r.n - r.kept_from, NULL, 0, 1, r1) != QS_OK)
            r1[1] = 0; /* values that do not vary */
        out->mean[i] = kept.mean;
        out->r1 += r1[1] / (double)set->count;
        out->measured_ns += r.measured_ns / (double)set->count;
        out->n += (double)r.n / (double)set->count;
        out->capped += r.capped ? 1 : 0;
        out->restarted += r.kept_from > 1 ? 1 : 0;
    }
    return true;
}

static bool print(const char *name, const struct outcome *o, size_t n, double baseline_ns, const char *before)
{
    struct qs_summary s;
    if (qs_describe(o->mean, n, &s) != QS_OK)
        return false;
    double far = fmax(fabs(s.min / baseline_ns - 1), fabs(s.max / baseline_ns - 1));
    printf("%s{\"rule\": \"%s\", \"mean_ns\": %.17g, \"rsd\": %.17g, \"ratio\": %.17g, \"farthest\": %.17g, ",
           before, name, s.mean, s.cov_abs, s.mean / baseline_ns, far);
    printf(
        "\"r1\": %.17g, \"measured_ns\": %.17g, \"iterations\": %.17g, \"capped\": %zu, \"restarted\": %zu}",
        o->r1, o->measured_ns, o->n, o->capped, o->restarted);
    return true;
}

static bool study(const struct set *set)
{
    struct outcome of[ROWS] = {{0}};
    struct qs_summary baseline;
    bool ok = true;
    for (size_t k = 0; ok && k < ROWS; k++) {
        of[k].mean = calloc(set->count, sizeof *of[k].mean);
        ok = of[k].mean && judge(set, &rows[k].rule, &of[k]);
    }
    ok = ok && qs_describe(of[BASELINE].mean, set->count, &baseline) == QS_OK;
    for (size_t k = 0; ok && k < ROWS; k++)
        ok = print(rows[k].name, &of[k], set->count, baseline.mean, k > 0 ? ", " : "[");
    printf("]\n");
    for (size_t k = 0; k < ROWS; k++)
        free(of[k].mean);
    return ok;
}

int main(int argc, char **argv)
{
    struct set set = {0};
    if (argc != 2) {
        fputs("usage: reactive_study FILE\n", stderr);
        return 2;
    }
    bool ok = set_read(&set, argv[1]) && study(&set);
    if (!ok)
        fputs("reactive_study: fewer than 2 series of at least 30 positive values, or no memory\n", stderr);
    set_free(&set);
    return ok ? 0 : 1;
}
