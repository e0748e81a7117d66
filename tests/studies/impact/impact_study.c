/* Impact factor and variance components of runs: impact_study DROP FILE. FILE has a run a line, its
 * iterations in ns, of which the first DROP are left out as warm-up. Prints JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "stats/impact.h"
#include "studies/stop/series.h"

enum { ROUNDS = 10000 }; /* as in the paper */

static bool nest(const struct set *set, size_t drop, struct qs_nested *data, double *v, size_t *off)
{
    for (size_t j = 0; j < set->count; j++) {
        if (set->s[j].n <= drop)
            return false;
        for (size_t i = drop; i < set->s[j].n; i++)
            v[off[j] + i - drop] = set->s[j].v[i];
        off[j + 1] = off[j] + set->s[j].n - drop;
    }
    *data = (struct qs_nested){v, off, set->count};
    return true;
}

static void number(const char *name, double x, const char *after)
{
    if (isfinite(x))
        printf("\"%s\": %.17g%s", name, x, after);
    else
        printf("\"%s\": null%s", name, after);
}

static bool print(const struct qs_nested *data)
{
    const struct qs_impact_opts opts = {.seed = 1, .rounds = ROUNDS};
    struct qs_impact impact;
    struct qs_varcomp v;
    struct qs_kalibera2005 k;
    if (qs_impact_factor(data, &opts, &impact) != QS_OK || qs_varcomp(data, &v) != QS_OK)
        return false;
    printf("{\"runs\": %zu, \"iterations\": %zu, ", v.k, v.n);
    number("mean_ns", v.mean_of_means, ", ");
    number("raw", impact.raw, ", ");
    number("transformed", impact.transformed, ", ");
    number("analytic", impact.analytic, ", ");
    printf("\"additive\": \"%s\", ", qs_additive_names[impact.additive]);
    number("sd_within_ratio", sqrt(v.t1) / v.mean_of_means, ", ");
    number("sd_between_ratio", sqrt(v.t2) / v.mean_of_means, ", ");
    number("between_share", v.icc, ", ");
    /* Eq. 8 for a start that costs as much as 100 iterations, with the corrected components and as printed.
     */
    number("optimal", qs_kalibera2005_samples(v.t1, v.t2, 100), ", ");
    bool equal = qs_hier_kalibera2005(data, 0.95, &k) == QS_OK;
    number("optimal_2005", equal ? qs_kalibera2005_samples(k.s2_x, k.s2_a, 100) : NAN, "}\n");
    return true;
}

int main(int argc, char **argv)
{
    char *end = NULL;
    unsigned long drop = argc == 3 ? strtoul(argv[1], &end, 10) : 0;
    struct set set = {0};
    struct qs_nested data;
    if (argc != 3 || end == argv[1] || *end != '\0' || drop > 1000000) {
        fputs("usage: impact_study DROP FILE\n", stderr);
        return 2;
    }
    bool ok = set_read(&set, argv[2], SERIES_FEWEST);
    size_t n = 0;
    for (size_t j = 0; j < set.count; j++)
        n += set.s[j].n;
    double *v = calloc(n + 1, sizeof *v);
    size_t *off = calloc(set.count + 1, sizeof *off);
    ok = ok && v && off && nest(&set, drop, &data, v, off) && print(&data);
    if (!ok)
        fputs("impact_study: fewer than 4 runs, a run of fewer than 30 positive values or of none after "
              "DROP, or no memory\n",
              stderr);
    free(v);
    free(off);
    set_free(&set);
    return ok ? 0 : 1;
}
