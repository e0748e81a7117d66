#include "reference.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void data_path(char *out, size_t size, const char *path)
{
    int n = snprintf(out, size, "%s/%s", QS_TEST_DATA, path);
    if (n < 0 || (size_t)n >= size)
        fail_msg("path too long: %s", path);
}

json_t *ref_json(const char *path)
{
    char full[1024];
    json_error_t error;
    data_path(full, sizeof full, path);
    json_t *root = json_load_file(full, 0, &error);
    if (!root)
        fail_msg("%s:%d: %s", full, error.line, error.text);
    return root;
}

json_t *ref_json_lines(const char *path)
{
    char full[1024];
    json_error_t error;
    data_path(full, sizeof full, path);
    json_t *all = json_array(), *one;
    FILE *file = fopen(full, "r");
    while (file && (one = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error)))
        json_array_append_new(all, one);
    if (!file || !feof(file))
        fail_msg("%s: document %zu: %s", full, json_array_size(all), file ? error.text : "no file");
    else
        (void)fclose(file);
    return all;
}

json_t *ref_at(json_t *node, const char *key)
{
    json_t *child = json_object_get(node, key);
    return json_is_null(child) ? NULL : child;
}

static double number_of(const json_t *node)
{
    if (json_is_string(node))
        return strtod(json_string_value(node), NULL);
    return json_is_number(node) ? json_number_value(node) : NAN;
}

double ref_number(json_t *node, const char *key)
{
    return number_of(ref_at(node, key));
}

double ref_item(json_t *array, size_t i)
{
    return number_of(json_array_get(array, i));
}

static void push(struct series *s, double x)
{
    if ((s->n & (s->n - 1)) == 0) {
        double *v = realloc(s->v, (s->n == 0 ? 1 : 2 * s->n) * sizeof *v);
        if (!v) {
            fail_msg("out of memory");
            return;
        }
        s->v = v;
    }
    s->v[s->n++] = x;
}

struct series ref_array(json_t *array)
{
    struct series s = {0};
    for (size_t i = 0; i < json_array_size(array); i++)
        push(&s, ref_item(array, i));
    return s;
}

struct series ref_csv(const char *path, int column)
{
    char full[1024], line[4096];
    struct series s = {0};
    data_path(full, sizeof full, path);
    FILE *file = fopen(full, "r");
    if (!file) {
        fail_msg("cannot read %s", full);
        return s;
    }
    bool header = true;
    while (fgets(line, sizeof line, file)) {
        char *field = line;
        for (int i = 0; i < column && field; i++)
            field = strchr(field, ',') ? strchr(field, ',') + 1 : NULL;
        if (!header && field && *field != '\n')
            push(&s, strtod(field, NULL));
        header = false;
    }
    (void)fclose(file);
    return s;
}

static struct series android(const char *file, const char *metric)
{
    json_t *root = ref_json(file);
    json_t *bench = json_array_get(ref_at(root, "benchmarks"), 0);
    struct series s = ref_array(ref_at(ref_at(ref_at(bench, "metrics"), metric), "runs"));
    json_decref(root);
    return s;
}

/* Every value of every process, in ns. */
static struct series telco(void)
{
    struct series s = {0};
    json_t *root = ref_json("pyperf/telco.json");
    json_t *runs = ref_at(json_array_get(ref_at(root, "benchmarks"), 0), "runs");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        json_t *values = ref_at(json_array_get(runs, i), "values");
        for (size_t j = 0; j < json_array_size(values); j++)
            push(&s, ref_item(values, j) * 1e9);
    }
    json_decref(root);
    return s;
}

struct series ref_series(json_t *root, const char *name)
{
    char path[256];
    json_t *two = ref_at(root, "two_sample");
    if (strncmp(name, "nist_", 5) == 0) {
        (void)snprintf(path, sizeof path, "nist/%s.csv", name + 5);
        return ref_csv(path, 0);
    }
    if (strcmp(name, "android_frameCount_compose_enabled") == 0)
        return android("measure_sh/compose-click-benchmark__09-12-2024-msr-enabled.json", "frameCount");
    if (strncmp(name, "android_", 8) == 0) {
        (void)snprintf(path, sizeof path, "measure_sh/startup-benchmark__%s.json", name + 8);
        return android(path, "timeToInitialDisplayMs");
    }
    if (strcmp(name, "otava_tigerbeetle") == 0)
        return ref_csv("otava/tigerbeetle.csv", 0);
    if (strcmp(name, "perfolizer_real1") == 0)
        return ref_csv("perfolizer/real1.csv", 0);
    if (strcmp(name, "perfolizer_manual1") == 0)
        return ref_csv("perfolizer/manual1_modality.csv", 0);
    if (strcmp(name, "pyperf_telco") == 0)
        return telco();
    if (strcmp(name, "go_ReplaceShortcodeTokens_base_20220105") == 0)
        return ref_array(ref_at(ref_at(two, "go_ReplaceShortcodeTokens_20220105"), "x"));
    if (strcmp(name, "go_BWTS_base_20220105") == 0)
        return ref_array(ref_at(ref_at(two, "go_BWTS_20220105"), "x"));
    struct series s = {0};
    if (strcmp(name, "tiny_const") == 0 || strcmp(name, "tiny_n1") == 0)
        for (int i = 0; i < (name[5] == 'c' ? 6 : 1); i++)
            push(&s, 5);
    return s.v ? s : ref_array(ref_at(ref_at(root, "data_small"), name));
}

void ref_free(struct series *s)
{
    free(s->v);
    *s = (struct series){0};
}

void ref_each_pair(ref_check_pair *check)
{
    json_t *root = ref_json("reference-r.json"), *want;
    const char *name;
    assert_int_equal(json_object_size(ref_at(root, "two_sample")), 6);
    json_object_foreach(ref_at(root, "two_sample"), name, want)
    {
        struct series x = ref_array(ref_at(want, "x")), y = ref_array(ref_at(want, "y"));
        check(name, &x, &y, want);
        ref_free(&x);
        ref_free(&y);
    }
    json_decref(root);
}

void check_near(const char *what, double got, double want, double rel, double abs)
{
    if (isnan(got) && isnan(want))
        return;
    double bound = fmax(rel * fabs(want), abs);
    if (isnan(got) || isnan(want) || fabs(got - want) > bound)
        fail_msg("%s: got %.17g, want %.17g, off by %.3g, allowed %.3g", what, got, want, got - want, bound);
}

void check_lre(const char *what, double got, double want, double min)
{
    double off = fabs(got - want);
    double lre = off > 0 ? fmin(16, -log10(off / fabs(want))) : 16;
    if (!(lre >= min))
        fail_msg("%s: got %.17g, certified %.17g: %.2f digits, %.2f wanted", what, got, want, lre, min);
}

void check_true(const char *what, bool holds)
{
    if (!holds)
        fail_msg("does not hold: %s", what);
}
