/* One step of a job's actions: what it asks of the device, and when it is over. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/activity/actions.h"
#include "device/activity/changed.h"
#include "device/activity/lock.h"
#include "device/activity/pin.h"
#include "device/activity/watch.h"
#include "device/board/board.h"
#include "device/job/asks.h"
#include "device/job/events.h"
#include "proto/names.h"
#include "proto/request.h"

enum { SAID_BYTES = 700 };

/* ---- by the clock ---- */

static void on_slept(void *user)
{
    struct qs_job_run *job = user;
    qs_acts_of(job)->timer = NULL;
    QS_BUF(text);
    qs_text_duration(&text, (double)qs_acts_elapsed_ns(job));
    qs_acted_did(job, "slept %s", text.data);
    qs_acts_over(job);
}

static bool begin_sleep(struct qs_job_run *job, const struct qs_action *action)
{
    if (qs_acts_is_cut(job))
        return true;
    qs_acted_begin(job, action);
    qs_acts_of(job)->timer = qs_timer_start(job->p.loop, action->limit_ns, on_slept, job);
    return false;
}

static bool begin_print(struct qs_job_run *job, const struct qs_action *action)
{
    QS_FREED char *text =
        qs_stage_is_of_run(qs_acts_of(job)->steps.stage)
            ? qs_job_fill_text(job->p.spec, qs_acts_arm(job), qs_acts_point(job), action->text)
            : qs_strdup(action->text);
    qs_acted_print(job, text);
    return true;
}

/* ---- a command ---- */

static void command_over(struct qs_job_run *job, const struct qs_action *action,
                         const struct qs_msg_hook_done *m)
{
    char how[128], said[SAID_BYTES + 100];
    bool well = m->how == QS_HOOK_EXITED && m->code == 0;
    QS_BUF(span);
    qs_text_duration(&span, (double)qs_acts_elapsed_ns(job));
    snprintf(said, sizeof said, "%s %s%s%.*s", qs_show(action->argv.at[0]).text,
             qs_hook_how(m, how, sizeof how),
             m->output.n == 0                ? ""
             : m->how == QS_HOOK_NOT_STARTED ? ": "
                                             : "; it wrote: ",
             qs_job_run_quoted(m->output), m->output.n ? m->output.p : "");
    if (!well && !action->ignore_failure) {
        qs_acts_wrong(job, QS_E_COMMAND, said);
        return;
    }
    qs_acted_did(job, "%s%s after %s", well ? "ran " : "", well ? qs_show(action->argv.at[0]).text : said,
                 span.data);
    if (!well && qs_acted_first(job, action))
        qs_job_event_warning(job, "%s: %s, going on (said once)", qs_stage_name(qs_acts_of(job)->steps.stage),
                             said);
    qs_acts_over(job);
}

static void on_hook_done(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    (void)refused; /* a hook is about no run: it cannot be */
    if (!qs_job_run_heard(&qs_acts_of(job)->asking))
        return;
    if (qs_acts_is_cut(job)) /* how it ended is no news */
        qs_acts_cut(job);
    else
        command_over(job, qs_acts_step(job), &reply->hook_done);
}

static bool begin_run(struct qs_job_run *job, const struct qs_action *action)
{
    struct qs_acts *a = qs_acts_of(job);
    struct qs_err err = QS_ERR_INIT;
    QS_SCOPED(qs_strings_done) struct qs_strings argv = {0};
    if (qs_stage_is_of_run(a->steps.stage))
        qs_job_fill(job->p.spec, qs_acts_arm(job), qs_acts_point(job), &action->argv, &argv);
    const struct qs_hook hook = {.arm = qs_acts_arm(job),
                                 .point = qs_acts_point(job),
                                 .id = ++a->id,
                                 .argv = argv.count > 0 ? &argv : &action->argv,
                                 .limit_ns = action->limit_ns};
    qs_acted_begin(job, action);
    a->asking = qs_job_run_send_hook(job, &hook, on_hook_done, &err);
    if (!a->asking)
        qs_acts_unsent(job, &err);
    return false;
}

/* ---- a file of the device ---- */

/* What stands on the device because of actions: the last value of each file, in the order of writing. */
static void keep(struct qs_job_run *job, const char *path, const char *value)
{
    struct qs_pins *kept = &qs_acts_of(job)->kept;
    size_t i = 0;
    while (i < kept->items.count && strcmp(kept->items.at[i].path, path) != 0)
        i++;
    if (i < kept->items.count) {
        free(kept->items.at[i].path);
        free(kept->items.at[i].value);
        kept->items.count--;
        memmove(kept->items.at + i, kept->items.at + i + 1, (kept->items.count - i) * sizeof *kept->items.at);
    }
    qs_pins_item(kept, path, qs_strdup(value), 0);
}

static void on_tuned(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_job_run *job = user;
    struct qs_acts *a = qs_acts_of(job);
    struct qs_tuned t = {.outcome = QS_TUNE_MISSING};
    (void)refused; /* it is about no run: it cannot be */
    if (!qs_job_run_heard(&qs_acts_of(job)->asking))
        return;
    const struct qs_pin_item *item = &a->write.items.at[0];
    struct qs_iter it = qs_list_iter(&reply->tuned.writes);
    (void)qs_list_tuned(&it, &t);
    qs_changed_set(job, &a->write, 0, 1, &reply->tuned,
                   qs_stage_is_of_run(a->steps.stage) ? job->run.uid.b : NULL);
    char before[QS_TUNE_SAID_MAX_BYTES + 1], now[QS_TUNE_SAID_MAX_BYTES + 1];
    qs_text_copy(t.before, before, sizeof before);
    qs_text_copy(t.now, now, sizeof now);
    if (t.outcome == QS_TUNE_SET || t.outcome == QS_TUNE_SAME) {
        qs_acted_did(job, "wrote `%s` to %s, which said `%s`", item->value, item->path, before);
        keep(job, item->path, item->value);
        qs_acts_over(job);
        return;
    }
    char said[SAID_BYTES + 600];
    snprintf(said, sizeof said, "writing `%s` to %s failed%s%s%s: %s%s%s", qs_show(item->value).text,
             item->path, now[0] ? ", it says `" : "", now[0] ? qs_show(now).text : "", now[0] ? "`" : "",
             t.outcome == QS_TUNE_MISSING ? "the device has no such file" : qs_watch_why(t.outcome),
             t.error ? ": " : "", t.error ? strerror(t.error) : "");
    qs_acts_wrong(job, QS_E_PRECONDITION, said);
}

static bool may_write(struct qs_job_run *job, const struct qs_action *action, const char *value)
{
    char said[SAID_BYTES + 300];
    const struct qs_board *board = qs_activity_lock_board(job);
    const char *by = board ? qs_board_avoids(board, &job->p.farm->profiles, action->file) : NULL;
    if (by)
        snprintf(said, sizeof said, "%s is never written: the profile %s avoids it", action->file, by);
    else if (!board)
        snprintf(said, sizeof said, "what %s has is not known, so no file of it is written", job->p.device);
    else if (value[0] == '\0' || strlen(value) > QS_TUNE_VALUE_MAX_BYTES)
        snprintf(said, sizeof said, "the value for %s has %zu bytes (1 to %d are possible)", action->file,
                 strlen(value), QS_TUNE_VALUE_MAX_BYTES);
    else
        return true;
    qs_acts_wrong(job, board && !by ? QS_E_JOB : QS_E_DENIED, said);
    return false;
}

static bool begin_write(struct qs_job_run *job, const struct qs_action *action)
{
    uint8_t memory[QS_CONTROL_MAX_BYTES];
    struct qs_acts *a = qs_acts_of(job);
    struct qs_build list;
    bool filled = qs_stage_is_of_run(a->steps.stage);
    QS_FREED char *value =
        filled ? qs_job_fill_text(job->p.spec, qs_acts_arm(job), qs_acts_point(job), action->text)
               : qs_strdup(action->text);
    if (!may_write(job, action, value))
        return false;
    qs_pins_done(&a->write);
    qs_pins_item(&a->write, action->file, qs_strdup(value), 0);
    qs_build_init(&list, memory, sizeof memory);
    qs_changed_items(&a->write, 0, &list);
    const struct qs_msg_tune m = {.id = ++a->id,
                                  .lease_ms = QS_PIN_LEASE_MS,
                                  .settle_ms = QS_PIN_SETTLE_MS,
                                  .writes = qs_build_list(&list)};
    a->wrote = true;
    qs_acts_ask(job, QS_MSG_TUNE, &m, on_tuned);
    return false;
}

/* ---- any step ---- */

bool qs_acts_begin(struct qs_job_run *job, const struct qs_action *action)
{
    static bool (*const begin[QS_ACTION_KINDS])(struct qs_job_run *, const struct qs_action *) = {
        [QS_ACTION_SLEEP] = begin_sleep,
        [QS_ACTION_PRINT] = begin_print,
        [QS_ACTION_RUN] = begin_run,
        [QS_ACTION_WRITE] = begin_write,
        [QS_ACTION_COOL_DOWN] = qs_acts_cool_down,
        [QS_ACTION_WARM_UP] = qs_acts_warm_up,
        [QS_ACTION_IF] = qs_acts_if};
    return begin[action->kind](job, action);
}

/* What is asked is answered first, and soon but for a command; by the clock nothing is waited for. */
void qs_acts_cancel(struct qs_job_run *job)
{
    struct qs_acts *a = qs_acts_of(job);
    const struct qs_action *action = qs_acts_step(job);
    if (a->timer) {
        qs_timer_stop(a->timer);
        a->timer = NULL;
        qs_acts_end_wait(job);
    } else if (a->asking && action && action->kind == QS_ACTION_RUN) {
        qs_job_run_cut_short(job);
    }
}

/* ---- what the agent must be able to ---- */

static bool reads(const struct qs_actions *list)
{
    return qs_actions_have(list, QS_ACTION_COOL_DOWN) || qs_actions_have(list, QS_ACTION_WARM_UP) ||
           qs_actions_have(list, QS_ACTION_IF);
}

bool qs_acts_can(const struct qs_job_run *job, struct qs_err *err)
{
    for (unsigned s = 0; s < QS_STAGE_COUNT; s++) {
        const struct qs_actions *list = &job->p.spec->actions.stages[s];
        bool in_run = qs_stage_is_in_run((enum qs_stage)s);
        const struct {
            bool wanted;
            enum qs_msg_type type;
        } needs[] = {{reads(list), QS_MSG_READ},
                     {qs_actions_have(list, QS_ACTION_WARM_UP), QS_MSG_LOAD},
                     {qs_actions_have(list, QS_ACTION_WRITE), QS_MSG_TUNE}};
        for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
            const struct qs_request *row = qs_request_of((uint8_t)needs[i].type);
            if (needs[i].wanted && !qs_session_has(job->p.session, row->feature))
                return qs_fail(err, QS_E_DENIED, "the agent on %s cannot do `%s` of the job's actions: it %s",
                               job->p.device, qs_stage_name((enum qs_stage)s), row->lacks);
            if (needs[i].wanted && in_run && !qs_session_has(job->p.session, row->amid))
                return qs_fail(
                    err, QS_E_DENIED,
                    "the agent on %s is too old for `%s` of the job's actions: it takes no %s while a "
                    "run is open; start a newer one there, or use `before_run` and `after_run`",
                    job->p.device, qs_stage_name((enum qs_stage)s), qs_msg_name(row->type));
        }
    }
    return true;
}
