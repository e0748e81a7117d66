/* What a job's actions tell: each text, the begin of a step that takes its time (the first time), and a line
 * for every stage when it is over. */
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/activity/actions.h"
#include "device/job/event.h"
#include "store/rows.h"

enum { DID_MAX = 32 }; /* texts of a stage: what comes then is counted */

static void tell(struct qs_job_run *job, struct qs_event *n, const char *kind)
{
    qs_event_tell(job, n, kind, qs_stage_is_of_run(qs_acts_of(job)->steps.stage));
}

static void put_place(struct qs_job_run *job, struct qs_json *j)
{
    QS_BUF(place);
    qs_steps_place(&qs_acts_of(job)->steps, &place);
    qs_json_kstring(j, "place", place.data);
}

void qs_acted_print(struct qs_job_run *job, const char *text)
{
    struct qs_event n;
    qs_event_begin(&n);
    put_place(job, &n.json);
    qs_json_kstring(&n.json, "text", text);
    tell(job, &n, "action.print");
}

bool qs_acted_first(struct qs_job_run *job, const struct qs_action *action)
{
    struct qs_acts *a = qs_acts_of(job);
    for (size_t i = 0; i < a->warned_count; i++)
        if (a->warned[i] == action)
            return false;
    a->warned = qs_grow(a->warned, a->warned_count, sizeof *a->warned);
    a->warned[a->warned_count++] = action;
    return true;
}

void qs_acted_begin(struct qs_job_run *job, const struct qs_action *action)
{
    struct qs_acts *a = qs_acts_of(job);
    for (size_t i = 0; i < a->told_count; i++)
        if (a->told[i] == action)
            return;
    a->told = qs_grow(a->told, a->told_count, sizeof *a->told);
    a->told[a->told_count++] = action;
    struct qs_event n;
    QS_BUF(text);
    qs_action_text(action, &text);
    qs_event_begin(&n);
    put_place(job, &n.json);
    qs_json_kstring(&n.json, "text", text.data);
    tell(job, &n, "action.begin");
}

void qs_acted_did(struct qs_job_run *job, const char *fmt, ...)
{
    struct qs_acts *a = qs_acts_of(job);
    QS_BUF(text);
    va_list ap;
    if (a->did_count++ >= DID_MAX)
        return;
    va_start(ap, fmt);
    qs_buf_vfmt(&text, fmt, ap);
    va_end(ap);
    qs_strings_add(&a->did, qs_buf_take(&text));
}

void qs_acted_stage(struct qs_job_run *job, const char *outcome, int64_t elapsed_ns)
{
    struct qs_acts *a = qs_acts_of(job);
    struct qs_event n;
    qs_event_begin(&n);
    qs_json_kstring(&n.json, "stage", qs_stage_name(a->steps.stage));
    qs_json_kstring(&n.json, "outcome", outcome);
    qs_json_kint(&n.json, "elapsed_ns", elapsed_ns);
    qs_json_karray(&n.json, "did");
    for (size_t i = 0; i < a->did.count; i++)
        qs_json_string(&n.json, a->did.at[i]);
    qs_json_array_end(&n.json);
    qs_json_kcount(&n.json, "more", a->did_count - a->did.count);
    qs_strings_done(&a->did);
    a->did_count = 0;
    tell(job, &n, QS_EVENT_ACTIONS);
}
