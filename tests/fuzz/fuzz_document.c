/* Any bytes as what a program of mode stream wrote: what is read holds together, what is refused says why.
 * The first byte chooses the format, the unit, and one of some patterns. */
#include <stdlib.h>
#include <string.h>

#include "formats/document.h"
#include "fuzz.h"

static const char *const patterns[] = {"time=([0-9.]+) ms", "([0-9]*)*$", ".*.*([0-9]+)x", "^([^ ]*) ",
                                       "(a|b|ab|.)*c"};

static struct qs_form choose(uint8_t how)
{
    enum { KINDS = 3, UNITS = 5, PATTERNS = sizeof patterns / sizeof *patterns };
    struct qs_form f = {.kind = (enum qs_form_kind)(how % KINDS),
                        .unit = (enum qs_form_unit)(how / KINDS % UNITS),
                        .other = (char *)"MB/s",
                        .metric = (char *)"rate",
                        .pattern = (char *)patterns[how / (KINDS * UNITS) % PATTERNS]};
    if (how % 128 > 75) /* of mode app; the others are as they were */
        f = (struct qs_form){.kind = how & 1 ? QS_FORM_ANDROIDX : QS_FORM_AM_START,
                             .launch = (char *)"cold",
                             .metric = how & 2 ? (char *)"frameDurationCpuMs" : NULL};
    if (how & 128)
        f.benchmark = (char *)"BM";
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qs_document d;
    struct qs_err err = QS_ERR_INIT;
    if (size == 0)
        return 0;
    char *text = malloc(size);
    fuzz_require(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    const struct qs_form form = choose(data[0]);
    bool ok = qs_document_read(&form, text, size - 1, &d, &err);
    fuzz_require(ok == (d.n > 0) && ok == (err.code == QS_E_NONE));
    fuzz_require(!ok || (d.n <= QS_DOCUMENT_VALUES && d.evals >= 1 && d.evals <= QS_DOCUMENT_EVALS));
    fuzz_require(!ok || d.durations_ns != NULL || (d.metric_count == 1 && d.values != NULL));
    fuzz_require(d.body_at < size && (d.off == NULL || form.kind == QS_FORM_AM_START));
    for (size_t i = 0; i < d.n && d.durations_ns != NULL; i++)
        fuzz_require(d.durations_ns[i] >= 0);
    for (size_t m = 0; m < d.metric_count; m++)
        fuzz_require(strlen(d.metrics[m].name) <= QS_DOCUMENT_METRIC_BYTES && d.metrics[m].unit != NULL);
    qs_document_done(&d);
    free(text);
    return 0;
}
