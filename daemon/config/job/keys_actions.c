/* The steps of actions, key by key: what each kind of step has. */
#include <stddef.h>

#include "base/json.h"
#include "config/job/read_actions.h"
#include "config/profile/keys.h"
#include "proto/limits.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)
#define D  (86400 * S)

#define ACT(field)  offsetof(struct qs_action, field)
#define WHEN(field) (ACT(when) + offsetof(struct qs_job_expectation, field))

#define STEPS_FORM "a list of steps"
#define VALUE_FORM "a value with the sensor's unit"
#define SENSOR(says)                                                                                         \
    {                                                                                                        \
        .name = "sensor", .type = QS_KEY_TEXT, .offset = WHEN(sensor), .min = 1, .max = QS_NAME_MAX_BYTES,   \
        .help = says                                                                                         \
    }
#define BOUND(its_name, its_form, says)                                                                      \
    {                                                                                                        \
        .name = its_name, .type = QS_KEY_CUSTOM, .read = qs_job_read_later, .form = its_form, .help = says   \
    }
#define STEPS(its_name, field, says)                                                                         \
    {                                                                                                        \
        .name = its_name, .type = QS_KEY_CUSTOM, .offset = ACT(field), .read = qs_job_read_steps,            \
        .form = STEPS_FORM, .help = says                                                                     \
    }
#define ON_TIMEOUT                                                                                           \
    {                                                                                                        \
        .name = "on_timeout", .type = QS_KEY_ENUM, .offset = ACT(on_timeout), .words = late_words,           \
        .fallback = "fail", .help = "Whether the job fails then, or goes on with a warning."                 \
    }

static const struct qs_word late_words[] = {{"fail", QS_LATE_FAIL}, {"go_on", QS_LATE_GO_ON}, {NULL, 0}};
static const struct qs_word unread_words[] = {
    {"fail", QS_UNREAD_FAIL}, {"then", QS_UNREAD_THEN}, {"else", QS_UNREAD_ELSE}, {NULL, 0}};

static const struct qs_key sleep_keys[] = {{.name = "sleep",
                                            .type = QS_KEY_DURATION,
                                            .offset = ACT(limit_ns),
                                            .min = MS,
                                            .max = D,
                                            .help = "Nothing is done for so long."},
                                           {0}};

static const struct qs_key print_keys[] = {
    {.name = "print",
     .type = QS_KEY_TEXT,
     .offset = ACT(text),
     .min = 1,
     .max = QS_ACTION_TEXT_MAX_BYTES,
     .help = "Shown where the job is watched, and kept with its events; `{p}` is filled in."},
    {0}};

static const struct qs_key run_keys[] = {
    {.name = "run",
     .type = QS_KEY_CUSTOM,
     .offset = ACT(argv),
     .read = qs_job_read_hook,
     .form = "a list of words, or {shell: text}",
     .help = "A command on the device, with the environment, folder and user of `setup`; `{p}` is filled in. "
             "Before and after a job and a session these are the first benchmark's and the first arm's."},
    {.name = "timeout",
     .type = QS_KEY_DURATION,
     .offset = ACT(limit_ns),
     .min = MS,
     .max = D,
     .help = "A command that takes longer is ended, and has failed; default: `limits.hook`."},
    {.name = "ignore_failure",
     .type = QS_KEY_BOOL,
     .offset = ACT(ignore_failure),
     .fallback = "false",
     .help = "Whether the job goes on, with one warning, where the command fails."},
    {0}};

static const struct qs_key write_map_keys[] = {
    QS_PROFILE_PATH("file", ACT(file), 0, true,
                    "The file, relative to the root of sysfs, as profiles write it: under `class/` or "
                    "`devices/system/`."),
    {.name = "value",
     .type = QS_KEY_TEXT,
     .offset = ACT(text),
     .min = 1,
     .max = QS_TUNE_VALUE_MAX_BYTES,
     .required = true,
     .help = "What is written; `{p}` is filled in."},
    {0}};
static const struct qs_table write_map = {.keys = write_map_keys};
static const struct qs_key write_keys[] = {
    {.name = "write",
     .type = QS_KEY_MAP,
     .table = &write_map,
     .help = "A file of the device is set, read back, and put back like a switch, at the latest when the "
             "session ends. No profile may `avoid` it."},
    {0}};

static const struct qs_key cool_map_keys[] = {
    SENSOR("What is read on the device, about once a second, such as `thermal:x86_pkg_temp`."),
    BOUND("below", VALUE_FORM, "The wait is over when the reading is at most this."),
    {.name = "timeout",
     .type = QS_KEY_DURATION,
     .offset = ACT(limit_ns),
     .min = S,
     .max = D,
     .fallback = "10min",
     .help = "How long to wait for it."},
    ON_TIMEOUT,
    {0}};
static const struct qs_table cool_map = {.keys = cool_map_keys, .check = qs_job_check_cool_down};
static const struct qs_key cool_keys[] = {{.name = "cool_down",
                                           .type = QS_KEY_MAP,
                                           .table = &cool_map,
                                           .help = "The device is left alone until a sensor has fallen. One "
                                                   "that cannot be read fails the job."},
                                          {0}};

static const struct qs_key warm_map_keys[] = {
    SENSOR("A temperature or a clock (`freq:policy0_khz`) that is read meanwhile."),
    BOUND("above", "a temperature or a frequency", "It is enough when the reading is at least this."),
    {.name = "for",
     .type = QS_KEY_DURATION,
     .offset = ACT(for_ns),
     .min = 100 * MS,
     .max = 540 * S,
     .help = "Instead of a sensor: for so long."},
    {.name = "cpus",
     .type = QS_KEY_CUSTOM,
     .offset = ACT(cpus),
     .read = qs_job_read_busy_cpus,
     .form = "all, little, big, prime, or CPUs such as 0-3,6",
     .help = "Which processors are kept busy; without it all that the agent may use, in a run those of the "
             "run."},
    {.name = "timeout",
     .type = QS_KEY_DURATION,
     .offset = ACT(limit_ns),
     .min = S,
     .max = 540 * S,
     .fallback = "2min",
     .help = "With a sensor: how long at most."},
    ON_TIMEOUT,
    {0}};
static const struct qs_table warm_map = {.keys = warm_map_keys, .check = qs_job_check_warm_up};
static const struct qs_key warm_keys[] = {
    {.name = "warm_up",
     .type = QS_KEY_MAP,
     .table = &warm_map,
     .help = "Processors are kept busy until a sensor has risen, or for a time; the load has ended before "
             "the next step begins."},
    {0}};

static const struct qs_key if_map_keys[] = {SENSOR("What is read on the device, once."),
                                            BOUND("below", VALUE_FORM, "The reading is at most this."),
                                            BOUND("above", VALUE_FORM, "The reading is at least this."),
                                            BOUND("band", "a list of two values", "Both."),
                                            {0}};
static const struct qs_table if_map = {.keys = if_map_keys, .check = qs_job_check_if};
static const struct qs_key if_keys[] = {
    {.name = "if", .type = QS_KEY_MAP, .table = &if_map, .help = "What follows depends on a sensor."},
    STEPS("then", then, "The steps where it is so."),
    STEPS("else", other, "The steps where it is not."),
    {.name = "unreadable",
     .type = QS_KEY_ENUM,
     .offset = ACT(unreadable),
     .words = unread_words,
     .fallback = "fail",
     .help = "What happens where the sensor cannot be read: the job fails, or these steps follow."},
    {0}};

static const struct qs_key do_keys[] = {
    STEPS("do", then, "These steps, one after the other, as one."),
    {.name = "name", .type = QS_KEY_NAME, .offset = ACT(text), .help = "What it is called in messages."},
    {0}};

static const struct qs_table kinds[QS_ACTION_KINDS] = {
    [QS_ACTION_SLEEP] = {.keys = sleep_keys},
    [QS_ACTION_PRINT] = {.keys = print_keys},
    [QS_ACTION_RUN] = {.keys = run_keys},
    [QS_ACTION_WRITE] = {.keys = write_keys},
    [QS_ACTION_COOL_DOWN] = {.keys = cool_keys},
    [QS_ACTION_WARM_UP] = {.keys = warm_keys},
    [QS_ACTION_IF] = {.keys = if_keys, .check = qs_job_check_branches},
    [QS_ACTION_DO] = {.keys = do_keys},
};

const struct qs_table *qs_job_step_table(enum qs_action_kind kind)
{
    return &kinds[kind];
}

enum { KEYS_MOST = 32 };

void qs_actions_reference(struct qs_buf *out)
{
    struct qs_key all[KEYS_MOST] = {{.name = NULL}};
    size_t n = 0;
    for (size_t k = 0; k < QS_ACTION_KINDS; k++)
        for (const struct qs_key *key = kinds[k].keys; key->name != NULL && n + 1 < KEYS_MOST; key++)
            all[n++] = *key;
    qs_schema_reference(&(struct qs_table){.keys = all}, out);
}

/* ---- its JSON Schema ---- */

static void put_steps(struct qs_json *j)
{
    qs_json_kstring(j, "$ref", "#/properties/actions/properties/before_job");
}

/* What a key of a step is called and means; the steps inside of it are such lists again. */
static void put_key(struct qs_json *j, const struct qs_key *key)
{
    qs_json_kobject(j, key->name);
    qs_json_kstring(j, "description", key->help);
    if (key->read == qs_job_read_steps) {
        put_steps(j);
    } else if (key->table != NULL) {
        qs_json_kstring(j, "type", "object");
        qs_json_kbool(j, "additionalProperties", false);
        qs_json_kobject(j, "properties");
        for (const struct qs_key *inner = key->table->keys; inner->name != NULL; inner++) {
            qs_json_kobject(j, inner->name);
            qs_json_kstring(j, "description", inner->help);
            qs_json_object_end(j);
        }
        qs_json_object_end(j);
    }
    qs_json_object_end(j);
}

static void put_list(struct qs_json *j)
{
    qs_json_kstring(j, "type", "array");
    qs_json_kint(j, "minItems", 1);
    qs_json_kint(j, "maxItems", QS_ACTIONS_MAX);
    qs_json_kobject(j, "items");
    qs_json_kstring(j, "type", "object");
    qs_json_kbool(j, "additionalProperties", false);
    qs_json_kobject(j, "properties");
    for (size_t k = 0; k < QS_ACTION_KINDS; k++)
        for (const struct qs_key *key = kinds[k].keys; key->name != NULL; key++)
            put_key(j, key);
    qs_json_object_end(j);
    qs_json_object_end(j);
}

/* ---- the stages ---- */

#define STAGE(symbol, its_name, its_json, says)                                                              \
    {                                                                                                        \
        .name = its_name, .type = QS_KEY_CUSTOM,                                                             \
        .offset = offsetof(struct qs_job_actions, stages) + QS_STAGE_##symbol * sizeof(struct qs_actions),   \
        .read = qs_job_read_stage, .json = its_json, .form = STEPS_FORM ", 1 to 64", .help = says            \
    }
static const struct qs_key stage_keys[] = {
    STAGE(BEFORE_JOB, "before_job", put_list,
          "In the first session of the job on a device, before everything else of it; it is not done again "
          "when the job goes on there later."),
    STAGE(BEFORE_SESSION, "before_session", put_steps,
          "In each session, when the job's files are on the device, before `setup`."),
    STAGE(BEFORE_RUN, "before_run", put_steps,
          "Before each run, under its conditions, before its program is started; pilots and warm-ups, too."),
    STAGE(
        BEFORE_WINDOW, "before_window", put_steps,
        "Before each window, repeated ones, too, and before its gate, which looks at everything afterwards. "
        "Traced windows have none."),
    STAGE(AFTER_WINDOW, "after_window", put_steps, "After each of these windows, when it is on disk."),
    STAGE(AFTER_RUN, "after_run", put_steps, "After each run whose `before_run` has begun."),
    STAGE(AFTER_SESSION, "after_session", put_steps,
          "At a session's end, after `cleanup`, also after a failure."),
    STAGE(AFTER_JOB, "after_job", put_steps,
          "When the job is over on this device, also after a failure, but not where a gate gives the device "
          "back."),
    {0}};
const struct qs_table qs_job_actions_table = {.keys = stage_keys};
