#include "config/job/stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *node_text(const struct qs_node *node)
{
    return node && node->kind == QS_NODE_TEXT ? node->text : NULL;
}

static bool fail(const struct qs_problems *problems, struct qs_err *err)
{
    return qs_fail(err, QS_E_JOB, "the stored job cannot be read by this version: %s",
                   problems->count ? problems->at[0].what : "it has no text");
}

static bool read_text(const struct qs_node *stored, struct qs_doc **ret_doc, struct qs_problems *problems)
{
    const char *text = node_text(qs_node_get(stored, "text", NULL));
    const char *name = node_text(qs_node_get(stored, "name", NULL));
    return text && qs_doc_read(name ? name : "stored job", text, strlen(text), false, ret_doc, problems);
}

bool qs_job_stored_doc(const char *spec_json, struct qs_doc **ret_doc, struct qs_err *err)
{
    struct qs_problems problems;
    struct qs_doc *stored = NULL;
    qs_problems_init(&problems);
    bool ok = qs_doc_read("stored job", spec_json, strlen(spec_json), true, &stored, &problems) &&
              read_text(&stored->root, ret_doc, &problems);
    if (!ok)
        fail(&problems, err);
    if (stored)
        qs_doc_free(stored);
    qs_problems_done(&problems);
    return ok;
}

static void bind_files(struct qs_job_spec *spec, const struct qs_node *files)
{
    for (size_t i = 0; files && files->kind == QS_NODE_MAP && i < files->count; i++) {
        const char *sha = node_text(&files->items[i]);
        if (sha && strlen(sha) == 64)
            (void)qs_job_bind_file(spec, files->keys[i].text, sha);
    }
}

bool qs_job_from_store(const char *spec_json, uint64_t seed, struct qs_job_spec **ret_spec,
                       struct qs_err *err)
{
    struct qs_problems problems;
    struct qs_doc *stored = NULL, *doc = NULL;
    struct qs_job_spec *spec = NULL;
    qs_problems_init(&problems);
    bool ok = qs_doc_read("stored job", spec_json, strlen(spec_json), true, &stored, &problems) &&
              read_text(&stored->root, &doc, &problems) && qs_job_from_doc(doc, &spec, &problems);
    if (ok) {
        bind_files(spec, qs_node_get(&stored->root, "files", NULL));
        qs_job_set_where(spec, node_text(qs_node_get(&stored->root, "where", NULL)));
        spec->plan.seed = seed;
        spec->plan.has_seed = true;
        *ret_spec = spec;
    } else {
        fail(&problems, err);
    }
    if (doc)
        qs_doc_free(doc);
    if (stored)
        qs_doc_free(stored);
    qs_problems_done(&problems);
    return ok;
}
