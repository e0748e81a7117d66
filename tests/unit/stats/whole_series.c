/* Series in the order of time. */
#include "whole.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/bootstrap.h"
#include "stats/dependence.h"
#include "stats/drift.h"
#include "stats/edivisive.h"
#include "stats/hunter.h"
#include "stats/pelt.h"
#include "stats/rancid.h"
#include "stats/steady.h"
#include "stats/stepfit.h"
#include "stats/steps.h"
#include "stats/trend.h"

static void put_dependence(FILE *out, const struct whole_sample *s)
{
    for (size_t n_breaks = 0; n_breaks <= s->n_breaks; n_breaks += s->n_breaks > 0 ? s->n_breaks : 1) {
        double r[5] = {NAN, NAN, NAN, NAN, NAN};
        struct qs_ljung_box l;
        struct qs_ess e;
        struct qs_thinning t;
        whole_status(out, qs_acf(s->x, s->nx, s->breaks, n_breaks, 4, r));
        for (size_t i = 0; i < 5; i++)
            PUT(r[i]);
        whole_status(out, qs_ljung_box(s->x, s->nx, s->breaks, n_breaks, 0, &l));
        PUT(l.lags);
        whole_status(out, qs_ljung_box(s->x, s->nx, s->breaks, n_breaks, 3, &l));
        PUT(l.q);
        PUT(l.p);
        whole_status(out, qs_ess(s->x, s->nx, s->breaks, n_breaks, &e));
        PUT(e.geyer);
        PUT(e.ar1);
        PUT(e.tau);
        PUT(e.n_eff);
        PUT(qs_block_length(s->nx, e.tau));
        whole_status(out, qs_thin(s->x, s->nx, s->breaks, n_breaks, &t));
        PUT(t.stride);
        PUT(t.n_kept);
        PUT(t.r1);
        PUT(t.p);
    }
}

static void put_boot(FILE *out, const struct whole_sample *s)
{
    double (*const statistics[2])(double *, size_t, void *) = {qs_statistic_mean, qs_statistic_median};
    for (size_t k = 0; k < 4; k++) {
        const struct qs_boot_opts opts = {
            .statistic = statistics[k % 2], .level = 0.8, .resamples = 151 + k, .seed = k, .haskell = k > 1};
        struct qs_boot b;
        whole_status(out, qs_boot_ci(s->x, s->nx, &opts, &b));
        PUT(b.bias);
        PUT(b.se);
        PUT(b.z0);
        PUT(b.accel);
        PUT_CI(b.pct);
        PUT_CI(b.bca);
        whole_status(out, qs_block_boot_ci(s->x, s->nx, s->breaks, s->n_breaks, k, &opts, &b));
        PUT(b.bias);
        PUT(b.se);
        PUT_CI(b.pct);
        PUT(b.block_length);
    }
}

static void put_trend(FILE *out, const struct whole_sample *s)
{
    struct qs_mann_kendall m;
    struct qs_theil_sen t;
    struct qs_drift d;
    double slope;
    whole_status(out, qs_mann_kendall(s->x, s->nx, &m));
    PUT(m.z);
    PUT(m.tau);
    whole_status(out, qs_theil_sen(s->x, s->nx, NULL, &slope));
    PUT(slope);
    whole_status(out, qs_theil_sen_ci(s->x, s->nx, 0.8, NULL, &t));
    PUT(t.slope);
    PUT(t.intercept);
    PUT_CI(t.ci);
    whole_status(out, qs_drift_about(s->x, s->y, s->nx < s->ny ? s->nx : s->ny, 0.8, NULL, &d));
    PUT(d.n_eff);
    PUT(d.p);
    PUT(d.slope);
    PUT(d.intercept);
    PUT_CI(d.ci);
}

static void put_ramp(FILE *out, const struct whole_sample *s)
{
    struct qs_ramp r;
    enum qs_status status = qs_ramp_fit(s->x, s->nx, &r);
    whole_status(out, status);
    if (status != QS_OK)
        return;
    PUT(r.from);
    PUT(r.to);
    PUT(r.rss);
    PUT(r.step_rss);
    PUT(qs_ramp_at(&r, 0));
    PUT(qs_ramp_at(&r, r.from + 1));
    PUT(qs_ramp_at(&r, r.to));
    PUT(qs_ramp_at(&r, s->nx));
}

static void put_point(FILE *out, const struct qs_change_point *p)
{
    PUT(p->index);
    PUT(p->p);
    PUT(p->before);
    PUT(p->after);
    PUT(p->magnitude);
    PUT(p->ratio);
    PUT_CI(p->ci);
    PUT(p->confirmed);
}

static void put_hunter(FILE *out, const struct whole_sample *s)
{
    static const size_t windows[] = {50, 8, 2};
    for (size_t k = 0; k < 3; k++) {
        struct qs_hunter_opts opts = qs_hunter_opts_default();
        struct qs_change_point points[WHOLE_MOST];
        size_t count = 0;
        opts.window = windows[k];
        opts.p_max = k == 0 ? 0.01 : 0.2;
        opts.min_magnitude = k == 1 ? 0.05 : 0;
        opts.confirm_after = 3;
        whole_status(out, qs_hunter(s->x, s->nx, &opts, points, &count));
        PUT(count);
        for (size_t i = 0; i < count && i < 5; i++)
            put_point(out, &points[i]);
    }
}

static void put_steps(FILE *out, const struct whole_sample *s)
{
    struct qs_hunter_opts opts = qs_hunter_opts_default();
    for (size_t k = 0; k < 2; k++) {
        struct qs_steps steps;
        double sum = 0;
        unsigned alone = 0;
        opts.p_max = k == 0 ? 0.001 : 0.1;
        enum qs_status status = qs_steps_find(s->x, s->nx, &opts, &steps);
        whole_status(out, status);
        for (size_t i = 0; status == QS_OK && i < s->nx; i++) {
            sum += (double)(i + 1) * steps.y[i];
            alone = alone * 3 % 10007 + steps.alone[i];
        }
        PUT(sum);
        PUT(alone);
        PUT(steps.scale);
        PUT(steps.phi);
        PUT(steps.n_points);
        for (size_t i = 0; i < steps.n_points && i < 5; i++)
            put_point(out, &steps.point[i]);
        qs_steps_free(&steps);
        PUT(qs_steps_least_z(s->nx, &opts));
    }
    PUT(qs_ar1_phi(s->x, s->nx, 2));
    PUT(qs_ar1_inflation(0.4, s->nx));
}

static void put_change(FILE *out, const struct qs_change *c)
{
    PUT(c->kind);
    PUT(c->from);
    PUT(c->to);
    PUT(c->p);
    PUT(c->before);
    PUT(c->after);
    PUT(c->ratio);
    PUT_CI(c->ci);
    PUT(c->slope);
    PUT(c->n_eff);
    PUT(c->median_before);
    PUT(c->median_after);
    PUT(c->confirmed);
}

static void put_changes(FILE *out, const struct whole_sample *s)
{
    static const double least[] = {0, 0.02, 0.2};
    for (size_t k = 0; k < 3; k++) {
        struct qs_hunter_opts opts = qs_hunter_opts_default();
        struct qs_changes c;
        opts.min_magnitude = least[k];
        opts.p_max = k == 2 ? 0.05 : 0.001;
        whole_status(out, qs_changes_find(s->x, s->nx, &opts, &c));
        PUT(c.count);
        for (size_t i = 0; i < c.count; i++)
            put_change(out, &c.at[i]);
        PUT(c.n_alone);
        for (size_t i = 0; i < c.n_alone && i < 4; i++)
            PUT(c.alone[i]);
        PUT(c.smaller);
        PUT(c.smaller_most_ratio);
        PUT(c.detectable_ratio);
        PUT(c.phi);
        qs_changes_free(&c);
    }
}

static void put_places(FILE *out, enum qs_status status, const size_t *places, const size_t *count)
{
    whole_status(out, status);
    PUT(*count);
    for (size_t i = 0; i < *count && i < 8; i++)
        PUT(places[i]);
}

static void put_segments(FILE *out, const struct whole_sample *s)
{
    size_t places[WHOLE_MOST], count = 0;
    for (size_t k = 0; k < 4; k++) {
        struct qs_pelt_opts opts = qs_pelt_opts_default();
        opts.penalty = k < 2 ? NAN : 6;
        opts.least = k % 2 == 0 ? 0 : 2;
        opts.raw = k == 3;
        opts.resolution = k == 2 ? 2 : 0;
        put_places(out, qs_pelt(s->x, s->nx, &opts, places, &count), places, &count);
    }
    put_places(out, qs_pelt_mean(s->x, s->nx, NULL, places, &count), places, &count);
    put_places(out, qs_ed_pelt(s->x, s->nx, 1, NULL, places, &count), places, &count);
    put_places(out, qs_ed_pelt(s->x, s->nx, 20, NULL, places, &count), places, &count);
    double scratch[2 * WHOLE_MOST];
    if (s->nx >= 2) {
        struct qs_split split = qs_best_split(s->x, s->nx, scratch, NULL);
        PUT(split.at);
        PUT(split.q);
    }
    const struct qs_edivisive_opts opts = {.seed = 5, .permutations = 49, .p_max = 0.3};
    struct qs_edivisive_point points[WHOLE_MOST];
    whole_status(out, qs_edivisive(s->x, s->nx, &opts, points, &count));
    for (size_t i = 0; i < count && i < 6; i++) {
        PUT(points[i].index);
        PUT(points[i].q);
        PUT(points[i].p);
    }
}

static void put_perfherder(FILE *out, const struct whole_sample *s)
{
    static const struct qs_perfherder_opts opts[] = {{12, 24, 12, 7}, {3, 5, 4, 2}, {1, 1, 1, 0}};
    for (size_t k = 0; k < 3; k++) {
        size_t places[WHOLE_MOST], count = 0;
        double t[WHOLE_MOST], sum = 0;
        enum qs_status status = qs_perfherder(s->x, s->nx, &opts[k], t, places, &count);
        put_places(out, status, places, &count);
        for (size_t i = 0; status == QS_OK && i < s->nx; i++)
            sum += isfinite(t[i]) ? (double)(i + 1) * t[i] : 1;
        PUT(sum);
    }
}

static void put_steady(FILE *out, const struct whole_sample *s)
{
    for (size_t k = 0; k < 3; k++) {
        const struct qs_steady_opts opts = {
            .delta_ratio = k == 0 ? 0.01 : 0.3, .lower_is_better = k < 2, .resolution = k == 2 ? 1 : 0};
        uint8_t leave_out[WHOLE_MOST] = {0};
        struct qs_steady steady;
        leave_out[s->nx / 3] = leave_out[s->nx / 2] = 1;
        whole_status(out, qs_steady_state(s->x, s->nx, k == 1 ? leave_out : NULL, &opts, &steady));
        PUT(steady.class);
        PUT(steady.start);
        PUT(steady.segments);
        PUT(steady.mean);
    }
}

static void put_stepfit(FILE *out, const struct whole_sample *s)
{
    for (int kind = 0; kind < QS_STEP_KINDS; kind++) {
        const struct qs_stepfit_opts opts = {
            .kind = (enum qs_step_kind)kind, .sd_min = 0.001, .interesting = 0.04};
        struct qs_stepfit fit;
        whole_status(out, qs_stepfit(s->x, s->nx, &opts, &fit));
        PUT(fit.step);
        PUT(fit.regression);
        PUT(fit.lse);
        PUT(fit.status);
        whole_status(out, qs_stepfit_halves(s->x, s->nx, s->y, s->ny, &opts, &fit));
        PUT(fit.step);
        PUT(fit.regression);
        PUT(fit.lse);
        PUT(fit.status);
    }
}

static void put_evolution(FILE *out, const struct whole_sample *s)
{
    double error[WHOLE_MOST], rel_iqr[WHOLE_MOST];
    enum qs_status status = qs_error_evolution(s->x, s->nx, 100, error, rel_iqr);
    whole_status(out, status);
    for (size_t i = 0; status == QS_OK && i < s->nx; i += 1 + s->nx / 8) {
        PUT(error[i]);
        PUT(rel_iqr[i]);
    }
}

const struct whole_page whole_series[] = {{"dependence", put_dependence},
                                          {"boot", put_boot},
                                          {"trend", put_trend},
                                          {"ramp", put_ramp},
                                          {"hunter", put_hunter},
                                          {"steps", put_steps},
                                          {"changes", put_changes},
                                          {"segments", put_segments},
                                          {"perfherder", put_perfherder},
                                          {"steady", put_steady},
                                          {"stepfit", put_stepfit},
                                          {"evolution", put_evolution},
                                          {NULL, NULL}};
