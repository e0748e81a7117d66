/* How many evaluations an iteration has, and how that was found. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "ctl/client/api.h"
#include "ctl/layout/layout.h"

static void add_duration(struct qs_buf *out, const char *lead, const json_t *e, const char *key)
{
    qs_buf_str(out, lead);
    qs_text_duration(out, qs_json_get_number(e, key, 0));
}

/* What a scan found, here or in an earlier job. */
static void add_found(const json_t *e, struct qs_buf *out)
{
    add_duration(out, "one takes ", e, "evaluation_ns");
    if (qs_json_get_int(e, "precision_ns", 0) > 0) {
        add_duration(out, ", the clock is precise to ", e, "precision_ns");
        add_duration(out, " and accurate to ", e, "accuracy_ns");
    }
    qs_buf_fmt(out, " (%" PRId64 " tries; the table says %" PRId64 ", the logistic curve %" PRId64 ")",
               qs_json_get_int(e, "tries", 0), qs_json_get_int(e, "table_evals", 0),
               qs_json_get_int(e, "logistic_evals", 0));
}

bool qs_layout_evals(const json_t *e, struct qs_buf *out)
{
    static const struct {
        const char *how, *words;
    } known[] = {{"given", "as the job says"},
                 {"kept", "as before the daemon started anew"},
                 {"once", "its program takes no more"},
                 {"unable", "it could not be tuned"}};
    const char *how = qs_json_get_text(e, "how", "");
    if (!json_is_object(e))
        return false;
    qs_buf_fmt(out, "%" PRId64 " an iteration, ", qs_json_get_int(e, "evals", 1));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].how, how) == 0) {
            qs_buf_str(out, known[i].words);
            return true;
        }
    }
    if (strcmp(how, "cached") == 0)
        qs_buf_fmt(out, "as run %s found: ", qs_json_get_text(e, "found_by", "?"));
    else
        qs_buf_str(out, "tuned: ");
    add_found(e, out);
    return true;
}
