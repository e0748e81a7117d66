/* Waits of gates as cooling curves, made up with a known time constant: the model that they make together,
 * which of them count, and when a measured model no longer holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "world.h"

#include "report/refit.h"
#include "stats/rng.h"
#include "stats/special.h"

#define DAY INT64_C(86400000000000)

/* Of 0.2 degrees, in steps of 0.1. */
static double noisy(struct qs_rng *rng, double mc)
{
    return nearbyint((mc + 200 * qs_qnorm(qs_rng_unit(rng) + 1e-12)) / 100) * 100;
}

struct shape {
    double tau_s, end_mc, from_mc, to_mc, step_mc;
};

/* A reading a second, as rounded as the sensor's. */
static const char *fall(const struct shape *s)
{
    static char text[4096];
    size_t n = 0;
    for (int t = 0; t < QS_REFIT_READINGS; t++) {
        double v = s->end_mc + (s->from_mc - s->end_mc) * exp(-t / s->tau_s);
        if (v < s->to_mc)
            break;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s[%d,%.0f]", t > 0 ? "," : "[", t * 1000,
                              nearbyint(v / s->step_mc) * s->step_mc);
    }
    snprintf(text + n, sizeof text - n, "]");
    return text;
}

static struct qs_refit measured(double tau_s)
{
    return (struct qs_refit){.sensor = "thermal:cpu",
                             .measured = {.says = QS_COOLING_FITS,
                                          .tau = tau_s,
                                          .end = 25000,
                                          .tau_ci = {.lo = tau_s - 1, .hi = tau_s + 1, .level = .95},
                                          .end_ci = {.lo = 24500, .hi = 25500, .level = .95},
                                          .sd = 30},
                             .measured_wall_ns = 100 * DAY};
}

static struct qs_refit of(double model_tau_s, double tau_s, size_t waits)
{
    struct qs_refit r = measured(model_tau_s);
    for (size_t i = 0; i < waits; i++) {
        const struct shape s = {tau_s, 25000, 70000 - 2000 * (double)(i % 4), 45000, 100};
        qs_refit_add(&r, (200 - (int64_t)i) * DAY, fall(&s));
    }
    qs_refit_make(&r);
    return r;
}

static void is_near(double got, double want, double ratio)
{
    if (!(fabs(got / want - 1) <= ratio))
        fail_msg("%g is not %g", got, want);
}

static void waits_make_a_model(void **state)
{
    (void)state;
    for (size_t waits = 0; waits < 12; waits++) {
        struct qs_refit r = of(50, 20, waits);
        assert_int_equal(r.waits, waits < 8 ? waits : 8);
        assert_true(qs_refit_best(&r) == (waits < 3 ? &r.measured : &r.fit));
        if (waits < 3)
            continue;
        is_near(r.fit.tau, 20, 0.02);
        is_near(r.fit.end, 25000, 0.02);
        assert_true(r.fit.tau_ci.lo <= 20 && r.fit.tau_ci.hi >= 20 && r.fit.tau_ci.hi < 21);
        assert_int_equal(r.newest_wall_ns, 200 * DAY);
        is_near(r.measured.tau, 50, 0); /* it stays what it was */
    }
    struct qs_refit none = {.measured = {.says = QS_COOLING_FEW}};
    qs_refit_make(&none);
    assert_null(qs_refit_best(&none));
}

/* A span and a fall that tell of the curve, in which nothing heated. */
static void which_waits_count(void **state)
{
    static const struct {
        const char *trace;
        size_t counts, readings;
    } rows[] = {
        {"[[0,70000],[1000,69000],[2000,68020],[3000,67060],[4000,66120],[5000,65190],[6000,64290]]", 0, 0},
        {"[[0,70000],[1000,69000],[2000,68020],[3000,67060],[4000,66120],[5000,65190],[6000,64290],[7000,"
         "63400]]",
         1, 8},
        {"[[0,70000],[1000,70000],[2000,70000],[3000,70000],[4000,70000],[5000,70000],[6000,70000],[7000,"
         "70000]]",
         0, 0},
        /* It was heated at first. */
        {"[[0,60000],[1000,66000],[2000,70000],[3000,69000],[4000,68020],[5000,67060],[6000,66120],[7000,"
         "65190],"
         "[8000,64290],[9000,63400]]",
         1, 8},
        {"[[0,70000],[1000,69000],[2000,68020],[3000,67060],[4000,66120],[5000,65190],[6000,66300],[7000,"
         "63400]]",
         0, 0},
        {"[[0,40000],[1000,41000],[2000,42000],[3000,43000],[4000,44000],[5000,45000],[6000,46000],[7000,"
         "47000]]",
         0, 0},
        {"[[0,70000],[1000", 0, 0},
        {"", 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qs_refit r = measured(50);
        qs_refit_add(&r, 200 * DAY, rows[i].trace);
        if (r.waits != rows[i].counts || r.n[0] != rows[i].readings)
            fail_msg("row %zu: %zu waits of %zu readings", i, r.waits, r.n[0]);
    }
}

static void says(const struct qs_refit *r, const char *want)
{
    QS_BUF(text);
    if (qs_refit_no_longer_holds(r))
        qs_refit_say(r, &text);
    assert_string_equal(text.data ? text.data : "", want);
}

static void when_it_no_longer_holds(void **state)
{
    struct qs_refit r;
    (void)state;
    r = of(50, 50, 8);
    assert_int_equal(r.off.waits, 0);
    r = of(50, 53, 8); /* 6 % are of no use to anybody */
    assert_int_equal(r.off.waits, 0);
    r = of(50, 75, 2);
    says(&r, "");
    r = of(50, 75, 3); /* 60 + 57 + 53 s, and two thirds of that */
    says(&r, "no longer holds since 1970-07-18: its last 3 waits took 2 min 50 s, where 1 min 53 s were "
             "predicted");
    r = of(50, 30, 4);
    assert_int_equal(r.off.waits, 4);
    is_near(r.off.took_s / r.off.predicted_s, 0.6, 0.03);
    r = of(50, 75, 40); /* however long ago it began */
    assert_int_equal(r.off.waits, 40);
    assert_int_equal(r.off.since_wall_ns, 161 * DAY);
}

/* The newest first: two that take too long, one too short, one as it should be, one before it was measured.
 */
static void only_in_a_row(void **state)
{
    static const struct {
        double tau_s[4];
        int64_t before;
        size_t off;
    } rows[] = {{{75, 75, 75, 50}, 0, 3}, {{75, 75, 30, 75}, 0, 2}, {{75, 50, 75, 75}, 0, 1},
                {{50, 75, 75, 75}, 0, 0}, {{30, 30, 30, 30}, 0, 4}, {{75, 75, 75, 75}, 102, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct qs_refit r = measured(50);
        for (size_t k = 0; k < 4; k++) {
            const struct shape s = {rows[i].tau_s[k], 25000, 70000, 45000, 100};
            qs_refit_add(&r, (200 - (int64_t)k - (k > 1 ? rows[i].before : 0)) * DAY, fall(&s));
        }
        if (r.off.waits != rows[i].off)
            fail_msg("row %zu: %zu", i, r.off.waits);
    }
    struct qs_refit warm = measured(50); /* it would never have been as cool */
    warm.measured.end = 50000;
    warm.measured.end_ci.lo = 49500;
    warm.measured.end_ci.hi = 50500;
    for (int k = 0; k < 3; k++)
        qs_refit_add(&warm, 200 * DAY, fall(&(const struct shape){20, 25000, 70000, 45000, 100}));
    says(&warm,
         "no longer holds since 1970-07-20: its last 3 waits took 48.0 s, where it would never have become "
         "as cool");
}

enum { CURVE = 120 };

/* How many of 100 models, each fitted to a noisy curve of its own, are called wrong by eight noisy waits that
 * are `slower` than it. */
static size_t called_wrong(struct qs_rng *rng, double slower)
{
    size_t wrong = 0;
    for (int trial = 0; trial < 100; trial++) {
        double times[CURVE], values[CURVE], tau = 20 + 30 * qs_rng_unit(rng);
        struct qs_refit r = {.measured_wall_ns = 1};
        for (int i = 0; i < CURVE; i++) {
            times[i] = i * 3 * tau / CURVE;
            values[i] = noisy(rng, 25000 + 45000 * exp(-times[i] / tau));
        }
        assert_int_equal(qs_cooling_fit(times, values, CURVE, QS_COOLS, 0.95, &r.measured), QS_OK);
        for (int wait = 0; wait < 8; wait++) {
            QS_BUF(trace);
            for (int t = 0; t < 40; t++)
                qs_buf_fmt(&trace, "%s[%d,%.0f]", t > 0 ? "," : "[", 1000 * t,
                           noisy(rng, 25000 + 40000 * exp(-t / (slower * tau))));
            qs_refit_add(&r, 10 - wait, trace.data);
        }
        wrong += qs_refit_no_longer_holds(&r);
    }
    return wrong;
}

static void how_often_it_is_called_wrong(void **state)
{
    struct qs_rng rng;
    (void)state;
    qs_rng_seed(&rng, 11, 1);
    size_t same = called_wrong(&rng, 1), slower = called_wrong(&rng, 1.3), faster = called_wrong(&rng, 0.7);
    print_message("# called wrong, of 100: the same %zu, slower %zu, faster %zu\n", same, slower, faster);
    assert_true(same <= 1 && slower >= 90 && faster >= 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_make_a_model), cmocka_unit_test(which_waits_count),
        cmocka_unit_test(when_it_no_longer_holds), cmocka_unit_test(only_in_a_row),
        cmocka_unit_test(how_often_it_is_called_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
