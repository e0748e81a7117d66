#include "device/activity/meters.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/board/board.h"
#include "device/job/events.h"
#include "device/window/metered.h"
#include "proto/names.h"

enum { WHY_BYTES = 240, KIND_BYTES = 64 };

/* How a source is bound; path "": it is a sensor of the board, which is bound anyway. */
struct bound {
    char path[QS_CONTROL_PATH_MAX_BYTES + 1], volts[QS_CONTROL_PATH_MAX_BYTES + 1],
        status[QS_CONTROL_PATH_MAX_BYTES + 1];
    int64_t mul, div;
};

struct one {
    struct qs_meter meter;
    struct bound bound[QS_METER_SOURCES_MAX];
    char why[WHY_BYTES]; /* it cannot be read; "": it can */
    char kind[KIND_BYTES];
    bool higher_is_better, told, warned;
};

struct meters {
    struct one at[QS_JOB_METERS_MAX];
    size_t count;
};

static struct meters *mine(const struct qs_job_run *job)
{
    return job->activities[QS_ACTIVITY_METERS];
}

static void init(struct qs_job_run *job)
{
    struct meters *m = mine(job);
    for (size_t i = 0; i < job->p.spec->meter_count; i++)
        if (job->p.spec->meters[i].kind != QS_METER_TIME)
            m->at[m->count++].meter.job = &job->p.spec->meters[i];
}

static void new_run(struct qs_job_run *job)
{
    for (size_t i = 0; i < mine(job)->count; i++)
        mine(job)->at[i].told = false;
}

/* ---- what it is on this device ---- */

static void refuse(struct one *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void refuse(struct one *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(o->why, sizeof o->why, fmt, ap);
    va_end(ap);
}

void qs_meters_patterns(const struct qs_job_run *job, struct qs_strings *patterns)
{
    for (size_t i = 0; i < mine(job)->count; i++) {
        const struct qs_job_meter *meter = mine(job)->at[i].meter.job;
        const char *const files[] = {meter->file, meter->wraps_file};
        for (size_t k = 0; k < 2; k++)
            if (files[k] != NULL)
                qs_survey_ask(patterns, files[k]);
    }
}

/* The one file that fits; NULL, with a reason. */
static const struct qs_survey_row *find_file(struct one *o, const char *device,
                                             const struct qs_survey *survey, const char *pattern)
{
    const struct qs_survey_row *first = NULL, *other = NULL;
    if (survey != NULL)
        qs_survey_match(survey, pattern, &first, &other);
    if (first == NULL)
        refuse(o, "%s has no file `%s` below its root of sysfs", device, qs_show(pattern).text);
    else if (other != NULL)
        refuse(o, "more than one file of %s fits `%s`, such as %s and %s: write the one that is meant",
               device, qs_show(pattern).text, first->path, other->path);
    else if (first->status != QS_READING_OK)
        refuse(o, "%s cannot be read on %s: %s", first->path, device, strerror(first->error));
    else
        return first;
    return NULL;
}

static bool find_wrap(struct one *o, const char *device, const struct qs_survey *survey, const char *pattern,
                      int64_t *ret)
{
    const struct qs_survey_row *row = find_file(o, device, survey, pattern);
    if (row != NULL && (!qs_survey_number(row, ret) || *ret <= 0)) {
        refuse(o, "%s, which is to say where a counter begins again, is not a number above 0", row->path);
        return false;
    }
    return row != NULL;
}

static struct qs_meter_source *add_source(struct one *o, const char *path, int64_t mul, int64_t div)
{
    const size_t i = o->meter.count++;
    struct qs_meter_source *s = &o->meter.at[i];
    struct bound *b = &o->bound[i];
    *s = (struct qs_meter_source){.how = QS_METER_HOW_TAKE};
    *b = (struct bound){.mul = mul, .div = div};
    snprintf(b->path, sizeof b->path, "%s", path);
    snprintf(s->about, sizeof s->about, "%s", path);
    if (i == 0)
        snprintf(s->name, sizeof s->name, "meter:%.32s", o->meter.job->name);
    else
        snprintf(s->name, sizeof s->name, "meter:%.32s:%zu", o->meter.job->name, i + 1);
    return s;
}

static void find_of_file(struct one *o, const char *device, const struct qs_survey *survey)
{
    const struct qs_job_meter *job = o->meter.job;
    const struct qs_survey_row *row = find_file(o, device, survey, job->file);
    int64_t wraps_at = (int64_t)job->wraps_at, first = 0;
    if (row == NULL || (job->wraps_file != NULL && !find_wrap(o, device, survey, job->wraps_file, &wraps_at)))
        return;
    if (!qs_survey_decimal(row, &first))
        refuse(o, "%s does not begin with a number on %s", row->path, device);
    else
        add_source(o, row->path, job->scale, 1)->wraps_at = wraps_at * (int64_t)job->scale;
}

static void find_of_sensor(struct one *o, const char *device, const struct qs_board *board)
{
    const struct qs_board_sensor *sensor = qs_board_sensor(board, o->meter.job->sensor);
    if (sensor == NULL)
        refuse(o, "%s has no sensor `%s`; `quiesce devices show %s` lists those that it has", device,
               qs_show(o->meter.job->sensor).text, device);
    else if (qs_reads_energy(sensor->unit))
        refuse(o, "`%s` is a sensor of energy: write `energy: %s`", qs_show(sensor->name).text,
               qs_show(sensor->name).text);
    else if (sensor->status != QS_SENSOR_OK)
        refuse(o, "`%s` is not used: %s", qs_show(sensor->name).text, qs_show(sensor->why).text);
    else {
        struct qs_meter_source *s = add_source(o, "", 1, 1);
        snprintf(s->name, sizeof s->name, "%s", sensor->name);
        snprintf(s->about, sizeof s->about, "%s", sensor->name);
        snprintf(o->kind, sizeof o->kind, "metric:%.32s_%s", o->meter.job->name,
                 qs_reads_degrees(sensor->unit) ? "mC" : "count");
    }
}

static void add_energy(struct one *o, const char *device, const struct qs_survey *survey,
                       const struct qs_board_sensor *sensor)
{
    int64_t wraps_at = 0;
    if (o->meter.count == QS_METER_SOURCES_MAX) {
        refuse(o, "more than %d sensors of energy of %s are meant: write a narrower `energy`",
               QS_METER_SOURCES_MAX, device);
        return;
    }
    if (sensor->wraps_file != NULL && !find_wrap(o, device, survey, sensor->wraps_file, &wraps_at))
        return;
    struct qs_meter_source *s = add_source(o, sensor->path, sensor->mul, sensor->div);
    struct bound *b = &o->bound[o->meter.count - 1];
    s->how = sensor->unit == QS_READS_UJ    ? QS_METER_HOW_RISE
             : sensor->unit == QS_READS_UWH ? QS_METER_HOW_ENERGY
             : sensor->unit == QS_READS_UAH ? QS_METER_HOW_CHARGE
                                            : QS_METER_HOW_POWER;
    s->wraps_at = wraps_at;
    s->average_ns = (int64_t)sensor->average_ms * 1000000;
    snprintf(b->volts, sizeof b->volts, "%s", sensor->volts_file != NULL ? sensor->volts_file : "");
    snprintf(b->status, sizeof b->status, "%s", sensor->status_words != NULL ? sensor->status_words : "");
    if (b->status[0] != '\0')
        snprintf(s->status, sizeof s->status, "%.56s:status", s->name);
    if (s->how == QS_METER_HOW_CHARGE && b->volts[0] == '\0')
        refuse(o, "%s has no voltage beside the charge `%s`", device, sensor->path);
    else if (b->volts[0] != '\0')
        snprintf(s->volts, sizeof s->volts, "%.56s:volts", s->name);
}

/* "energy:rapl." of "energy:rapl.package-0". */
static size_t row_of(const char *name)
{
    size_t n = strcspn(name, ".");
    return n + (name[n] == '.');
}

static void find_of_energy(struct one *o, const char *device, const struct qs_board *board,
                           const struct qs_survey *survey)
{
    const bool automatic = strcmp(o->meter.job->energy, "auto") == 0;
    const struct qs_board_sensor *first = NULL, *refused = NULL;
    for (size_t i = 0; i < board->sensors.count && o->why[0] == '\0'; i++) {
        const struct qs_board_sensor *s = &board->sensors.at[i];
        bool fits = automatic ? s->role == QS_ROLE_ENERGY : qs_board_is_like(o->meter.job->energy, s->name);
        fits = fits && qs_reads_energy(s->unit);
        if (fits && s->status != QS_SENSOR_OK)
            refused = refused ? refused : s;
        if (!fits || s->status != QS_SENSOR_OK ||
            (automatic && first &&
             (row_of(first->name) != row_of(s->name) || strncmp(first->name, s->name, row_of(s->name)) != 0)))
            continue;
        first = first ? first : s;
        add_energy(o, device, survey, s);
    }
    if (o->why[0] != '\0' || first != NULL)
        return;
    if (refused != NULL)
        refuse(o, "`%s` of %s is not used: %s", qs_show(refused->name).text, device,
               qs_show(refused->why).text);
    else if (automatic)
        refuse(o, "%s has no sensor of the energy that all of it takes", device);
    else
        refuse(o, "%s has no sensor of energy `%s`; `quiesce devices show %s` lists those that it has",
               device, qs_show(o->meter.job->energy).text, device);
}

static void find_one(const struct qs_job_run *job, struct one *o, const struct qs_board *board,
                     const struct qs_survey *survey)
{
    const struct qs_job_meter *meter = o->meter.job;
    const char *device = job->p.device;
    const bool success = meter->kind == QS_METER_SUCCESS, sensor = meter->kind == QS_METER_SENSOR;
    char event[QS_NAME_MAX_BYTES];
    o->meter.count = 0;
    o->why[0] = '\0';
    o->higher_is_better = meter->better == QS_JOB_BETTER_HIGHER;
    snprintf(o->kind, sizeof o->kind, "metric:%.32s_%.16s", meter->name, qs_meter_unit(meter));
    if (success)
        return;
    if (!board || (!sensor && !qs_session_has(job->p.session, QS_FEATURE_COUNTERS))) {
        refuse(o,
               "the agent on %s is too old for it, or its system has no such things: start a newer one there",
               device);
        return;
    }
    switch (meter->kind) {
    case QS_METER_FILE:
        find_of_file(o, device, survey);
        return;
    case QS_METER_SENSOR:
        find_of_sensor(o, device, board);
        return;
    case QS_METER_ENERGY:
        find_of_energy(o, device, board, survey);
        return;
    case QS_METER_COUNTER:
        snprintf(event, sizeof event, "perf:%s", qs_meter_counter_name(meter->counter));
        add_source(o, event, 1, 1)->how = QS_METER_HOW_RISE;
        return;
    case QS_METER_NONE:
    case QS_METER_SUCCESS:
    case QS_METER_TIME:
        return;
    }
}

void qs_meters_find(struct qs_job_run *job, const struct qs_board *board, const struct qs_survey *survey)
{
    for (size_t i = 0; i < mine(job)->count; i++)
        find_one(job, &mine(job)->at[i], board, survey);
}

bool qs_meters_name(const struct qs_job_run *job, const char *sensor)
{
    for (size_t i = 0; i < mine(job)->count; i++) {
        const struct qs_job_meter *meter = mine(job)->at[i].meter.job;
        if (meter->kind == QS_METER_SENSOR && strcmp(meter->sensor, sensor) == 0)
            return true;
    }
    return false;
}

/* ---- how it is read ---- */

static void bind(struct qs_build *list, struct qs_left_out *left, const char *name, const char *path,
                 int64_t mul, int64_t div)
{
    const struct qs_binding b = {.name = qs_text_of(name),
                                 .path = qs_text_of(path),
                                 .mul = mul,
                                 .div = div,
                                 .lo = INT64_MIN,
                                 .hi = INT64_MAX,
                                 .flags = QS_BIND_EVIDENCE};
    if (path[0] != '\0' && !qs_activity_lock_add(list, &b))
        qs_activity_lock_leave(left, name, false);
}

void qs_meters_bind(const struct qs_job_run *job, struct qs_build *list, struct qs_left_out *left)
{
    for (size_t i = 0; i < mine(job)->count; i++) {
        const struct one *o = &mine(job)->at[i];
        for (size_t k = 0; k < o->meter.count && o->why[0] == '\0'; k++) {
            const struct qs_meter_source *s = &o->meter.at[k];
            const struct bound *b = &o->bound[k];
            bind(list, left, s->status, b->status, 1, 1);
            bind(list, left, s->volts, b->volts, 1, 1);
            bind(list, left, s->name, b->path, b->mul, b->div);
        }
    }
}

static struct one *whose(struct meters *m, struct qs_text name)
{
    for (size_t i = 0; i < m->count; i++)
        for (size_t k = 0; k < m->at[i].meter.count; k++) {
            const struct qs_meter_source *s = &m->at[i].meter.at[k];
            if (m->at[i].bound[k].path[0] != '\0' &&
                (qs_text_is(name, s->name) || qs_text_is(name, s->volts) || qs_text_is(name, s->status)))
                return &m->at[i];
        }
    return NULL;
}

static void cannot(struct one *o, const char *device, enum qs_reading_status status, struct qs_text name)
{
    char which[QS_NAME_MAX_BYTES + 1];
    const struct qs_job_meter *meter = o->meter.job;
    qs_text_copy(name, which, sizeof which);
    if (meter->kind == QS_METER_COUNTER && status == QS_READING_MISSING)
        refuse(o,
               "%s cannot count %s: its kernel or its processor has no such counter (a virtual machine often "
               "has none of the processor's)",
               device, qs_meter_counter_name(meter->counter));
    else if (meter->kind == QS_METER_COUNTER)
        refuse(o,
               "the agent on %s may not count %s: it needs root, or a lower "
               "/proc/sys/kernel/perf_event_paranoid there (2, or 1 for context switches)",
               device, qs_meter_counter_name(meter->counter));
    else
        refuse(o, "%s on %s is %s%s", o->meter.at[0].about, device, qs_reading_status_name(status),
               strcmp(which, o->meter.at[0].name) == 0 ? "" : ", or what belongs to it");
}

void qs_meters_bound(struct qs_job_run *job, const struct qs_msg_readings *m)
{
    struct qs_iter it = qs_list_iter(&m->readings);
    struct qs_reading r;
    while (qs_list_reading(&it, &r)) {
        struct one *o = r.status != QS_READING_OK ? whose(mine(job), r.sensor) : NULL;
        if (o != NULL && o->why[0] == '\0')
            cannot(o, job->p.device, r.status, r.sensor);
    }
}

bool qs_meters_check(struct qs_job_run *job, struct qs_err *err)
{
    for (size_t i = 0; i < mine(job)->count; i++) {
        struct one *o = &mine(job)->at[i];
        if (o->why[0] == '\0')
            continue;
        if (o->meter.job->required)
            return qs_fail(err, QS_E_PRECONDITION,
                           "the meter `%s` cannot be read: %s; `required: false` goes on without it",
                           o->meter.job->name, o->why);
        if (!o->warned)
            qs_job_event_warning(job, "the meter `%s` is left out: %s", o->meter.job->name, o->why);
        o->warned = true;
    }
    return true;
}

/* ---- what a window had ---- */

static void no_value(struct qs_job_run *job, struct one *o, const char *why)
{
    if (!o->told)
        qs_job_event_meter(job, o->meter.job->name, why);
    if (!o->warned)
        qs_job_event_warning(job, "the meter `%s` has no value: %s; windows without one are kept",
                             o->meter.job->name, why);
    o->told = o->warned = true;
}

size_t qs_meters_evidence(struct qs_job_run *job, struct qs_evidence_row *rows)
{
    const struct qs_assembler *made = &job->win.made;
    size_t n = 0;
    for (size_t i = 0; i < mine(job)->count; i++) {
        struct one *o = &mine(job)->at[i];
        char why[WHY_BYTES + QS_CONTROL_PATH_MAX_BYTES];
        int64_t value = 0;
        if (o->why[0] != '\0')
            continue;
        bool known =
            qs_meter_value(&o->meter, &made->closed, made->rows, made->rows_n, &value, why, sizeof why);
        if (!known)
            no_value(job, o, why);
        rows[n++] = (struct qs_evidence_row){.kind = o->kind,
                                             .present = known,
                                             .before = INT64_MIN,
                                             .after = value,
                                             .is_metric = true,
                                             .deterministic = o->meter.job->deterministic,
                                             .higher_is_better = o->higher_is_better};
    }
    return n;
}

const struct qs_activity qs_activity_meters = {
    .state_bytes = sizeof(struct meters), .init = init, .new_run = new_run};
