/* Reference data for the tests of stats: tests/data, its series by name, and comparisons that say what
 * failed. */
#ifndef QS_TESTS_STATS_REFERENCE_H
#define QS_TESTS_STATS_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

struct series {
    double *v; /* owned; NULL when the set is not in tests/data */
    size_t n;
};

/* tests/data/<path>; fails the test where it cannot be read. The caller owns the reference. */
json_t *ref_json(const char *path);

/* The same of a file with one document a line, as an array. */
json_t *ref_json_lines(const char *path);

/* The child of a node; NULL where it is missing or null. */
json_t *ref_at(json_t *node, const char *key);
/* A number, or NaN for null and missing. */
double ref_number(json_t *node, const char *key);
double ref_item(json_t *array, size_t i);

/* An array of numbers. */
struct series ref_array(json_t *array);
/* Column `column` (0-based) of a CSV file with one header line. */
struct series ref_csv(const char *path, int column);
/* The values behind reference-r.json's univariate.<name>. */
struct series ref_series(json_t *root, const char *name);
void ref_free(struct series *s);

/* Calls check for each of the six pairs of reference-r.json's two_sample, which holds R's answers in want. */
typedef void ref_check_pair(const char *name, const struct series *x, const struct series *y, json_t *want);
void ref_each_pair(ref_check_pair *check);

/* |got - want| <= max(rel |want|, abs); NaN wants NaN. Fails the test with the name otherwise. */
void check_near(const char *what, double got, double want, double rel, double abs);
/* The log relative error -log10(|got-want|/|want|), 16 where they are equal, must reach min. */
void check_lre(const char *what, double got, double want, double min);

#define EXPECT(cond) check_true(#cond, (cond))
void check_true(const char *what, bool holds);

#endif
