/* Any bytes as a document, then as a job and as a farm: problems or a structure, never both, in bounded time
 * and memory. */
#include "config/farm/farm.h"
#include "fuzz.h"
#include "link/link.h"

static void read_as(const uint8_t *data, size_t size, bool as_job)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    struct qs_job_spec *spec = NULL;
    struct qs_farm_config *farm = NULL;
    qs_problems_init(&problems);
    bool ok = qs_doc_read("fuzz", (const char *)data, size, false, &doc, &problems);
    fuzz_require(ok == (doc != NULL));
    if (ok)
        ok = as_job ? qs_job_from_doc(doc, &spec, &problems)
                    : qs_farm_from_doc(doc, qs_link_check_address, &farm, &problems);
    fuzz_require(ok == (problems.count == 0) && ok == (spec != NULL || farm != NULL));
    struct qs_buf text;
    qs_buf_init(&text);
    qs_problems_text(&problems, "fuzz", &text);
    if (spec != NULL && spec->point_count > 0) {
        struct qs_strings argv;
        qs_job_argv(spec, spec->arm_count - 1, spec->point_count - 1, &argv);
        fuzz_require(argv.count > 0);
        qs_strings_done(&argv);
    }
    qs_buf_done(&text);
    qs_job_free(spec);
    qs_farm_config_free(farm);
    qs_doc_free(doc);
    qs_problems_done(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_as(data, size, true);
    read_as(data, size, false);
    return 0;
}
