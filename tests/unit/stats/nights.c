#include "nights.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "stats/describe.h"

/* The values follow the unit. */
static void take_line(const char *line, struct nights *out, size_t night)
{
    size_t b = out->n - 1, n = 0;
    double *v = out->v[b][night];
    const char *field = strstr(line, ",ns/op,");
    for (field = field ? field + strlen(",ns/op") : NULL; field && n < REPETITIONS;
         field = strchr(field, ','))
        v[n++] = strtod(++field, NULL);
    out->count[b][night] = n;
    assert_true(n >= 20);
    assert_int_equal(qs_median(v, n, &out->median[b][night]), QS_OK);
}

void nights_load(struct nights *out)
{
    char line[4096], name[256] = "";
    size_t night = 0;
    FILE *file = fopen(QS_TEST_DATA "/gobench/nights-01-12.csv", "r");
    assert_non_null(file);
    out->n = 0;
    while (fgets(line, sizeof line, file)) {
        const char *base = strstr(line, ",base,");
        if (!base)
            continue;
        size_t length = (size_t)(base - line) - strlen(",20220101T213211");
        assert_true(length < sizeof name);
        if (strncmp(name, line, length) != 0 || name[length] != '\0') {
            memcpy(name, line, length);
            name[length] = '\0';
            assert_true(out->n == 0 || night == NIGHTS);
            assert_true(out->n < MAX_BENCHMARKS);
            out->n++;
            night = 0;
        }
        assert_true(night < NIGHTS);
        take_line(line, out, night++);
    }
    (void)fclose(file);
    assert_int_equal(out->n, 101);
}
