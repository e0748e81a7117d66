/* Any bytes as a file of results: what is read holds together, what is refused says why. The first byte
 * chooses the format. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/import.h"
#include "fuzz.h"

static void check_series(const struct qs_import_series *s)
{
    fuzz_require(s->n > 0 && s->runs > 0 && s->off[0] == 0 && s->off[s->runs] == s->n);
    for (size_t i = 0; i < s->runs; i++)
        fuzz_require(s->off[i] < s->off[i + 1]);
    for (size_t i = 0; i < s->n; i++)
        fuzz_require(isfinite(s->v[i]) && (s->labels == NULL || s->labels[i] != NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qs_problems problems;
    struct qs_import in;
    if (size == 0)
        return 0;
    char *text = malloc(size);
    fuzz_require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    qs_problems_init(&problems);
    bool ok =
        qs_import_read("fuzz", text, size - 1, (enum qs_format)(data[0] % QS_FORMAT_COUNT), &in, &problems);
    fuzz_require(ok == (problems.count == 0) && ok == (in.count > 0));
    for (size_t i = 0; i < in.count; i++)
        check_series(&in.series[i]);
    qs_import_done(&in);
    qs_problems_done(&problems);
    free(text);
    return 0;
}
