/* A run on the device: its row on disk, what its conditions hold, RUN_BEGIN, the evaluations of its
 * iterations; and its end. */
#include <string.h>

#include "base/text.h"
#include "device/activity/artifacts.h"
#include "device/activity/harness.h"
#include "device/activity/activity.h"
#include "device/activity/pin.h"
#include "device/activity/priority.h"
#include "device/activity/tune.h"
#include "device/job/events.h"
#include "device/job/impl.h"
#include "store/store.h"

struct run {
    bool told_shared_cpu;
};

static void on_run_ready(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    static const uint8_t unread[QS_SHA256_BYTES];
    struct qs_job_run *job = user;
    struct run *r = job->activities[QS_ACTIVITY_RUN];
    if (refused) {
        qs_job_run_refused(job, refused);
        return;
    }
    const struct qs_msg_run_ready *m = &reply->run_ready;
    job->run.open_on_agent = true;
    qs_harness_ready(job, m);
    if ((m->flags & QS_READY_SHARED_CPU) && !r->told_shared_cpu) {
        r->told_shared_cpu = true;
        qs_job_event_warning(job, "the program and the agent share a processor: the agent's work after the "
                                  "start of a window may disturb an iteration");
    }
    qs_text_copy(m->executable, job->run.exe_path, sizeof job->run.exe_path);
    if (memcmp(m->sha256, unread, sizeof unread) != 0)
        qs_hex(m->sha256, sizeof m->sha256, job->run.exe_sha256);
    qs_activity_tune_look(job);
}

static void begin(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    qs_activity_priority_begin(job);
    if (!qs_job_run_send_run_begin(job, on_run_ready, &err))
        qs_job_run_unsent(job, &err);
}

static void on_held(struct qs_job_run *job)
{
    qs_job_run_tell(job, &qs_step_turn, qs_job_run_over(job) ? QS_JI_RUN_OVER : QS_JI_DONE);
}

/* The run is known on disk before the device can hold iterations of it. */
static void on_stored(struct qs_job_run *job)
{
    if (qs_job_run_over(job))
        qs_job_run_tell(job, &qs_step_turn, QS_JI_RUN_OVER);
    else
        qs_activity_pin_hold(job, on_held);
}

static void take_turn(struct qs_job_run *job)
{
    if (job->schedule.turn == 0)
        qs_job_run_block_begins(job);
    qs_job_run_new_run(job);
    job->block.spoiled[job->block.runs] = false;
    job->block.uids[job->block.runs++] = job->run.uid;
    struct qs_run_row row = {.job = job->p.job,
                             .arm = (uint32_t)qs_schedule_arm(&job->schedule),
                             .point = (uint32_t)job->schedule.point,
                             .block = job->schedule.block,
                             .pos = (uint32_t)job->schedule.turn,
                             .attempt = job->schedule.attempt,
                             .started_wall_ns = qs_loop_wall_ns(job->p.loop)};
    memcpy(row.uid, job->run.uid.b, sizeof row.uid);
    memcpy(row.session_uid, qs_activity_session_uid(job), sizeof row.session_uid);
    QS_BUF(program);
    if (qs_harness_is_on(job)) {
        qs_harness_draw(job);
        qs_harness_json(job, &program);
        row.harness_json = program.data;
    }
    struct qs_form form = {0};
    if (qs_stream_is_on(job)) {
        qs_job_form(job->p.spec, qs_schedule_arm(&job->schedule), job->schedule.point, &form);
        qs_form_json(&form, &program);
        row.stream_json = program.data;
        qs_form_done(&form);
    }
    qs_store_run_begin(job->p.store, &row, qs_job_run_stored, qs_job_run_awaits(job, on_stored));
}

/* ---- its end ---- */

static void on_run_ended(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    if (refused) {
        qs_job_run_refused(job, refused);
        return;
    }
    job->run.open_on_agent = false;
    qs_harness_ended(job, &reply->run_ended);
    qs_job_run_tell(job, &qs_step_ending, QS_JI_DONE);
}

static void end_on_agent(struct qs_job_run *job)
{
    struct qs_err err = QS_ERR_INIT;
    const struct qs_msg_run m = {.run = job->run.uid};
    qs_job_run_give_token(job);
    if (!qs_job_run_call(job, QS_MSG_RUN_END, &m, qs_job_run_step_limit_ns(job), on_run_ended, &err))
        qs_job_run_unsent(job, &err);
}

static void end(struct qs_job_run *job)
{
    qs_job_run_give_token(job);
    qs_job_run_set_silence(job, false);
    if (job->run.open_on_agent)
        qs_activity_artifacts_keep(job, end_on_agent);
    else
        qs_job_run_tell(job, &qs_step_ending, QS_JI_DONE);
}

const struct qs_step qs_step_turn = {.start = take_turn};
const struct qs_step qs_step_run = {.start = begin, .cancel = qs_job_run_cut_short};
const struct qs_step qs_step_ending = {.start = end, .cancel = qs_job_run_cut_short};
const struct qs_activity qs_activity_run = {.state_bytes = sizeof(struct run)};
