/* What a job's actions tell: each text, the begin of a step that takes its time (the first time), and a line
 * for every stage when it is over. */
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/activity/actions.h"
#include "device/job/events.h"
#include "store/rows.h"

enum { DID_MAX = 32 }; /* texts of a stage: what comes then is counted */

static void tell(struct qs_job_run *job, const char *kind, const struct qs_buf *body)
{
    bool of_run = qs_stage_is_of_run(qs_acts_of(job)->steps.stage);
    job->events.on_event(kind, body->data, of_run ? job->run.uid.b : NULL, job->events.user);
}

static void put_place(struct qs_job_run *job, struct qs_json *j)
{
    QS_BUF(place);
    qs_steps_place(&qs_acts_of(job)->steps, &place);
    qs_json_kstring(j, "place", place.data);
}

void qs_acted_print(struct qs_job_run *job, const char *text)
{
    QS_BUF(body);
    struct qs_json j = qs_json_to(&body);
    qs_json_object(&j);
    put_place(job, &j);
    qs_json_kstring(&j, "text", text);
    qs_json_object_end(&j);
    tell(job, "action.print", &body);
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
    QS_BUF(body);
    QS_BUF(text);
    struct qs_json j = qs_json_to(&body);
    qs_action_text(action, &text);
    qs_json_object(&j);
    put_place(job, &j);
    qs_json_kstring(&j, "text", text.data);
    qs_json_object_end(&j);
    tell(job, "action.begin", &body);
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
    QS_BUF(body);
    struct qs_json j = qs_json_to(&body);
    qs_json_object(&j);
    qs_json_kstring(&j, "stage", qs_stage_name(a->steps.stage));
    qs_json_kstring(&j, "outcome", outcome);
    qs_json_kint(&j, "elapsed_ns", elapsed_ns);
    qs_json_karray(&j, "did");
    for (size_t i = 0; i < a->did.count; i++)
        qs_json_string(&j, a->did.at[i]);
    qs_json_array_end(&j);
    qs_json_kcount(&j, "more", a->did_count - a->did.count);
    qs_json_object_end(&j);
    qs_strings_done(&a->did);
    a->did_count = 0;
    tell(job, QS_EVENT_ACTIONS, &body);
}
