/* How soon stop rules stop, and how wrong the run is then: stop_study [--step N] [--iteration-ms MS] [--seed
 * S] [FILE]. FILE has one series a line, values between commas or blanks; without it series are generated.
 * Each series is scaled to a median of MS; the reference is the median of its last third. */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/describe.h"
#include "stats/sum.h"
#include "studies/stop/replay.h"

struct outcome {
    double n, error;
    bool capped;
};

struct row {
    const char *name;
    struct qs_rule rule;
};

static struct qs_rule futhark_and_stable[] = {{.kind = QS_RULE_STABLE, .arg = {50, 0.005, 0.01, 0}},
                                              {.kind = QS_RULE_FUTHARK, .arg = {0, 5e8, 1, 0, 10}}};

static struct qs_rule settled_or_stable[] = {{.kind = QS_RULE_SETTLED, .arg = {400, 0.02, 4}},
                                             {.kind = QS_RULE_STABLE, .arg = {100, 0.005, 0.01, 1}}};

/* The table of statistics.md section 10, then what else there is. */
static const struct row rows[] = {
    {"fixed 50", {.kind = QS_RULE_FIXED, .arg = {50}}},
    {"Rancid code w20 CoV 5 %", {.kind = QS_RULE_COV_WINDOW, .arg = {20, 0.05}}},
    {"Rancid w20 CoV 1 %", {.kind = QS_RULE_COV_WINDOW, .arg = {20, 0.01}}},
    {"futhark original", {.kind = QS_RULE_FUTHARK, .arg = {1, 5e8, 1, 0, 10}}},
    {"futhark corrected", {.kind = QS_RULE_FUTHARK, .arg = {0, 5e8, 1, 0, 10}}},
    {"futhark corrected, 1 s, strictness 2", {.kind = QS_RULE_FUTHARK, .arg = {0, 1e9, 2, 0, 10}}},
    {"futhark corrected, cube root", {.kind = QS_RULE_FUTHARK, .arg = {0, 5e8, 1, 1, 10}}},
    {"stable, nothing dropped", {.kind = QS_RULE_STABLE, .arg = {30, 0.005, 0.01, 1}}},
    {"stable, dropping", {.kind = QS_RULE_STABLE, .arg = {30, 0.005, 0.01, 0}}},
    {"all(stable(50), futhark)", {.kind = QS_RULE_ALL, .child = futhark_and_stable, .child_count = 2}},
    {"fixed 500", {.kind = QS_RULE_FIXED, .arg = {500}}},
    {"rse 1 %", {.kind = QS_RULE_RSE, .arg = {0.01, 10, 0}}},
    {"ci_width median 1 %", {.kind = QS_RULE_CI_WIDTH, .arg = {0, 0.01, 0.05, 30}}},
    {"ci_width mean 1 %", {.kind = QS_RULE_CI_WIDTH, .arg = {1, 0.01, 0.05, 30}}},
    {"settled 200, 1 %", {.kind = QS_RULE_SETTLED, .arg = {200, 0.01, 4}}},
    {"settled 300, 2 %", {.kind = QS_RULE_SETTLED, .arg = {300, 0.02, 4}}},
    {"any(settled 400, stable 100 nothing dropped)",
     {.kind = QS_RULE_ANY, .child = settled_or_stable, .child_count = 2}},
};

/* One series under one rule, asked after each `step` values. */
static bool simulate(const struct series *s, const struct qs_rule *rule, size_t step, struct outcome *out)
{
    struct replay r;
    if (!replay_rule(s, rule, step, &r))
        return false;
    double at = NAN, reference = NAN;
    size_t third = s->n / 3;
    bool ok = qs_median(s->v + r.kept_from, r.n - r.kept_from, &at) == QS_OK &&
              qs_median(s->v + (s->n - third), third, &reference) == QS_OK;
    *out = (struct outcome){.n = (double)r.n, .error = fabs(at / reference - 1), .capped = r.capped};
    return ok;
}

static bool print_row(const char *name, const struct qs_rule *rule, const struct set *set, size_t step)
{
    double *n = calloc(set->count, sizeof *n), *error = calloc(set->count, sizeof *error);
    size_t capped = 0, above2 = 0, above5 = 0;
    bool ok = n && error;
    for (size_t i = 0; ok && i < set->count; i++) {
        struct outcome o = {0};
        ok = simulate(&set->s[i], rule, step, &o);
        n[i] = o.n;
        error[i] = o.error;
        capped += o.capped ? 1 : 0;
        above2 += o.error > 0.02 ? 1 : 0;
        above5 += o.error > 0.05 ? 1 : 0;
    }
    if (ok) {
        double share = 100 / (double)set->count;
        qs_sort(n, set->count);
        qs_sort(error, set->count);
        printf("| %s | %.0f / %.0f | %.1f %% | %.2f / %.1f %% | %.1f %% | %.1f %% |\n", name,
               qs_quantile(n, set->count, 0.5, QS_QTYPE_7), qs_quantile(n, set->count, 0.9, QS_QTYPE_7),
               share * (double)capped, 100 * qs_quantile(error, set->count, 0.5, QS_QTYPE_7),
               100 * qs_quantile(error, set->count, 0.9, QS_QTYPE_7), share * (double)above2,
               share * (double)above5);
        (void)fflush(stdout);
    }
    free(n);
    free(error);
    return ok;
}

static bool print_table(const struct set *set, size_t step)
{
    printf("%zu series, asked every %zu iterations\n\n", set->count, step);
    printf("| rule | n p50 / p90 | at the cap | error p50 / p90 | > 2 %% | > 5 %% "
           "|\n|---|---|---|---|---|---|\n");
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof rows / sizeof *rows; i++)
        ok = print_row(rows[i].name, &rows[i].rule, set, step);
    for (size_t i = 0; ok && i < QS_PRESETS; i++) {
        char name[300], text[256];
        qs_rule_text(&qs_presets[i].rule, text, sizeof text);
        (void)snprintf(name, sizeof name, "`%s`: %s", qs_presets[i].name, text);
        ok = print_row(name, &qs_presets[i].rule, set, step);
    }
    return ok;
}

static bool number(const char *text, double *ret)
{
    char *end;
    errno = 0;
    *ret = strtod(text, &end);
    return errno == 0 && end != text && *end == '\0' && *ret > 0 && *ret < 1e12;
}

int main(int argc, char **argv)
{
    double step = 5, iteration_ms = 100, seed = 1;
    const char *file = NULL;
    const struct {
        const char *name;
        double *value;
    } options[] = {{"--step", &step}, {"--iteration-ms", &iteration_ms}, {"--seed", &seed}};
    for (int i = 1; i < argc; i++) {
        size_t o = 0;
        while (o < 3 && strcmp(argv[i], options[o].name) != 0)
            o++;
        if (o < 3 ? i + 1 >= argc || !number(argv[++i], options[o].value) : argv[i][0] == '-' || file) {
            fputs("usage: stop_study [--step N] [--iteration-ms MS] [--seed S] [FILE]\n", stderr);
            return 2;
        }
        if (o == 3)
            file = argv[i];
    }
    struct set set = {0};
    bool ok = file ? set_read(&set, file, SERIES_FEWEST) : set_generate(&set, (uint64_t)seed);
    ok = ok && set_scale(&set, iteration_ms * 1e6) && print_table(&set, step < 1 ? 1 : (size_t)step);
    if (!ok)
        fputs("stop_study: no series of at least 30 positive values, or no memory\n", stderr);
    set_free(&set);
    return ok ? 0 : 1;
}
