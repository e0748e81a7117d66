/* Cooling curves: exact ones, another implementation's answers, the intervals by their definition and by
 * simulation, what is refused, how long it takes, and whether a model still holds. */
#include "reference.h"

#include "stats/cooling.h"
#include "stats/rng.h"
#include "stats/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { MOST = 300 };

struct shape {
    double end, swing, tau, quantum; /* quantum 0: not rounded */
};

static double at(const struct shape *s, double t)
{
    return s->end + s->swing * exp(-t / s->tau);
}

static double rounded(double y, double quantum)
{
    return quantum > 0 ? nearbyint(y / quantum) * quantum : y;
}

static void draw(const struct shape *s, size_t n, double step, double *t, double *y)
{
    for (size_t i = 0; i < n; i++) {
        t[i] = 1000 + (double)i * step; /* where time begins does not matter */
        y[i] = rounded(at(s, (double)i * step), s->quantum);
    }
}

static void test_exact_curves(void **state)
{
    static const struct shape shapes[] = {{25, 40, 15, 0}, {31, 5, 120, 0}, {-10, 3, 2, 0}, {70, -45, 30, 0}};
    double t[MOST], y[MOST];
    (void)state;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const struct shape *s = &shapes[k];
        struct qs_cooling m;
        draw(s, 100, s->tau / 25, t, y);
        assert_int_equal(qs_cooling_fit(t, y, 100, s->swing > 0 ? QS_COOLS : QS_WARMS, 0.95, &m), QS_OK);
        assert_int_equal(m.says, QS_COOLING_FITS);
        check_near("tau", m.tau, s->tau, 1e-6, 0);
        check_near("end", m.end, s->end, 0, 1e-6 * fabs(s->swing));
        check_near("start", m.start, s->end + s->swing, 0, 1e-6 * fabs(s->swing));
        check_near("its interval is a point", m.tau_ci.hi - m.tau_ci.lo, 0, 0, 0);
        assert_int_equal(m.end_ci.flags, QS_FLAG_EXACT);
        check_near("span", m.span, 99 * s->tau / 25, 1e-12, 0);
        check_near("no steps", m.quantum, 0, 0, 0);
    }
}

/* By tests/tools/cooling_reference.py: damped Gauss-Newton steps on all three numbers, 40 digits. */
static const struct {
    struct shape shape;
    double step, wave;
    size_t n;
    double tau, end, start, sd;
} references[] = {
    {{25, 40, 50, 0.1}, 2, 0, 61, 50.0723189463, 24.9871135465, 64.9855105245, 0.0302767494353},
    {{31, 20, 35, 0.001}, 3, 0.3, 40, 35.5258802743, 30.9463674196, 50.851777948, 0.194002749475},
    {{20, 30, 100, 0.01}, 1, 0.02, 50, 100.758563358, 19.8233917113, 49.9944358254, 0.0124969852888},
};

static void draw_reference(size_t k, double *t, double *y)
{
    const struct shape *s = &references[k].shape;
    for (size_t i = 0; i < references[k].n; i++) {
        double noise = references[k].wave * ((double)((i * 7919) % 13) - 6) / 6;
        t[i] = (double)i * references[k].step;
        y[i] = rounded(at(s, t[i]) + noise, s->quantum);
    }
}

static void test_another_implementation(void **state)
{
    double t[MOST], y[MOST];
    (void)state;
    for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
        struct qs_cooling m;
        draw_reference(k, t, y);
        assert_int_equal(qs_cooling_fit(t, y, references[k].n, QS_COOLS, 0.9, &m), QS_OK);
        assert_int_equal(m.says, QS_COOLING_FITS);
        check_near("tau", m.tau, references[k].tau, 1e-6, 0);
        check_near("end", m.end, references[k].end, 1e-6, 0);
        check_near("start", m.start, references[k].start, 1e-7, 0);
        check_near("sd", m.sd, references[k].sd, 1e-8, 0);
        check_near("quantum", m.quantum, k == 0 ? 0.1 : 0, 1e-6, 0); /* the others have no neighbours */
    }
}

/* The sum of squares of the best line y = a + b g, with a given where it is not NaN. */
static double rss(const double *t, const double *y, size_t n, double tau, double end)
{
    double sg = 0, sy = 0, sgg = 0, sgy = 0, sum = 0, dn = (double)n;
    for (size_t i = 0; i < n; i++) {
        double g = exp(-t[i] / tau);
        sg += g;
        sy += y[i];
        sgg += g * g;
        sgy += g * y[i];
    }
    double b = isnan(end) ? (dn * sgy - sg * sy) / (dn * sgg - sg * sg) : (sgy - end * sg) / sgg;
    double a = isnan(end) ? (sy - b * sg) / dn : end;
    for (size_t i = 0; i < n; i++)
        sum += pow(y[i] - a - b * exp(-t[i] / tau), 2);
    return sum;
}

/* Of all tau, by looking at very many. */
static double rss_of_end(const double *t, const double *y, size_t n, const struct qs_cooling *m, double end)
{
    double least = INFINITY;
    for (int i = -4000; i <= 4000; i++)
        least = fmin(least, rss(t, y, n, m->tau * exp(i * 1e-4), end));
    return least;
}

static void test_intervals_by_definition(void **state)
{
    double t[MOST], y[MOST];
    (void)state;
    for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
        size_t n = references[k].n;
        struct qs_cooling m;
        draw_reference(k, t, y);
        assert_int_equal(qs_cooling_fit(t, y, n, QS_COOLS, 0.9, &m), QS_OK);
        double s = fmax(m.sd, m.quantum / sqrt(12)), q = qs_qt(0.95, m.n_eff - 3);
        double most = rss(t, y, n, m.tau, NAN) + s * s * (double)n / m.n_eff * q * q;
        check_near("lower tau", rss(t, y, n, m.tau_ci.lo, NAN), most, 1e-6, 0);
        check_near("upper tau", rss(t, y, n, m.tau_ci.hi, NAN), most, 1e-6, 0);
        check_near("lower end", rss_of_end(t, y, n, &m, m.end_ci.lo), most, 1e-3, 0);
        check_near("upper end", rss_of_end(t, y, n, &m, m.end_ci.hi), most, 1e-3, 0);
        EXPECT(m.tau_ci.lo < m.tau && m.tau < m.tau_ci.hi && m.end_ci.lo < m.end && m.end < m.end_ci.hi);
        EXPECT(m.n_eff >= 4 && m.n_eff <= (double)n);
    }
}

struct noise {
    double sd, quantum, phi, spans;
    size_t n;
};

/* What share of intervals has tau, and what share the end. */
static void coverage(const struct noise *z, int trials, double *ret_tau, double *ret_end)
{
    struct qs_rng rng;
    int tau_in = 0, end_in = 0;
    double t[MOST], y[MOST], e = 0;
    qs_rng_seed(&rng, 34, (uint64_t)(z->sd * 100 + z->quantum * 10));
    for (int trial = 0; trial < trials; trial++) {
        double tau = 15 + 40 * qs_rng_unit(&rng), end = 25 + 5 * qs_rng_unit(&rng);
        const struct shape s = {end, 35 + 10 * qs_rng_unit(&rng), tau, 0};
        struct qs_cooling m;
        draw(&s, z->n, z->spans * tau / (double)(z->n - 1), t, y);
        for (size_t i = 0; i < z->n; i++) {
            e = z->phi * e + sqrt(1 - z->phi * z->phi) * qs_qnorm(qs_rng_unit(&rng) + 1e-12);
            y[i] = rounded(y[i] + z->sd * e, z->quantum);
        }
        assert_int_equal(qs_cooling_fit(t, y, z->n, QS_COOLS, 0.95, &m), QS_OK);
        assert_int_equal(m.says, QS_COOLING_FITS);
        tau_in += m.tau_ci.lo <= tau && tau <= m.tau_ci.hi;
        end_in += m.end_ci.lo <= end && end <= m.end_ci.hi;
    }
    *ret_tau = (double)tau_in / trials;
    *ret_end = (double)end_in / trials;
}

static void test_coverage(void **state)
{
    static const struct noise kinds[] = {
        {0.3, 0.1, 0, 3, 100},      /* a good sensor */
        {0.05, 1, 0, 3, 100},       /* whole degrees, and hardly any noise to shake them */
        {0, 1, 0, 6, 300},          /* the same for long */
        {0.3, 0.001, 0.8, 3, 200},  /* noise that lasts */
        {0.2, 0.1, 0.5, 1.5, 120}}; /* a short curve of it */
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        double tau, end;
        coverage(&kinds[k], 200, &tau, &end);
        print_message("# sd %.2f, steps of %g, %g spans: tau %.3f, end %.3f\n", kinds[k].sd, kinds[k].quantum,
                      kinds[k].spans, tau, end);
        EXPECT(tau > 0.9 && end > 0.9);
    }
}

static enum qs_cooling_says says(const struct shape *s, size_t n, double step, enum qs_cooling_way way)
{
    double t[MOST], y[MOST];
    struct qs_cooling m;
    draw(s, n, step, t, y);
    assert_int_equal(qs_cooling_fit(t, y, n, way, 0.95, &m), QS_OK);
    EXPECT(m.says == QS_COOLING_FITS || (isnan(m.tau) && isnan(m.end) && isnan(m.tau_ci.lo)));
    return m.says;
}

static void test_what_is_not_determined(void **state)
{
    (void)state;
    static const struct shape good = {25, 40, 15, 0.1}, slow = {25, 40, 1500, 0.1},
                              quick = {25, 40, 0.2, 0.1}, flat = {25, 2, 15, 1}, rises = {60, -30, 15, 0.1},
                              still = {40, 0, 1, 1};
    assert_int_equal(says(&good, 60, 1, QS_COOLS), QS_COOLING_FITS);
    assert_int_equal(says(&good, 7, 5, QS_COOLS), QS_COOLING_FEW);
    assert_int_equal(says(&slow, 60, 1, QS_COOLS), QS_COOLING_SHORT);
    assert_int_equal(says(&quick, 60, 1, QS_COOLS), QS_COOLING_COARSE);
    assert_int_equal(says(&flat, 60, 1, QS_COOLS), QS_COOLING_FLAT);
    assert_int_equal(says(&still, 60, 1, QS_COOLS), QS_COOLING_FLAT);
    assert_int_equal(says(&rises, 60, 1, QS_COOLS), QS_COOLING_OTHER_WAY);
    assert_int_equal(says(&good, 60, 1, QS_WARMS), QS_COOLING_OTHER_WAY);
    assert_int_equal(says(&rises, 60, 1, QS_WARMS), QS_COOLING_FITS);
    assert_string_equal(qs_cooling_says_name(QS_COOLING_SHORT), "short");
    assert_string_equal(qs_cooling_says_name(QS_COOLING_COARSE), "coarse");
    assert_string_equal(qs_cooling_says_name((enum qs_cooling_says)99), "unknown");
}

static void test_what_is_refused(void **state)
{
    double t[MOST], y[MOST];
    const struct shape s = {25, 40, 15, 0.1};
    struct qs_cooling m;
    (void)state;
    draw(&s, 60, 1, t, y);
    assert_int_equal(qs_cooling_fit(t, y, 0, QS_COOLS, 0.95, &m), QS_ENODATA);
    assert_int_equal(qs_cooling_fit(t, y, 60, QS_COOLS, 1, &m), QS_EDOM);
    y[30] = NAN;
    assert_int_equal(qs_cooling_fit(t, y, 60, QS_COOLS, 0.95, &m), QS_EDOM);
    y[30] = INFINITY;
    assert_int_equal(qs_cooling_fit(t, y, 60, QS_COOLS, 0.95, &m), QS_EDOM);
    draw(&s, 60, 1, t, y);
    t[30] = t[28]; /* backwards */
    assert_int_equal(qs_cooling_fit(t, y, 60, QS_COOLS, 0.95, &m), QS_EDOM);
    EXPECT(isnan(m.tau) && isnan(m.end_ci.hi));
    t[30] = t[29]; /* twice the same */
    assert_int_equal(qs_cooling_fit(t, y, 60, QS_COOLS, 0.95, &m), QS_OK);
    draw(&s, 60, 0, t, y);
    assert_int_equal(qs_cooling_fit(t, y, 60, QS_COOLS, 0.95, &m), QS_EDEGENERATE);
    draw(&s, 60, 1, t, y);
    t[0] = -1.7e308;
    t[59] = 1.7e308;
    assert_int_equal(qs_cooling_fit(t, y, 60, QS_COOLS, 0.95, &m), QS_EDOM);
    draw(&s, 60, 1, t, y);
    for (size_t i = 0; i < 60; i++)
        y[i] = i % 2 ? 1.7e308 : -1.7e308;
    EXPECT(qs_cooling_fit(t, y, 60, QS_COOLS, 0.95, &m) == QS_EDOM || m.says != QS_COOLING_FITS);
}

static void test_very_many(void **state)
{
    enum { MANY = 100000 };
    double *t = malloc(2 * MANY * sizeof *t), *y = t + MANY;
    const struct shape s = {25, 40, 15, 0.1};
    struct qs_cooling m;
    (void)state;
    draw(&s, MANY, 60.0 / MANY, t, y);
    assert_int_equal(qs_cooling_fit(t, y, MANY, QS_COOLS, 0.95, &m), QS_OK);
    assert_int_equal(m.says, QS_COOLING_FITS);
    check_near("tau", m.tau, 15, 0.01, 0);
    EXPECT(m.n <= QS_COOLING_MOST && m.n > QS_COOLING_MOST / 2);
    free(t);
}

static void test_how_long_it_takes(void **state)
{
    (void)state;
    check_near("a time constant", qs_cooling_eta(50, 25, QS_COOLS, 25 + 20 * M_E, 45), 50, 1e-12, 0);
    check_near("seventy", qs_cooling_eta(50, 25, QS_COOLS, 65, 34.86387855766), 70, 1e-9, 0);
    check_near("it is there", qs_cooling_eta(50, 25, QS_COOLS, 40, 40), 0, 0, 0);
    check_near("it is beyond", qs_cooling_eta(50, 25, QS_COOLS, 30, 40), 0, 0, 0);
    EXPECT(isinf(qs_cooling_eta(50, 41, QS_COOLS, 50, 41)));
    EXPECT(isinf(qs_cooling_eta(50, 41, QS_COOLS, 50, 36)));
    check_near("warming", qs_cooling_eta(50, 65, QS_WARMS, 65 - 20 * M_E, 45), 50, 1e-12, 0);
    EXPECT(isinf(qs_cooling_eta(50, 65, QS_WARMS, 30, 70)));
    EXPECT(isnan(qs_cooling_eta(NAN, 25, QS_COOLS, 65, 40)));
    EXPECT(isnan(qs_cooling_eta(50, NAN, QS_COOLS, 65, 40)));
}

static void test_whether_it_still_holds(void **state)
{
    double t[MOST], y[MOST];
    const struct shape s = {25, 40, 15, 0.1}, later = {25, 22, 15, 0.1}, summer = {33, 22, 15, 0.1},
                       fan = {25, 40, 9, 0.1};
    struct qs_cooling m;
    struct qs_cooling_check c;
    (void)state;
    draw(&s, 80, 1, t, y);
    assert_int_equal(qs_cooling_fit(t, y, 80, QS_COOLS, 0.95, &m), QS_OK);
    draw(&later, 50, 1, t, y);
    assert_int_equal(qs_cooling_holds(&m, t, y, 50, &c), QS_OK);
    EXPECT(c.holds && c.rms < 2 * c.expected && c.rms > 0.005 && c.rms < 0.1);
    draw(&summer, 50, 1, t, y);
    assert_int_equal(qs_cooling_holds(&m, t, y, 50, &c), QS_OK);
    EXPECT(!c.holds && c.rms > 2);
    check_near("where it would end", c.end, 33, 0, 0.2);
    draw(&fan, 50, 1, t, y);
    assert_int_equal(qs_cooling_holds(&m, t, y, 50, &c), QS_OK);
    EXPECT(!c.holds);
    assert_int_equal(qs_cooling_holds(&m, t, y, 7, &c), QS_ETOOFEW);
    EXPECT(isnan(c.rms) && !c.holds);
    m.says = QS_COOLING_SHORT;
    assert_int_equal(qs_cooling_holds(&m, t, y, 50, &c), QS_EDOM);
}

/* Curves that are cut off after a third of a time constant tell more together than each alone, which may be a
 * line.
 */
static void test_several_curves(void **state)
{
    enum { CURVES = 6, EACH = 16 };
    static double t[CURVES][EACH], y[CURVES][EACH];
    struct qs_cooling_curve curves[CURVES];
    struct qs_cooling m;
    (void)state;
    for (int exact = 1; exact >= 0; exact--) {
        double narrowest = INFINITY;
        int lines = 0;
        for (size_t k = 0; k < CURVES; k++) {
            const struct shape s = {25, 40 - 6 * (double)k, 50, exact ? 0 : 0.5};
            draw(&s, EACH, 1, t[k], y[k]);
            curves[k] = (struct qs_cooling_curve){t[k], y[k], EACH};
            assert_int_equal(qs_cooling_fit(t[k], y[k], EACH, QS_COOLS, 0.95, &m), QS_OK);
            double width = m.says == QS_COOLING_FITS ? m.tau_ci.hi - m.tau_ci.lo : INFINITY;
            narrowest = fmin(narrowest, width);
            lines += m.says == QS_COOLING_SHORT;
        }
        assert_int_equal(qs_cooling_fit_all(curves, CURVES, QS_COOLS, 0.95, &m), QS_OK);
        assert_int_equal(m.says, QS_COOLING_FITS);
        check_near("tau of all", m.tau, 50, exact ? 1e-6 : 0.2, 0);
        check_near("end of all", m.end, 25, exact ? 1e-6 : 0.2, 0);
        assert_true(isnan(m.start) && m.n == CURVES * EACH);
        double sum = 0;
        for (size_t k = 0; k < CURVES; k++)
            sum += rss(t[k], y[k], EACH, m.tau, m.end);
        check_near("sd", m.sd, sqrt(sum / (CURVES * EACH - 2 - CURVES)), 1e-6, 1e-9);
        check_near("span", m.span, EACH - 1, 0, 0);
        print_message("# alone %d of %d are lines, the best is known to %.1f s; together: to %.1f s\n", lines,
                      CURVES, narrowest, m.tau_ci.hi - m.tau_ci.lo);
        EXPECT(exact || (m.tau_ci.lo < 50 && m.tau_ci.hi > 50 && lines >= 2));
        EXPECT(exact || m.tau_ci.hi - m.tau_ci.lo < 0.8 * narrowest);
        EXPECT(exact || (m.end_ci.lo < 25 && m.end_ci.hi > 25));
    }
    assert_int_equal(qs_cooling_fit_all(curves, CURVES, QS_WARMS, 0.95, &m), QS_OK);
    assert_int_equal(m.says, QS_COOLING_OTHER_WAY);
    assert_int_equal(qs_cooling_fit_all(curves, 0, QS_COOLS, 0.95, &m), QS_ENODATA);
    assert_int_equal(qs_cooling_fit_all(curves, QS_COOLING_CURVES + 1, QS_COOLS, 0.95, &m), QS_EDOM);
    curves[3].n = 0;
    assert_int_equal(qs_cooling_fit_all(curves, CURVES, QS_COOLS, 0.95, &m), QS_ENODATA);
}

/* How often the intervals of six short curves contain what is true. */
static void test_coverage_of_several(void **state)
{
    enum { CURVES = 6, EACH = 40, TIMES = 200 };
    static double t[CURVES][EACH], y[CURVES][EACH];
    struct qs_cooling_curve curves[CURVES];
    struct qs_rng rng;
    int fits = 0, tau = 0, end = 0;
    (void)state;
    qs_rng_seed(&rng, 7, 1);
    for (int i = 0; i < TIMES; i++) {
        struct qs_cooling m;
        for (size_t k = 0; k < CURVES; k++) {
            const struct shape s = {25, 40 - 4 * (double)k, 50, 0};
            draw(&s, EACH, 1, t[k], y[k]);
            for (size_t at = 0; at < EACH; at++)
                y[k][at] = rounded(y[k][at] + 0.2 * qs_qnorm(qs_rng_unit(&rng)), 0.1);
            curves[k] = (struct qs_cooling_curve){t[k], y[k], EACH};
        }
        assert_int_equal(qs_cooling_fit_all(curves, CURVES, QS_COOLS, 0.95, &m), QS_OK);
        fits += m.says == QS_COOLING_FITS;
        tau += m.tau_ci.lo <= 50 && m.tau_ci.hi >= 50;
        end += m.end_ci.lo <= 25 && m.end_ci.hi >= 25;
    }
    print_message("# %d of %d fit: tau %.3f, end %.3f\n", fits, TIMES, tau / (double)fits,
                  end / (double)fits);
    EXPECT(fits == TIMES && tau >= 0.9 * TIMES && tau < TIMES && end >= 0.9 * TIMES && end < TIMES);
}

static void test_how_long_a_fall_takes(void **state)
{
    struct qs_cooling m = {.says = QS_COOLING_FITS,
                           .tau = 50,
                           .end = 25,
                           .tau_ci = {.lo = 45, .hi = 55, .level = .95},
                           .end_ci = {.lo = 24, .hi = 26, .level = .95}};
    struct qs_ci ci;
    (void)state;
    assert_int_equal(qs_cooling_fall(&m, 65, 45, 0.5, &ci), QS_OK);
    check_near("at least", ci.lo, 45 * log(40.5 / 21.5), 1e-12, 0);
    check_near("at most", ci.hi, 55 * log(39.5 / 18.5), 1e-12, 0);
    assert_int_equal(qs_cooling_fall(&m, 45, 44.5, 0.5, &ci), QS_OK);
    check_near("may be nothing", ci.lo, 0, 0, 0);
    assert_int_equal(qs_cooling_fall(&m, 65, 26, 0, &ci), QS_OK);
    EXPECT(isfinite(ci.lo) && isinf(ci.hi));
    assert_int_equal(qs_cooling_fall(&m, 45, 46, 0, &ci), QS_EDOM);
    assert_int_equal(qs_cooling_fall(&m, 45, NAN, 0, &ci), QS_EDOM);
    m.says = QS_COOLING_SHORT;
    assert_int_equal(qs_cooling_fall(&m, 65, 45, 0.5, &ci), QS_EDOM);
}

/* The lower end is of the fastest curve to the warmest end, the upper of the slowest to the coolest. */
static void test_how_long_a_rise_takes(void **state)
{
    struct qs_cooling m = {.says = QS_COOLING_FITS,
                           .tau = 50,
                           .end = 80,
                           .tau_ci = {.lo = 45, .hi = 55, .level = .95},
                           .end_ci = {.lo = 78, .hi = 82, .level = .95}};
    struct qs_ci ci;
    (void)state;
    assert_int_equal(qs_cooling_rise(&m, 40, 60, 0.5, &ci), QS_OK);
    check_near("at least", ci.lo, 45 * log(41.5 / 22.5), 1e-12, 0);
    check_near("at most", ci.hi, 55 * log(38.5 / 17.5), 1e-12, 0);
    check_near("level", ci.level, .95, 0, 0);
    assert_int_equal(qs_cooling_rise(&m, 40, 40.9, 0.5, &ci), QS_OK);
    check_near("may be nothing", ci.lo, 0, 0, 0);
    assert_int_equal(qs_cooling_rise(&m, 40, 80, 0, &ci), QS_OK);
    EXPECT(isfinite(ci.lo) && isinf(ci.hi));
    assert_int_equal(qs_cooling_rise(&m, 40, 82.5, 0, &ci), QS_OK);
    EXPECT(isinf(ci.lo));
    assert_int_equal(qs_cooling_rise(&m, 40, 39, 0, &ci), QS_EDOM);
    assert_int_equal(qs_cooling_rise(&m, NAN, 39, 0, &ci), QS_EDOM);
    assert_int_equal(qs_cooling_rise(&m, 40, 60, -1, &ci), QS_EDOM);
    m.says = QS_COOLING_SHORT;
    assert_int_equal(qs_cooling_rise(&m, 40, 60, 0.5, &ci), QS_EDOM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_curves),
        cmocka_unit_test(test_another_implementation),
        cmocka_unit_test(test_intervals_by_definition),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_what_is_not_determined),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_very_many),
        cmocka_unit_test(test_how_long_it_takes),
        cmocka_unit_test(test_whether_it_still_holds),
        cmocka_unit_test(test_several_curves),
        cmocka_unit_test(test_coverage_of_several),
        cmocka_unit_test(test_how_long_a_fall_takes),
        cmocka_unit_test(test_how_long_a_rise_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
