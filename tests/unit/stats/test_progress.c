/* Long work tells its share and ends where it is told to: counted by questions, never by time. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/bootstrap.h"
#include "stats/drift.h"
#include "stats/edivisive.h"
#include "stats/outlier.h"
#include "stats/hier.h"
#include "stats/hunter.h"
#include "stats/impact.h"
#include "stats/modality.h"
#include "stats/opinion.h"
#include "stats/pelt.h"
#include "stats/rancid.h"
#include "stats/ranks.h"
#include "stats/rng.h"
#include "stats/steady.h"
#include "stats/sum.h"
#include "stats/trend.h"

enum { N = 12000, SERIES = 4500, RUNS = 8 };

struct listener {
    size_t asked, refuse_at; /* 0: never */
    double last;
    bool fell, outside;
};

static bool hear(void *user, const char *stage, double done_ratio)
{
    struct listener *l = user;
    (void)stage;
    l->asked++;
    l->fell = l->fell || done_ratio < l->last - 1e-12;
    l->outside = l->outside || !(done_ratio >= 0 && done_ratio <= 1);
    l->last = done_ratio;
    return l->refuse_at == 0 || l->asked < l->refuse_at;
}

struct data {
    double x[N], y[N];
    size_t off[RUNS + 1];
};

static struct qs_nested runs_of(const struct data *d, const double *v)
{
    return (struct qs_nested){.v = v, .off = d->off, .k = RUNS};
}

typedef enum qs_status stage_fn(const struct data *d, const struct qs_progress *progress);

static double widest(double *x, size_t n, void *user)
{
    double most = 0;
    (void)user;
    for (size_t i = 1; i < n; i++)
        most = fmax(most, fabs(x[i] - x[i - 1]));
    return most;
}

static enum qs_status boot_with(const struct data *d, size_t n, const struct qs_progress *progress,
                                double (*statistic)(double *x, size_t n, void *user))
{
    struct qs_boot out;
    const struct qs_boot_opts opts = {
        .statistic = statistic, .level = 0.95, .resamples = 200, .seed = 1, .progress = *progress};
    return qs_boot_ci(d->x, n, &opts, &out);
}

static enum qs_status boot_mean(const struct data *d, const struct qs_progress *progress)
{
    return boot_with(d, N, progress, qs_statistic_mean);
}

static enum qs_status boot_median(const struct data *d, const struct qs_progress *progress)
{
    return boot_with(d, 2000, progress, qs_statistic_median);
}

/* Its jackknife evaluates, too. */
static enum qs_status boot_other(const struct data *d, const struct qs_progress *progress)
{
    return boot_with(d, 3000, progress, widest);
}

static enum qs_status boot_blocks(const struct data *d, const struct qs_progress *progress)
{
    struct qs_boot out;
    const struct qs_boot_opts opts = {
        .statistic = qs_statistic_mean, .level = 0.95, .resamples = 200, .seed = 1, .progress = *progress};
    return qs_block_boot_ci(d->x, N, NULL, 0, 50, &opts, &out);
}

static enum qs_status hier_boot(const struct data *d, const struct qs_progress *progress)
{
    const struct qs_nested x = runs_of(d, d->x), y = runs_of(d, d->y);
    const struct qs_tree base = qs_nested_tree(&x), cand = qs_nested_tree(&y);
    const struct qs_hier_boot_opts opts = {
        .seed = 1, .stream = 1, .resamples = 200, .level = 0.95, .progress = *progress};
    struct qs_hier_boot out;
    return qs_hier_boot_ratio(&base, &cand, &opts, &out);
}

static enum qs_status impact(const struct data *d, const struct qs_progress *progress)
{
    const struct qs_nested x = runs_of(d, d->x);
    const struct qs_impact_opts opts = {.seed = 1, .rounds = 100000, .progress = *progress};
    struct qs_impact out;
    return qs_impact_factor(&x, &opts, &out);
}

static enum qs_status rancid(const struct data *d, const struct qs_progress *progress)
{
    struct qs_rancid out;
    return qs_rancid(d->x, 300, d->y, 300, 0.95, 1, progress, &out);
}

static enum qs_status opinion(const struct data *d, const struct qs_progress *progress)
{
    size_t off[301];
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        off[i] = i;
    const struct qs_nested x = {.v = d->x, .off = off, .k = 300}, y = {.v = d->y, .off = off, .k = 300};
    const struct qs_opinion_opts opts = {.level = 0.95, .one_ms = 1, .seed = 1, .progress = *progress};
    struct qs_opinion out;
    return qs_opinion(QS_OPINION_RANCID, &x, &y, &opts, &out);
}

static enum qs_status edivisive(const struct data *d, const struct qs_progress *progress)
{
    const struct qs_edivisive_opts opts = {
        .seed = 1, .permutations = 19, .p_max = 0.1, .progress = *progress};
    struct qs_edivisive_point points[100];
    size_t count;
    return qs_edivisive(d->x, 100, &opts, points, &count);
}

static enum qs_status hunter(const struct data *d, const struct qs_progress *progress)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_change_point *points = malloc(SERIES * sizeof *points);
    size_t count;
    opts.window = SERIES;
    opts.progress = *progress;
    enum qs_status status = qs_hunter(d->x, SERIES, &opts, points, &count);
    free(points);
    return status;
}

static enum qs_status changes(const struct data *d, const struct qs_progress *progress)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    struct qs_changes found;
    opts.progress = *progress;
    enum qs_status status = qs_changes_find(d->x, 1200, &opts, &found);
    qs_changes_free(&found);
    return status;
}

static enum qs_status best_split(const struct data *d, const struct qs_progress *progress)
{
    double *scratch = malloc((size_t)2 * SERIES * sizeof *scratch);
    struct qs_split split = qs_best_split(d->x, SERIES, scratch, progress);
    free(scratch);
    return isnan(split.q) ? QS_ECANCELED : QS_OK;
}

static enum qs_status pelt(const struct data *d, const struct qs_progress *progress)
{
    struct qs_pelt_opts opts = qs_pelt_opts_default();
    size_t found[1000], count;
    opts.progress = *progress;
    return qs_pelt(d->x, 1500, &opts, found, &count);
}

static enum qs_status ed_pelt(const struct data *d, const struct qs_progress *progress)
{
    size_t found[1000], count;
    return qs_ed_pelt(d->x, 800, 20, progress, found, &count);
}

static enum qs_status steady(const struct data *d, const struct qs_progress *progress)
{
    const struct qs_steady_opts opts = {.delta_ratio = 0.01, .lower_is_better = true, .progress = *progress};
    struct qs_steady out;
    return qs_steady_state(d->x, 1500, NULL, &opts, &out);
}

static enum qs_status hl(const struct data *d, const struct qs_progress *progress)
{
    struct qs_hl out;
    return qs_hl(d->x, N, d->y, N, 0.95, QS_RANKS_AUTO, progress, &out);
}

static enum qs_status hl_ratio(const struct data *d, const struct qs_progress *progress)
{
    struct qs_hl out;
    return qs_hl_ratio(d->x, N, d->y, N, 0.95, QS_RANKS_AUTO, progress, &out);
}

static enum qs_status lowland(const struct data *d, const struct qs_progress *progress)
{
    struct qs_modes out;
    return qs_lowland(d->x, N, progress, &out);
}

static enum qs_status modality(const struct data *d, const struct qs_progress *progress)
{
    struct qs_modality_test out;
    return qs_modality_test(d->x, N, NAN, progress, &out);
}

static enum qs_status gesd(const struct data *d, const struct qs_progress *progress)
{
    const struct qs_gesd_opts opts = {.most = 10, .alpha = 0.05, .progress = *progress};
    struct qs_gesd out;
    uint8_t flags[500];
    return qs_gesd_flags(d->x, 500, &opts, flags, &out);
}

static enum qs_status theil_sen(const struct data *d, const struct qs_progress *progress)
{
    struct qs_theil_sen out;
    return qs_theil_sen_ci(d->x, 400, 0.95, progress, &out);
}

static enum qs_status drift(const struct data *d, const struct qs_progress *progress)
{
    struct qs_drift out;
    return qs_drift(d->x, 400, 0.95, progress, &out);
}

static enum qs_status sort(const struct data *d, const struct qs_progress *progress)
{
    double *copy = malloc(N * sizeof *copy);
    memcpy(copy, d->x, N * sizeof *copy);
    bool sorted = qs_sort_asking(copy, N, progress);
    free(copy);
    return sorted ? QS_OK : QS_ECANCELED;
}

static const struct {
    const char *name;
    stage_fn *run;
} stages[] = {{"bootstrap of the mean", boot_mean},
              {"bootstrap of the median", boot_median},
              {"bootstrap of another statistic", boot_other},
              {"block bootstrap", boot_blocks},
              {"hierarchical bootstrap", hier_boot},
              {"impact factor", impact},
              {"rancid", rancid},
              {"opinion", opinion},
              {"e-divisive", edivisive},
              {"hunter", hunter},
              {"changes", changes},
              {"best split", best_split},
              {"pelt", pelt},
              {"ed-pelt", ed_pelt},
              {"steady state", steady},
              {"hodges-lehmann", hl},
              {"hodges-lehmann of ratios", hl_ratio},
              {"lowland", lowland},
              {"modality", modality},
              {"gesd", gesd},
              {"theil-sen", theil_sen},
              {"drift", drift},
              {"sort", sort}};
enum { STAGES = sizeof stages / sizeof *stages };

static struct data *make_data(void)
{
    struct data *d = malloc(sizeof *d);
    struct qs_rng rng;
    qs_rng_seed(&rng, 5, 1);
    for (size_t i = 0; i < N; i++) {
        d->x[i] = 100 + 10 * qs_rng_unit(&rng) + (i % 300 >= 150 ? 8 : 0);
        d->y[i] = 101 + 10 * qs_rng_unit(&rng);
    }
    for (size_t i = 0; i <= RUNS; i++)
        d->off[i] = i * (N / RUNS);
    return d;
}

static int set_up(void **state)
{
    *state = make_data();
    return 0;
}

static int tear_down(void **state)
{
    free(*state);
    return 0;
}

static struct listener run(const struct data *d, size_t stage, size_t refuse_at, enum qs_status expected)
{
    struct listener l = {.refuse_at = refuse_at};
    const struct qs_progress progress = {.go_on = hear, .user = &l};
    enum qs_status status = stages[stage].run(d, &progress);
    if (status != expected || l.fell || l.outside)
        fail_msg("%s, refused at question %zu of %zu: %s, the share %s", stages[stage].name, refuse_at,
                 l.asked, qs_status_name(status),
                 l.fell      ? "fell"
                 : l.outside ? "left [0,1]"
                             : "held");
    return l;
}

static void test_shares_rise(void **state)
{
    for (size_t i = 0; i < STAGES; i++)
        assert_true(run(*state, i, 0, QS_OK).asked > 1);
}

/* At the first question, the second, in the middle and at the last; nobody asks after a refusal. */
static void test_every_stage_ends(void **state)
{
    for (size_t i = 0; i < STAGES; i++) {
        size_t all = run(*state, i, 0, QS_OK).asked;
        const size_t refused[] = {1, 2, all / 2 + 1, all};
        for (size_t k = 0; k < sizeof refused / sizeof *refused; k++)
            assert_int_equal(run(*state, i, refused[k], QS_ECANCELED).asked, refused[k]);
    }
}

static void test_a_part_is_told_as_one(void **state)
{
    struct listener l = {.asked = 0};
    const struct qs_progress whole = {.go_on = hear, .user = &l};
    const struct qs_progress half = qs_progress_part(&whole, 0.5, 1),
                             end = qs_progress_part(&half, 0.5, 0.75);
    (void)state;
    assert_true(qs_progress_go_on(&half, 0));
    assert_float_equal(l.last, 0.5, 1e-15);
    assert_true(qs_progress_go_on(&end, 0));
    assert_float_equal(l.last, 0.75, 1e-15);
    assert_true(qs_progress_go_on(&end, 1));
    assert_float_equal(l.last, 0.875, 1e-15);
    assert_true(qs_progress_go_on(NULL, 1));
    const struct qs_progress nobody = qs_progress_part(NULL, 0.5, 1);
    assert_true(qs_progress_go_on(&nobody, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_shares_rise, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_every_stage_ends, set_up, tear_down),
        cmocka_unit_test(test_a_part_is_told_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
