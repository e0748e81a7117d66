/* Runs of iterations: the sample is cut into runs of 5. */
#include "answers.h"

#include <math.h>
#include <stdint.h>

#include "stats/hier.h"
#include "stats/impact.h"
#include "stats/tree.h"

#define ASK(name)                                                                                            \
    static void name(const double *x, size_t n, const double *unused_y, size_t unused_n, struct answer *a)
#define ONE_SAMPLE_ONLY ((void)unused_y, (void)unused_n)
enum { RUN = 5, RUNS_MOST = 64 };

struct runs {
    struct qs_nested nested;
    size_t off[RUNS_MOST + 1];
};

/* The last run has what is left as well; no value, no run. */
static void cut(struct runs *r, const double *x, size_t n)
{
    size_t k = n < RUN ? n > 0 : n / RUN;
    for (size_t i = 0; i < k; i++)
        r->off[i] = i * RUN;
    r->off[k] = n;
    r->nested = (struct qs_nested){.v = x, .off = r->off, .k = k};
}

ASK(ask_components)
{
    struct runs r;
    struct qs_varcomp c;
    ONE_SAMPLE_ONLY;
    cut(&r, x, n);
    a->status = qs_varcomp(&r.nested, &c);
    answer_put(a, "mean", ANSWER_LOCATION, c.grand_mean);
    answer_put(a, "mean of means", ANSWER_LOCATION, c.mean_of_means);
    answer_put(a, "within", ANSWER_AREA, c.t1);
    answer_put(a, "between", ANSWER_AREA, c.t2);
    answer_put_share(a, "icc", ANSWER_SAME, c.icc);
}

ASK(ask_runs_ci)
{
    struct runs r;
    struct qs_varcomp c;
    struct qs_ci ci;
    ONE_SAMPLE_ONLY;
    cut(&r, x, n);
    a->status = qs_varcomp(&r.nested, &c);
    if (a->status == QS_OK)
        a->status = qs_hier_ci(&r.nested, 0.95, &ci);
    else
        ci = qs_ci_none(0.95);
    answer_put(a, "mean of means", ANSWER_LOCATION, c.mean_of_means);
    answer_put_ci(a, ANSWER_LOCATION, &ci);
}

ASK(ask_impact)
{
    const struct qs_impact_opts opts = {.seed = 5, .rounds = 200};
    struct runs r;
    struct qs_impact i;
    ONE_SAMPLE_ONLY;
    cut(&r, x, n);
    a->status = qs_impact_factor(&r.nested, &opts, &i);
    answer_put_wide(a, "raw", ANSWER_SAME, i.raw);
    answer_put_wide(a, "analytic", ANSWER_SAME, i.analytic);
}

const struct method answers_runs[] = {{"variance components", METHOD_ORDERED, 10, ask_components},
                                      {"interval over runs", METHOD_ORDERED, 10, ask_runs_ci},
                                      {"impact factor", METHOD_ORDERED, 20, ask_impact},
                                      {NULL, 0, 0, NULL}};
