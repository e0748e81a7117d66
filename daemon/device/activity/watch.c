#include "device/activity/watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/farm/sensors.h"
#include "config/profile/tool.h"
#include "device/activity/lock.h"
#include "device/activity/meters.h"
#include "device/activity/probe.h"
#include "device/activity/warm.h"
#include "device/board/board.h"
#include "device/job/events.h"
#include "proto/request.h"

#define LIMIT "pin:"

/* What the last of the items writes to this file; NULL: none does. */
static const char *value_of(const struct qs_pins *pins, const char *file)
{
    const char *value = NULL;
    for (size_t i = 0; file && i < pins->items.count; i++)
        if (strcmp(pins->items.at[i].path, file) == 0)
            value = pins->items.at[i].value;
    return value;
}

/* KIND + the domain's name + END; a domain without such a file has none. */
static bool add(struct qs_build *list, const struct qs_board_domain *d, const char *kind, const char *end,
                struct qs_binding b)
{
    char name[QS_NAME_MAX_BYTES + 1];
    if (b.path.n == 0)
        return true;
    snprintf(name, sizeof name, "%s%.50s%s", kind, d->name, end);
    b.name = qs_text_of(name);
    b.div = 1;
    return qs_activity_lock_add(list, &b);
}

static struct qs_text path_of(const char *file)
{
    return qs_text_of(file ? file : "");
}

static bool add_limit(struct qs_build *list, const struct qs_board_domain *d, const char *file,
                      const char *end, int64_t wanted)
{
    return add(list, d, LIMIT, end,
               (struct qs_binding){.path = path_of(file),
                                   .mul = 1,
                                   .lo = wanted,
                                   .hi = wanted,
                                   .flags = QS_BIND_EVIDENCE | QS_BIND_HELD});
}

/* What is not written is watched where it may come from above, and with the clock itself. */
static bool add_limits(struct qs_build *list, const struct qs_pins *pins, const struct qs_pin_choice *c)
{
    const struct qs_board_domain *d = c->domain;
    const char *min = value_of(pins, d->min_file), *max = value_of(pins, d->max_file);
    if (c->warm)
        return (c->limit_raw == 0 || add_limit(list, d, d->max_file, ".max", (int64_t)c->limit_raw)) &&
               qs_warm_bind(list, d);
    return (!min || add_limit(list, d, d->min_file, ".min", strtoll(min, NULL, 10))) &&
           (!max || add_limit(list, d, d->max_file, ".max", strtoll(max, NULL, 10)));
}

/* What lies between two readings of the limits. One count of either is too much: what was spent elsewhere
 * before the window is counted before it, and cut the same way after it, so that without more of it nothing
 * changes. */
static void add_between(struct qs_build *list, const struct qs_pins *pins, const struct qs_pin_choice *c,
                        struct qs_left_out *left)
{
    const struct qs_board_domain *d = c->domain;
    const char *value = value_of(pins, d->max_file);
    if ((!value && !c->warm) || d->limits != QS_LIMITS_FREQUENCY)
        return;
    const int64_t at = c->warm ? (int64_t)c->raw : strtoll(value, NULL, 10);
    if (!add(list, d, QS_SENSOR_RESIDENCY_PREFIX, "",
             (struct qs_binding){.path = path_of(d->residency_file),
                                 .mul = (int64_t)d->residency_ms,
                                 .lo = at,
                                 .hi = at,
                                 .flags = QS_BIND_EVIDENCE | QS_BIND_TABLE | QS_BIND_STEADY}))
        qs_activity_lock_leave(left, d->residency_file, true);
    if (!add(list, d, QS_SENSOR_TRANSITIONS_PREFIX, "",
             (struct qs_binding){.path = path_of(d->transitions_file),
                                 .mul = 1,
                                 .lo = 0,
                                 .hi = INT64_MAX,
                                 .flags = QS_BIND_EVIDENCE | QS_BIND_STEADY}))
        qs_activity_lock_leave(left, d->transitions_file, true);
}

bool qs_watch_add(struct qs_job_run *job, const struct qs_pins *pins, struct qs_build *list)
{
    struct qs_left_out left = {.count = 0};
    bool fits = true;
    for (size_t i = 0; fits && i < pins->choices.count; i++)
        fits = !pins->choices.at[i].domain || add_limits(list, pins, &pins->choices.at[i]);
    qs_meters_bind(job, list, &left);
    qs_activity_lock_add_sensors(job, QS_SENSORS_NAMED, list, &left);
    qs_activity_lock_add_sensors(job, QS_SENSORS_WATCHED, list, &left);
    for (size_t i = 0; i < pins->choices.count && qs_session_has(job->p.session, QS_FEATURE_SENSE); i++)
        if (pins->choices.at[i].domain)
            add_between(list, pins, &pins->choices.at[i], &left);
    qs_activity_lock_add_sensors(job, QS_SENSORS_RECORDED, list, &left);
    if (fits)
        qs_activity_lock_warn(job, &left);
    return fits;
}

static bool is_first(const struct qs_pins *pins, size_t item)
{
    for (size_t i = 0; i < item; i++)
        if (strcmp(pins->items.at[i].path, pins->items.at[item].path) == 0)
            return false;
    return true;
}

void qs_watch_moved(const struct qs_pins *pins, const struct qs_asked *asked, const struct qs_msg_tuned *m,
                    struct qs_moved *moved)
{
    struct qs_iter it = qs_list_iter(&m->writes);
    struct qs_tuned t;
    for (size_t i = asked->from; i < asked->from + asked->n && qs_list_tuned(&it, &t); i++) {
        const char *path = pins->items.at[i].path;
        const unsigned blind = QS_PIN_COMMAND | QS_PIN_NO_READ_BACK; /* it always says the same */
        if ((pins->items.at[i].flags & QS_PIN_MAY_FAIL) || (pins->items.at[i].flags & blind) == blind)
            continue;
        char said[sizeof moved->said];
        qs_text_copy(t.before, said, sizeof said);
        moved->resists = moved->resists || t.outcome == QS_TUNE_SLIPPED;
        if (!is_first(pins, i) || strcmp(said, value_of(pins, path)) == 0 || moved->files++ > 0)
            continue;
        QS_BUF(shown);
        qs_tool_show(path, &shown);
        snprintf(moved->path, sizeof moved->path, "%s", shown.data);
        memcpy(moved->said, said, sizeof said);
    }
}

bool qs_watch_is_lost(const struct qs_msg_closed *m)
{
    struct qs_iter it = qs_list_iter(&m->taints);
    struct qs_taint t;
    const size_t n = sizeof LIMIT - 1;
    while (qs_list_taint(&it, &t))
        if (t.code.n > n && memcmp(t.code.p, LIMIT, n) == 0)
            return true;
    return false;
}

bool qs_watch_able(const struct qs_job_run *job, const struct qs_board *board, const struct qs_wishes *wishes,
                   struct qs_err *err)
{
    struct qs_wishes written = *wishes; /* borrows */
    if (qs_wishes_warm(wishes))
        written.frequency[QS_DOMAIN_CPU].how = QS_WISH_FREE;
    if (!board || (!qs_wishes_none(&written) && !qs_session_has(job->p.session, QS_FEATURE_CONTROL)))
        return qs_fail(err, QS_E_DENIED,
                       "the agent on %s cannot change what the job's conditions want: it %s; `frequency: "
                       "free` only records frequencies",
                       job->p.device, qs_request_of(QS_MSG_TUNE)->lacks);
    return !qs_wishes_warm(wishes) || qs_session_has(job->p.session, QS_FEATURE_HOLD) ||
           qs_fail(err, QS_E_AGENT,
                   "`frequency: hold`: the agent on %s is too old to keep processors busy until a window "
                   "begins: start a newer one there",
                   job->p.device);
}

bool qs_watch_can(const struct qs_job_run *job, const struct qs_pins *pins, struct qs_err *err)
{
    for (size_t i = 0; i < pins->items.count; i++) {
        QS_BUF(shown);
        qs_tool_show(pins->items.at[i].path, &shown);
        if ((pins->items.at[i].flags & QS_PIN_COMMAND) && !qs_session_has(job->p.session, QS_FEATURE_SWITCH))
            return qs_fail(
                err, QS_E_DENIED,
                "the agent on %s is too old to set what is a command (%s): start a newer one there",
                job->p.device, shown.data);
    }
    return true;
}

/* It is `item`'s command that did not do what it should. */
static bool unset(const struct qs_job_run *job, const struct qs_pin_item *item, const struct qs_tuned *t,
                  struct qs_err *err)
{
    static const char *const whys[] = {
        [QS_TUNE_SLIPPED] = "it did not stay; a service of the device has set it again, or it has no effect",
        [QS_TUNE_REFUSED] = "the command that sets it failed",
        [QS_TUNE_TIMEOUT] = "the command did not end within ten seconds",
        [QS_TUNE_UNREADABLE] = "what it says is no value to which it could be put back, or it failed",
        [QS_TUNE_MISSING] = "the device has no such command, or that knows nothing of it",
        [QS_TUNE_FORBIDDEN] = "it is no command",
        [QS_TUNE_UNJOURNALLED] = "what it said could not be saved on the device: its agent's folder is "
                                 "full, or closed to it",
    };
    bool before = t->outcome == QS_TUNE_UNREADABLE;
    char said[QS_TUNE_SAID_MAX_BYTES + 1];
    QS_BUF(shown);
    qs_tool_show(item->path, &shown);
    qs_text_copy(before ? t->before : t->now, said, sizeof said);
    return qs_fail(err, QS_E_PRECONDITION,
                   "%s cannot be set up as the job's conditions want: `%s` of `%s` failed%s%s%s: %s%s; run "
                   "the command there as the agent's user, or leave the switch out",
                   job->p.device, item->value, shown.data, said[0] ? ", it says `" : "",
                   said[0] ? qs_show(said).text : "", said[0] ? "`" : "", whys[t->outcome],
                   t->error == EACCES ? ", it may not be started" : "");
}

/* Heat lowers a limit, whatever is written to it. */
static bool is_lowered(const struct qs_pins *pins, const struct qs_pin_item *item, const struct qs_tuned *t)
{
    char now[QS_TUNE_SAID_MAX_BYTES + 1];
    bool limit = false;
    qs_text_copy(t->now, now, sizeof now);
    const long long is = strtoll(now, NULL, 10), wanted = strtoll(item->value, NULL, 10);
    for (size_t i = 0; i < pins->choices.count && !limit; i++) {
        const struct qs_board_domain *d = pins->choices.at[i].domain;
        limit = d && d->limits == QS_LIMITS_FREQUENCY &&
                ((d->min_file && strcmp(d->min_file, item->path) == 0) ||
                 (d->max_file && strcmp(d->max_file, item->path) == 0));
    }
    return limit && t->outcome == QS_TUNE_SLIPPED && is > 0 && is < wanted;
}

/* The sensor of a gate that opens only when the device has cooled down; NULL: there is none. */
static const char *cools(const struct qs_job_run *job)
{
    const struct qs_job_conditions *c = qs_schedule_conditions(&job->schedule);
    for (size_t i = 0; i < c->gate_count; i++) {
        QS_BUF(unused);
        const struct qs_sensor_kind *kind = qs_sensor_find(c->gate[i].sensor, &unused);
        if (kind && kind->unit == QS_UNIT_MC && c->gate[i].has_hi)
            return c->gate[i].sensor;
    }
    return NULL;
}

const char *qs_watch_why(enum qs_tune_outcome outcome)
{
    static const char *const whys[] = {
        [QS_TUNE_SLIPPED] = "it did not stay; the kernel or a service of the device has set it again",
        [QS_TUNE_REFUSED] = "the device refused it",
        [QS_TUNE_TIMEOUT] = "its driver did not answer in time",
        [QS_TUNE_UNREADABLE] = "the file cannot be read, so it could not be put back",
        [QS_TUNE_MISSING] = "the file has disappeared since the device was surveyed",
        [QS_TUNE_FORBIDDEN] =
            "the agent writes no file outside of sysfs and of the kernel's options, and does not "
            "freeze the control group in which it runs itself",
        [QS_TUNE_UNJOURNALLED] = "what the file said could not be saved on the device: its agent's folder is "
                                 "full, or closed to it",
    };
    return whys[outcome];
}

static bool unheld(const struct qs_job_run *job, const struct qs_pins *pins, const struct qs_pin_item *item,
                   const struct qs_tuned *t, struct qs_err *err)
{
    char now[QS_TUNE_SAID_MAX_BYTES + 1];
    const char *why =
        is_lowered(pins, item, t)
            ? "it did not stay, and is lower: the device is too hot for it, or a service of the "
              "device has set it again. Let the job wait until it is cool (`gate:` with a "
              "temperature `below:`), or hold a lower frequency"
            : qs_watch_why(t->outcome);
    if (item->flags & QS_PIN_COMMAND)
        return unset(job, item, t, err);
    QS_BUF(found);
    qs_activity_probe_say(job, item->path, &found);
    qs_text_copy(t->now, now, sizeof now);
    return qs_fail(err, QS_E_PRECONDITION,
                   "%s cannot be held as the job's conditions want: writing `%s` to %s failed%s%s%s: %s%s%s; "
                   "`frequency: free` leaves frequencies alone%s",
                   job->p.device, item->value, item->path, now[0] ? ", it says `" : "",
                   now[0] ? qs_show(now).text : "", now[0] ? "`" : "", why, t->error ? ": " : "",
                   t->error ? strerror(t->error) : "", found.len > 0 ? found.data : "");
}

bool qs_watch_check(struct qs_job_run *job, const struct qs_pins *pins, const struct qs_asked *asked,
                    const struct qs_msg_tuned *m, struct qs_err *err)
{
    struct qs_iter it = qs_list_iter(&m->writes);
    struct qs_tuned t;
    const char *sensor = asked->own ? cools(job) : NULL;
    for (size_t i = asked->from; i < asked->from + asked->n; i++) {
        const struct qs_pin_item *item = &pins->items.at[i];
        if (!qs_list_tuned(&it, &t))
            return qs_fail(err, QS_E_PROTOCOL,
                           "the agent on %s reported on %zu of %zu files that it was to write, the first "
                           "without a word is %s",
                           job->p.device, i - asked->from, asked->n, item->path);
        bool slips = asked->again && t.outcome == QS_TUNE_SLIPPED;
        if (t.outcome == QS_TUNE_SET || t.outcome == QS_TUNE_SAME || slips || (item->flags & QS_PIN_MAY_FAIL))
            continue;
        if (!sensor || !is_lowered(pins, item, &t))
            return unheld(job, pins, item, &t, err);
        char now[QS_TUNE_SAID_MAX_BYTES + 1];
        qs_text_copy(t.now, now, sizeof now);
        qs_job_event_warning(job,
                             "%s on %s is to be `%s` and is lower, `%s`: the device is too hot for it, or a "
                             "service of the device has set it again; the job waits at its gate until %s has "
                             "fallen, and marks the windows in which it is still lower",
                             item->path, job->p.device, item->value, qs_show(now).text, sensor);
    }
    return true;
}

bool qs_watch_keeps_moving(const struct qs_job_run *job, const struct qs_moved *moved, int windows,
                           struct qs_err *err)
{
    return qs_fail(
        err, QS_E_PRECONDITION,
        "something on %s keeps setting %s: after %d windows in a row it was elsewhere and put back, the last "
        "time it said `%s`; stop what sets it (on a phone the vendor's thermal or performance service), hold "
        "a lower frequency, or write `frequency: free`",
        job->p.device, moved->path, windows, qs_show(moved->said).text);
}

char *qs_watch_cpus(const struct qs_job_run *job, struct qs_err *err)
{
    const char *word = qs_schedule_conditions(&job->schedule)->controls.cpus;
    const struct qs_board *board = qs_activity_lock_home(job);
    if (word[0] == '\0' || (word[0] >= '0' && word[0] <= '9'))
        return qs_strdup(word);
    if (!board) {
        qs_fail(err, QS_E_DENIED,
                "`affinity: %s`: the agent on %s cannot tell its processors: it %s; write CPUs such as 0-3",
                word, job->p.device, qs_request_of(QS_MSG_SURVEY)->lacks);
        return NULL;
    }
    return strcmp(word, QS_JOB_ONE_BIG) == 0 ? qs_board_one_big(board, job->schedule.block, err)
                                             : qs_board_cpus_of(board, word, err);
}
