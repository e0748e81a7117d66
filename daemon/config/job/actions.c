#include "config/job/actions.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "config/farm/sensors.h"

static const struct {
    const char *name;
    bool of_run;
} stages[] = {
#define A(symbol, name, of_run) {name, of_run},
    QS_STAGES(A)
#undef A
};

const char *qs_stage_name(enum qs_stage stage)
{
    return (unsigned)stage < QS_STAGE_COUNT ? stages[stage].name : "?";
}

bool qs_stage_is_of_run(enum qs_stage stage)
{
    return stages[stage].of_run;
}

bool qs_stage_is_after(enum qs_stage stage)
{
    return stage >= QS_STAGE_AFTER_WINDOW;
}

bool qs_stage_is_in_run(enum qs_stage stage)
{
    return stage == QS_STAGE_BEFORE_WINDOW || stage == QS_STAGE_AFTER_WINDOW;
}

const char *qs_action_kind_name(enum qs_action_kind kind)
{
    static const char *const names[QS_ACTION_KINDS] = {"sleep",     "print",   "run", "write",
                                                       "cool_down", "warm_up", "if",  "do"};
    return (unsigned)kind < QS_ACTION_KINDS ? names[kind] : "?";
}

void qs_actions_done(struct qs_actions *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct qs_action *a = &list->at[i];
        free(a->text);
        free(a->file);
        free(a->when.sensor);
        free(a->cpus);
        qs_strings_done(&a->argv);
        qs_actions_done(&a->then);
        qs_actions_done(&a->other);
    }
    free(list->at);
    *list = (struct qs_actions){.count = 0};
}

bool qs_job_has_actions(const struct qs_job_actions *actions)
{
    size_t count = 0;
    for (size_t i = 0; i < QS_STAGE_COUNT; i++)
        count += actions->stages[i].count;
    return count > 0;
}

bool qs_actions_have(const struct qs_actions *list, enum qs_action_kind kind)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct qs_action *a = &list->at[i];
        if (a->kind == kind || qs_actions_have(&a->then, kind) || qs_actions_have(&a->other, kind))
            return true;
    }
    return false;
}

bool qs_actions_read(const struct qs_actions *list, const char *sensor)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct qs_action *a = &list->at[i];
        if ((a->when.sensor && strcmp(a->when.sensor, sensor) == 0) || qs_actions_read(&a->then, sensor) ||
            qs_actions_read(&a->other, sensor))
            return true;
    }
    return false;
}

/* ---- as text ---- */

static void put_when(const struct qs_job_expectation *e, struct qs_buf *out)
{
    qs_buf_fmt(out, "%s is ", e->sensor);
    if (e->has_lo)
        qs_buf_str(out, e->has_hi ? "from " : "at least ");
    if (e->has_lo)
        qs_sensor_print(e->sensor, e->lo, out);
    if (e->has_hi)
        qs_buf_str(out, e->has_lo ? " to " : "at most ");
    if (e->has_hi)
        qs_sensor_print(e->sensor, e->hi, out);
}

static void put_limit(const struct qs_action *a, struct qs_buf *out)
{
    if (a->limit_ns == 0)
        return;
    qs_buf_str(out, ", ");
    qs_text_duration(out, (double)a->limit_ns);
    qs_buf_str(out, " at most");
    if (a->on_timeout == QS_LATE_GO_ON)
        qs_buf_str(out, ", then go on");
}

static void put_warm_up(const struct qs_action *a, struct qs_buf *out)
{
    qs_buf_str(out, "warm_up ");
    if (a->cpus)
        qs_buf_fmt(out, "of %s ", a->cpus);
    if (a->for_ns > 0) {
        qs_buf_str(out, "for ");
        qs_text_duration(out, (double)a->for_ns);
        return;
    }
    qs_buf_str(out, "until ");
    put_when(&a->when, out);
    put_limit(a, out);
}

static void put_run(const struct qs_action *a, struct qs_buf *out)
{
    bool shell = a->argv.count == 3 && strcmp(a->argv.at[0], "/bin/sh") == 0;
    qs_buf_str(out, shell ? "run in a shell:" : "run");
    for (size_t i = shell ? 2 : 0; i < a->argv.count; i++)
        qs_buf_fmt(out, " %s", a->argv.at[i]);
    put_limit(a, out);
    if (a->ignore_failure)
        qs_buf_str(out, ", whatever it ends with");
}

void qs_action_text(const struct qs_action *a, struct qs_buf *out)
{
    static const char *const unread[] = {[QS_UNREAD_FAIL] = "",
                                         [QS_UNREAD_THEN] = " or cannot be read",
                                         [QS_UNREAD_ELSE] = " and can be read"};
    switch (a->kind) {
    case QS_ACTION_SLEEP:
        qs_buf_str(out, "sleep ");
        qs_text_duration(out, (double)a->limit_ns);
        return;
    case QS_ACTION_PRINT:
        qs_buf_fmt(out, "print \"%s\"", a->text);
        return;
    case QS_ACTION_RUN:
        put_run(a, out);
        return;
    case QS_ACTION_WRITE:
        qs_buf_fmt(out, "write \"%s\" to %s", a->text, a->file);
        return;
    case QS_ACTION_COOL_DOWN:
        qs_buf_str(out, "cool_down until ");
        put_when(&a->when, out);
        put_limit(a, out);
        return;
    case QS_ACTION_WARM_UP:
        put_warm_up(a, out);
        return;
    case QS_ACTION_IF:
        qs_buf_str(out, "if ");
        put_when(&a->when, out);
        qs_buf_str(out, unread[a->unreadable]);
        return;
    case QS_ACTION_DO:
        qs_buf_fmt(out, "do%s%s", a->text ? " " : "", a->text ? a->text : "");
        return;
    case QS_ACTION_KINDS:
        return;
    }
}

static void put_inside(const char *word, const struct qs_actions *list, struct qs_buf *out)
{
    if (list->count == 0)
        return;
    qs_buf_fmt(out, "%s (", word);
    qs_actions_text(list, out);
    qs_buf_char(out, ')');
}

void qs_actions_text(const struct qs_actions *list, struct qs_buf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct qs_action *a = &list->at[i];
        qs_buf_str(out, i > 0 ? "; " : "");
        qs_action_text(a, out);
        put_inside(a->kind == QS_ACTION_IF ? " then" : "", &a->then, out);
        put_inside(" else", &a->other, out);
    }
}

void qs_job_actions_put(struct qs_json *j, const struct qs_job_actions *actions)
{
    qs_json_object(j);
    for (size_t i = 0; i < QS_STAGE_COUNT; i++) {
        if (actions->stages[i].count == 0)
            continue;
        QS_BUF(text);
        qs_actions_text(&actions->stages[i], &text);
        qs_json_kstring(j, stages[i].name, text.data);
    }
    qs_json_object_end(j);
}
