/* The job file, key by key: what is read beside the durations, around or of each window. */
#include "config/job/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/document/scalar.h"
#include "config/job/read.h"
#include "config/job/read_meters.h"
#include "config/profile/keys.h"
#include "proto/limits.h"

#define AT(field) offsetof(struct qs_job_meter, field)

enum { NAME_BYTES = 32, UNIT_BYTES = 16, SCALE_MAX = 1000000000 };

static const struct qs_word counter_words[] = {
    {"instructions", 1}, {"cycles", 2},           {"cache-misses", 3}, {"branch-misses", 4},
    {"page-faults", 5},  {"context-switches", 6}, {"task-clock", 7},   {NULL, 0}};
static const struct qs_word take_words[] = {{"end", QS_METER_END},
                                            {"rise", QS_METER_RISE},
                                            {"fall", QS_METER_FALL},
                                            {"mean", QS_METER_MEAN},
                                            {NULL, 0}};
static const struct qs_word per_words[] = {
    {"window", QS_METER_PER_WINDOW}, {"iteration", QS_METER_PER_ITERATION}, {NULL, 0}};
static const struct qs_word better_words[] = {
    {"lower", QS_JOB_BETTER_LOWER}, {"higher", QS_JOB_BETTER_HIGHER}, {NULL, 0}};

const char *qs_meter_counter_name(unsigned counter)
{
    return counter >= 1 && counter < sizeof counter_words / sizeof *counter_words
               ? counter_words[counter - 1].word
               : NULL;
}

const char *qs_meter_unit(const struct qs_job_meter *meter)
{
    switch (meter->kind) {
    case QS_METER_FILE:
        return meter->unit;
    case QS_METER_ENERGY:
        return "uJ";
    case QS_METER_COUNTER:
        return strcmp(qs_meter_counter_name(meter->counter), "task-clock") == 0 ? "ns" : "count";
    case QS_METER_SUCCESS:
        return "ppm";
    case QS_METER_NONE:
    case QS_METER_SENSOR:
    case QS_METER_TIME:
        break;
    }
    return "";
}

void qs_job_meter_done(struct qs_job_meter *meter)
{
    free(meter->name);
    free(meter->file);
    free(meter->sensor);
    free(meter->energy);
    free(meter->unit);
    free(meter->wraps_file);
}

static const struct qs_key meter_keys[] = {
    QS_PROFILE_PATH(
        "file", AT(file), 1, false,
        "A file of the device below its root of sysfs, whose first number is read directly before "
        "and after each window. Wildcards are allowed, where one file alone fits them."),
    {.name = "sensor",
     .type = QS_KEY_TEXT,
     .offset = AT(sensor),
     .min = 1,
     .max = QS_NAME_MAX_BYTES,
     .help = "Or a sensor of the device, as `quiesce devices show DEVICE` lists them."},
    {.name = "energy",
     .type = QS_KEY_TEXT,
     .offset = AT(energy),
     .min = 1,
     .max = QS_NAME_MAX_BYTES,
     .help =
         "Or what a window took out of the device's battery or supply: `auto`, or the name of a sensor of "
         "energy, or a pattern of names, which are added up. In uJ for each iteration."},
    {.name = "counter",
     .type = QS_KEY_ENUM,
     .offset = AT(counter),
     .words = counter_words,
     .help = "Or what the device's kernel or processor counts of the processes of a window, without the "
             "kernel's own work; for each iteration."},
    {.name = "success",
     .type = QS_KEY_BOOL,
     .offset = AT(success),
     .fallback = "false",
     .help = "Or the share of iterations that ended in time and with an accepted exit code, in ppm."},
    {.name = "time",
     .type = QS_KEY_BOOL,
     .offset = AT(time),
     .fallback = "false",
     .help = "Or the duration, which is measured anyway: it adds nothing."},
    {.name = "take",
     .type = QS_KEY_ENUM,
     .offset = AT(take),
     .words = take_words,
     .fallback = "end",
     .help =
         "Of a file or sensor: the reading after the window, how much it rose or fell, or the mean of both "
         "readings."},
    {.name = "per",
     .type = QS_KEY_ENUM,
     .offset = AT(per),
     .words = per_words,
     .help = "Whether a rise or fall is that of the window or is divided by its iterations; default: "
             "iteration. Readings and means are of the window."},
    {.name = "unit",
     .type = QS_KEY_TEXT,
     .offset = AT(unit),
     .min = 1,
     .max = UNIT_BYTES,
     .help = "Of a file, where it is needed: the unit of what is stored: letters, digits, %, / and -, such "
             "as mW."},
    {.name = "scale",
     .type = QS_KEY_U32,
     .offset = AT(scale),
     .min = 1,
     .max = SCALE_MAX,
     .fallback = "1",
     .help =
         "Of a file: the factor by which its number is multiplied before it is kept as a whole number: 1000 "
         "for a file in W and the unit mW."},
    {.name = "better",
     .type = QS_KEY_ENUM,
     .offset = AT(better),
     .words = better_words,
     .fallback = "lower",
     .help = "Of a file or sensor: whether the lower or the higher value is the better one."},
    {.name = "wraps_at",
     .type = QS_KEY_U64,
     .offset = AT(wraps_at),
     .help = "Of a file that counts (`take: rise`): the number at which it begins at 0 again."},
    QS_PROFILE_PATH("wraps_file", AT(wraps_file), 1, false, "Or the file that says so."),
    {.name = "deterministic",
     .type = QS_KEY_BOOL,
     .offset = AT(deterministic),
     .fallback = "false",
     .help = "Of a file or counter: whether it is the same in every window, and so compared exactly."},
    {.name = "required",
     .type = QS_KEY_BOOL,
     .offset = AT(required),
     .fallback = "true",
     .help = "Whether the job fails where the device has no such thing; otherwise it goes on without."},
    {0}};

/* Which keys go with a kind, in the order of enum qs_meter_kind; ' ' around each. */
static const struct {
    const char *key, *with;
} kinds[] = {
    {"", ""},
    {"file", " take per unit scale better wraps_at wraps_file deterministic required "},
    {"sensor", " take per better required "},
    {"energy", " per required "},
    {"counter", " per deterministic required "},
    {"success", " "},
    {"time", " "},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static bool is_said(const struct qs_node *map, size_t kind, const struct qs_job_meter *m)
{
    bool on = kind == QS_METER_SUCCESS ? m->success : kind == QS_METER_TIME ? m->time : true;
    return on && qs_node_get(map, kinds[kind].key, NULL) != NULL;
}

static void check_keys(struct qs_schema_reader *r, const struct qs_node *map, const struct qs_job_meter *m)
{
    for (size_t i = 0; i < map->count; i++) {
        char word[40];
        bool kind = false;
        for (size_t k = 1; k < KINDS; k++)
            kind = kind || strcmp(map->keys[i].text, kinds[k].key) == 0;
        snprintf(word, sizeof word, " %.36s ", map->keys[i].text);
        if (!kind && strstr(kinds[m->kind].with, word) == NULL)
            qs_schema_problem(r, &map->keys[i], "leave it out", "`%s` does not go with `%s`",
                              qs_show(map->keys[i].text).text, kinds[m->kind].key);
    }
}

static void check_name(struct qs_schema_reader *r, const struct qs_job_meter *m)
{
    if (m->name == NULL)
        return;
    if (!qs_text_is_word(m->name, "-_.") || strlen(m->name) > NAME_BYTES)
        qs_schema_problem(r, NULL, "letters, digits, `-`, `_` and `.`, at most 32 of them",
                          "`%s` is not a name for a meter", qs_show(m->name).text);
    else if (m->kind == QS_METER_SUCCESS && strcmp(m->name, "success") != 0)
        qs_schema_problem(r, NULL, "write `success: {success: true}`",
                          "the share of successes is always called `success`, not `%s`",
                          qs_show(m->name).text);
}

static void check_file(struct qs_schema_reader *r, const struct qs_job_meter *m)
{
    if (m->file != NULL && strchr(m->file, ' ') != NULL)
        qs_schema_problem(r, NULL, NULL, "`%s`: one path, without blanks", qs_show(m->file).text);
    if (m->unit == NULL)
        qs_schema_problem(r, NULL, "such as `unit: mW`", "a file needs the `unit` of its number");
    else if (!qs_text_is_word(m->unit, "%/-"))
        qs_schema_problem(r, NULL, "such as mW", "`%s` is not a unit", qs_show(m->unit).text);
    if ((m->wraps_at > 0 || m->wraps_file != NULL) && m->take != QS_METER_RISE)
        qs_schema_problem(r, NULL, "write `take: rise`", "only a counter that rises begins at 0 again");
    if (m->wraps_at > 0 && m->wraps_file != NULL)
        qs_schema_problem(r, NULL, "leave one of them out", "`wraps_at` and `wraps_file` say the same");
    if (m->wraps_at > INT64_MAX / SCALE_MAX)
        qs_schema_problem(r, NULL, NULL, "`wraps_at` is at most %lld", (long long)(INT64_MAX / SCALE_MAX));
}

static void check_meter(struct qs_schema_reader *r, const struct qs_node *map, void *target)
{
    struct qs_job_meter *m = target;
    size_t said = 0;
    for (size_t k = 1; k < KINDS; k++)
        if (is_said(map, k, m)) {
            m->kind = (enum qs_meter_kind)k;
            said++;
        }
    if (said != 1) {
        m->kind = QS_METER_NONE;
        qs_schema_problem(r, NULL, "such as `counter: instructions`, or `energy: auto`",
                          "a meter has one of `file`, `sensor`, `energy`, `counter`, `success` and `time`");
        return;
    }
    check_keys(r, map, m);
    check_name(r, m);
    if (m->kind == QS_METER_FILE)
        check_file(r, m);
    bool differs = m->kind == QS_METER_ENERGY || m->kind == QS_METER_COUNTER || m->take == QS_METER_RISE ||
                   m->take == QS_METER_FALL;
    if (!differs && m->per == QS_METER_PER_ITERATION)
        qs_schema_problem(r, NULL, "write `take: rise` or `take: fall`, or leave `per` out",
                          "a reading is of the window, and not of its iterations");
    if (m->per == QS_METER_PER_DEFAULT)
        m->per = differs ? QS_METER_PER_ITERATION : QS_METER_PER_WINDOW;
    if (m->kind == QS_METER_SUCCESS)
        m->better = QS_JOB_BETTER_HIGHER;
}

const struct qs_table qs_job_meter_table = {.keys = meter_keys,
                                            .size_bytes = sizeof(struct qs_job_meter),
                                            .name_offset = AT(name),
                                            .check = check_meter};

void qs_job_check_meters(struct qs_schema_reader *r, const struct qs_node *root,
                         const struct qs_job_spec *spec)
{
    const struct qs_node *meters = qs_node_get(root, "meters", NULL);
    for (size_t i = 0; meters != NULL && i < spec->meter_count; i++)
        for (size_t k = 0; k < spec->plan.metrics.count; k++) {
            if (spec->meters[i].name == NULL || strcmp(spec->meters[i].name, spec->plan.metrics.at[k]) != 0)
                continue;
            size_t mark = qs_schema_enter(r, "meters");
            qs_schema_problem(r, &meters->keys[i], "give the meter another name",
                              "`%s` is a metric of the farm, too (`plan.metrics`)",
                              qs_show(spec->meters[i].name).text);
            qs_schema_leave(r, mark);
        }
}
