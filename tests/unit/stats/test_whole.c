/* Every number of every statistic, over samples of many kinds, as it was: what the references and laws of the
 * other tests leave open does not change unnoticed. Numbers are compared to six digits. */
#include "whole.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/rng.h"

static const char *golden_path; /* argv[1] */

void whole_status(FILE *out, enum qs_status status)
{
    fprintf(out, " %s", qs_status_name(status));
}

static void put_value(FILE *out, double v)
{
    if (isnan(v))
        fprintf(out, "nan"); /* of either sign */
    else
        fprintf(out, "%.11g", v + 0.0);
}

/* The name's last part, without what it is a member of; of a call what is called. */
void whole_number(FILE *out, const char *name, double v)
{
    size_t n = strcspn(name, "( ");
    for (size_t i = 0; i < n; i++)
        if (name[i] == '.' || name[i] == '>' || name[i] == '*') {
            name += i + 1;
            n -= i + 1;
            i = 0;
        }
    fprintf(out, " %.*s=", (int)n, name);
    put_value(out, v);
}

void whole_ci(FILE *out, const char *name, const struct qs_ci *ci)
{
    whole_number(out, name, ci->lo);
    fprintf(out, "..");
    put_value(out, ci->hi);
    fprintf(out, "@%.11g/%u", ci->level, ci->flags);
}

void whole_ttest(FILE *out, const struct qs_ttest *t, int samples)
{
    PUT(t->diff);
    PUT(t->se);
    PUT(t->t);
    PUT(t->df);
    PUT(t->p);
    PUT_CI(t->ci);
    PUT(t->sd[0]);
    if (samples == 2)
        PUT(t->sd[1]);
    PUT(t->n[0]);
    if (samples == 2)
        PUT(t->n[1]);
    PUT(t->flags);
}

/* ---- samples ---- */

enum shape { SKEWED, TIED, STEPS, DRIFT, MODES, SIGNED, ZEROS, CONSTANT, WIDE, WARM };

static double value(enum shape shape, size_t i, size_t n, struct qs_rng *rng)
{
    double u = qs_rng_unit(rng), v = qs_rng_unit(rng), at = (double)i / (double)n;
    switch (shape) {
    case SKEWED:
        return 100 + floor(60 * u * v) / 4 + (at < 0.5 ? 0 : 5);
    case TIED:
        return 10 + floor(3 * u);
    case STEPS:
        return 100 + (at < 0.3 ? 0 : at < 0.65 ? 12 : 4) + 3 * (u + v) + (i % 47 == 29 ? 60 : 0);
    case DRIFT:
        return 200 + (at < 0.25 ? 0 : at < 0.75 ? 40 * (at - 0.25) : 20) + 4 * u + 2 * v;
    case MODES:
        return u < 0.4 ? 50 + 6 * v : 80 + 9 * v * v;
    case SIGNED:
        return floor(40 * (u - v)) / 8;
    case ZEROS:
        return u < 0.6 ? 0 : 3 * v;
    case CONSTANT:
        return 7.25;
    case WIDE:
        return 1 / (1e-3 + u * v);
    case WARM:
        return 90 + 200 / (1 + (double)(i * i)) + 2 * u + v;
    }
    return NAN;
}

static struct whole_sample sample_of(const char *name, enum shape shape, size_t nx, size_t ny, double factor)
{
    struct whole_sample s = {.name = name, .nx = nx, .ny = ny};
    struct qs_rng rng;
    qs_rng_seed(&rng, 77 + (uint64_t)shape, nx);
    for (size_t i = 0; i < nx; i++) {
        s.dx[i] = qs_rng_below(&rng, 3) == 0;
        s.x[i] = value(shape, i, nx, &rng) * (s.dx[i] ? factor : 1);
    }
    for (size_t i = 0; i < ny; i++) {
        s.dy[i] = qs_rng_below(&rng, 4) > 1;
        s.y[i] = 1.0625 * value(shape, i, ny, &rng) * (s.dy[i] ? factor : 1);
    }
    if (nx > 10) {
        s.n_breaks = 2;
        s.breaks[0] = nx / 3;
        s.breaks[1] = nx / 3 + 4;
    }
    return s;
}

/* ---- two texts that are alike but for the last digits of their numbers ---- */

static bool begins_number(const char *line, const char *s)
{
    return isdigit((unsigned char)s[*s == '-']) && (s == line || !isalnum((unsigned char)s[-1]));
}

/* Where they differ; NULL: nowhere. */
static const char *difference(const char *want, const char *got)
{
    const char *want_begin = want, *got_begin = got;
    while (*want != '\0' || *got != '\0') {
        if (begins_number(want_begin, want) && begins_number(got_begin, got)) {
            char *want_end, *got_end;
            double a = strtod(want, &want_end), b = strtod(got, &got_end);
            if (!(fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b)) + 1e-11))
                return got;
            want = want_end;
            got = got_end;
        } else if (*want++ != *got++) {
            return got - 1;
        }
    }
    return NULL;
}

static void difference_sees_what_matters(void **state)
{
    (void)state;
    assert_null(difference("a=1.5 b=-2e-05 w5 nan", "a=1.5000001 b=-2e-05 w5 nan"));
    assert_null(difference("a=0", "a=1e-12"));
    static const char *const others[] = {"a=1.50001 b", "a=1.5 c", "a=1.5 b ",
                                         "a=1.5",       "a=inf b", "a=-1.5 b"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_non_null(difference("a=1.5 b", others[i]));
    assert_non_null(difference("w5", "w6"));
}

/* ---- all of them ---- */

static void put_sample(FILE *out, const struct whole_sample *s)
{
    const struct whole_page *const tables[] = {whole_one, whole_series, whole_runs, whole_two, whole_rules};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        for (const struct whole_page *page = tables[t]; page->name; page++) {
            fprintf(out, "%s/%s:", s->name, page->name);
            page->put(out, s);
            fprintf(out, "\n");
        }
    }
}

static void put_all(FILE *out)
{
    static const struct {
        const char *name;
        enum shape shape;
        size_t nx, ny;
        double factor;
    } samples[] = {
        {"skewed", SKEWED, 60, 45, 1}, {"tied", TIED, 40, 33, 1},         {"steps", STEPS, 120, 33, 1},
        {"drift", DRIFT, 100, 100, 1}, {"modes", MODES, 90, 80, 1},       {"signed", SIGNED, 30, 31, 1},
        {"zeros", ZEROS, 20, 24, 1},   {"constant", CONSTANT, 16, 12, 1}, {"wide", WIDE, 50, 52, 1},
        {"warm", WARM, 130, 45, 1},    {"dear", SKEWED, 28, 36, 1.5},     {"near", DRIFT, 46, 44, 1.002},
        {"one", SKEWED, 1, 1, 1},      {"two", SKEWED, 2, 3, 1},          {"three", WIDE, 3, 2, 1},
        {"four", SKEWED, 4, 6, 1.1},   {"five", STEPS, 5, 5, 1},          {"six", MODES, 6, 7, 1},
        {"eight", TIED, 8, 4, 1},      {"ten", DRIFT, 10, 12, 1.05},      {"twelve", WIDE, 12, 11, 1}};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct whole_sample s =
            sample_of(samples[i].name, samples[i].shape, samples[i].nx, samples[i].ny, samples[i].factor);
        put_sample(out, &s);
    }
}

static char *read_all(const char *path)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = fopen(path, "rb");
    if (!f || getdelim(&text, &n, '\0', f) < 0)
        fail_msg("%s cannot be read", path);
    fclose(f);
    return text;
}

static void every_number_is_as_it_was(void **state)
{
    char *got = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&got, &n);
    (void)state;
    assert_non_null(out);
    put_all(out);
    fclose(out);
    char *want = read_all(golden_path);
    const char *at = difference(want, got);
    if (at) {
        FILE *f = fopen("whole.txt.got", "wb");
        assert_true(f && fputs(got, f) >= 0 && fclose(f) == 0);
        const char *line = at;
        while (line > got && line[-1] != '\n')
            line--;
        fail_msg("%s differs from whole.txt.got in the line of %.*s at %.60s", golden_path,
                 (int)strcspn(line, ":"), line, at);
    }
    free(want);
    free(got);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(difference_sees_what_matters),
                                       cmocka_unit_test(every_number_is_as_it_was)};
    if (argc < 2)
        return 2;
    golden_path = argv[1];
    return cmocka_run_group_tests_name("whole", tests, NULL, NULL);
}
