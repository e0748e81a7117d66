#include "device/activity/told.h"

#include <stdio.h>

#include "config/profile/tool.h"
#include "proto/names.h"

struct qs_control_row qs_told_row(const struct qs_job_run *job, struct qs_told *told, struct qs_text path,
                                  const struct qs_tuned *t)
{
    bool read = t->outcome < QS_TUNE_REFUSED;
    QS_BUF(shown);
    qs_text_copy(path, told->path, sizeof told->path);
    qs_tool_show(told->path, &shown);
    snprintf(told->path, sizeof told->path, "%s", shown.data);
    qs_text_copy(t->before, told->before, sizeof told->before);
    qs_text_copy(t->now, told->said, sizeof told->said);
    return (struct qs_control_row){.path = told->path,
                                   .before = read || t->before.n > 0 ? told->before : NULL,
                                   .after = read || t->now.n > 0 ? told->said : NULL,
                                   .outcome = qs_tune_outcome_name(t->outcome),
                                   .error = t->error,
                                   .at_wall_ns = qs_loop_wall_ns(job->p.loop)};
}

void qs_told_store(struct qs_job_run *job, const struct qs_control_row *rows, size_t count,
                   const uint8_t *run_uid)
{
    const struct qs_control_rows m = {
        .session_uid = qs_activity_session_uid(job), .run_uid = run_uid, .rows = rows, .count = count};
    if (count > 0)
        qs_store_control(job->p.store, &m, qs_job_run_stored, qs_job_run_asks(job));
}
