/* Any bytes as a JSON document. The walk beside jansson's tree stays inside the text: every node has a place
 * in it. */
#include <string.h>

#include "config/document/doc.h"
#include "config/job/job.h"
#include "fuzz.h"

static void check_places(const struct qs_node *node, unsigned lines)
{
    fuzz_require(node->line >= 1 && node->line <= lines && node->column >= 1);
    fuzz_require((node->kind == QS_NODE_TEXT) == (node->text != NULL));
    for (size_t i = 0; i < node->count; i++) {
        check_places(&node->items[i], lines);
        if (node->keys != NULL)
            check_places(&node->keys[i], lines);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct qs_problems problems;
    struct qs_doc *doc = NULL;
    unsigned lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    qs_problems_init(&problems);
    bool ok = qs_doc_read("fuzz", (const char *)data, size, true, &doc, &problems);
    fuzz_require(ok == (problems.count == 0));
    if (ok) {
        struct qs_job_spec *spec = NULL;
        check_places(&doc->root, lines);
        qs_job_from_doc(doc, &spec, &problems);
        qs_job_free(spec);
    }
    qs_doc_free(doc);
    qs_problems_done(&problems);
    return 0;
}
