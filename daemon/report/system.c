#include "report/system.h"

#include <string.h>

#include "base/scope.h"

enum { FACTS_BYTES = 4 * 1024 * 1024 };

const struct qs_node *qs_system_facts(const struct qs_doc *doc)
{
    const struct qs_node *device = doc != NULL ? qs_node_get(&doc->root, "device", NULL) : NULL;
    return device != NULL || doc == NULL ? device : &doc->root;
}

void qs_system_fingerprint(const char *facts_json, struct qs_buf *out)
{
    static const char *const keys[] = {"fingerprint", "machine", "cpu_model", "kernel"};
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    bool read = facts_json != NULL &&
                qs_doc_read_most("facts", facts_json, strlen(facts_json), FACTS_BYTES, true, &doc, &problems);
    size_t before = out->len;
    for (size_t i = 0; read && i < sizeof keys / sizeof *keys; i++) {
        const struct qs_node *value = qs_node_get(qs_system_facts(doc), keys[i], NULL);
        if (value != NULL && value->kind == QS_NODE_TEXT)
            qs_buf_fmt(out, "%s%s", out->len > before ? "; " : "", value->text);
    }
    if (out->len == before)
        qs_buf_str(out, "unknown");
}
