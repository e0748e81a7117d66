#include "device/window/ends.h"

#include <stdio.h>
#include <string.h>

static bool find(const struct qs_msg_closed *m, const char *sensor, struct qs_evidence *ret)
{
    struct qs_iter it = qs_list_iter(&m->evidence);
    while (qs_list_evidence(&it, ret))
        if (qs_text_is(ret->kind, sensor))
            return ret->status == QS_READING_OK;
    return false;
}

void qs_ends_judge(const struct qs_job_conditions *set, const struct qs_msg_closed *m, struct qs_ends *ends)
{
    ends->count = 0;
    for (size_t i = 0; m->opened_ns != 0 && i < set->gate_count; i++) {
        const struct qs_job_expectation *e = &set->gate[i];
        struct qs_evidence read;
        bool known = e->has_end && find(m, e->sensor, &read);
        if (!e->has_end || (known ? read.after <= e->end : e->unreadable_ok))
            continue;
        char *code = ends->codes[ends->count];
        snprintf(code, sizeof ends->codes[0], "end:%.*s", QS_NAME_MAX_BYTES - 4, e->sensor);
        ends->rows[ends->count++] =
            (struct qs_taint_row){.i = -1, .code = code, .value = known ? read.after : 0, .bound = e->end};
    }
}
