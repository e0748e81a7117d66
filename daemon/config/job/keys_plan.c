/* The job file, key by key: how arms are compared, where, how much and under which conditions. */
#include <stddef.h>

#include "config/job/read.h"
#include "config/job/stop.h"
#include "proto/limits.h"

#define MS          INT64_C(1000000)
#define S           INT64_C(1000000000)
#define D           (86400 * S)
#define PLAN(field) SPEC(plan.field)
#define SPEC(field) offsetof(struct qs_job_draft, spec.field)
#define SET(field)  offsetof(struct qs_job_conditions, field)

static const struct qs_word order_words[] = {{"random", QS_ORDER_RANDOM},
                                             {"AB", QS_ORDER_AB},
                                             {"BA", QS_ORDER_BA},
                                             {"ABBA", QS_ORDER_ABBA},
                                             {NULL, 0}};
static const struct qs_word fail_words[] = {{"never", 0}, {"regression", 1}, {NULL, 0}};

static const struct qs_key compare_keys[] = {
    {.name = "baseline",
     .type = QS_KEY_TEXT,
     .offset = offsetof(struct qs_job_draft, baseline),
     .min = 1,
     .help = "The arm that the others are compared with; without it, the first."},
    {.name = "alpha",
     .type = QS_KEY_RATIO,
     .offset = SPEC(alpha),
     .min = 100,
     .max = 500000,
     .fallback = "0.05",
     .help = "The error rate of a verdict; intervals have the level 1 - alpha."},
    {.name = "margin",
     .type = QS_KEY_RATIO,
     .offset = offsetof(struct qs_job_draft, margin_ratio),
     .min = 100,
     .max = 500000,
     .fallback = "2%",
     .help = "A difference up to this does not matter."},
    {.name = "fail_on",
     .type = QS_KEY_ENUM,
     .offset = offsetof(struct qs_job_draft, fail_on),
     .words = fail_words,
     .fallback = "never",
     .help = "Whether a client that waits ends with exit code 5 where an arm regressed."},
    {0}};
const struct qs_table qs_job_compare_table = {.keys = compare_keys};

static const struct qs_key device_keys[] = {
    {.name = "where",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_where,
     .form = "an expression",
     .help =
         "The devices that may run it, such as `name == \"bench1\" && label.soc != \"x\"`; without it, any."},
    {.name = "take",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_take,
     .form = "any, all, or a whole number",
     .fallback = "any",
     .help = "How many of them: the first that is free, all of them, or this many."},
    {0}};
const struct qs_table qs_job_devices_table = {.keys = device_keys};

static const struct qs_key blocks_keys[] = {{.name = "min",
                                             .type = QS_KEY_U32,
                                             .offset = offsetof(struct qs_job_plan, blocks_min),
                                             .min = 1,
                                             .max = 10000,
                                             .fallback = "6",
                                             .help = "No rule stops before this many."},
                                            {.name = "max",
                                             .type = QS_KEY_U32,
                                             .offset = offsetof(struct qs_job_plan, blocks_max),
                                             .min = 1,
                                             .max = 10000,
                                             .fallback = "30",
                                             .help = "There are never more than this many."},
                                            {0}};
static const struct qs_table blocks_table = {.keys = blocks_keys};

static const struct qs_key until_keys[] = {
    {.name = "interval",
     .type = QS_KEY_RATIO,
     .offset = PLAN(interval_ratio),
     .min = 0,
     .max = 1000000,
     .fallback = "1%",
     .help = "Stop where the 95 % interval of every ratio is at most this to either side; 0 = never."},
    {.name = "time",
     .type = QS_KEY_DURATION,
     .offset = PLAN(time_ns),
     .min = 0,
     .max = 30 * D,
     .fallback = "0",
     .help = "Start no further block after this much time with a point, not counting waits for the gate; 0 = "
             "no limit."},
    {0}};
static const struct qs_table until_table = {.keys = until_keys};

static const struct qs_key window_keys[] = {
    {.name = "iterations",
     .type = QS_KEY_CUSTOM,
     .offset = SPEC(plan),
     .read = qs_job_read_window,
     .form = "auto, or a whole number, 1 to 4096",
     .fallback = "auto",
     .help = "Iterations of a run's window, equal for all arms; `auto` takes them from a pilot."},
    {.name = "target",
     .type = QS_KEY_DURATION,
     .offset = PLAN(window_target_ns),
     .min = MS,
     .max = 3600 * S,
     .fallback = "50ms",
     .help = "With `auto`: as many iterations as the slowest arm needs to fill this time."},
    {.name = "auto_max",
     .type = QS_KEY_U32,
     .offset = PLAN(window_auto_max),
     .min = 1,
     .max = QS_ITERATIONS_MAX,
     .fallback = "50",
     .help = "With `auto`: never more than this (1000 where all benchmarks are of mode harness)."},
    {.name = "max",
     .type = QS_KEY_DURATION,
     .offset = PLAN(window_max_ns),
     .min = MS,
     .max = D,
     .fallback = "2min",
     .help = "No iteration starts later than this in a window."},
    {0}};
static const struct qs_table window_table = {.keys = window_keys};

static const struct qs_key warmup_keys[] = {
    {.name = "iterations",
     .type = QS_KEY_U32,
     .offset = PLAN(warmup_iterations),
     .min = 0,
     .max = QS_ITERATIONS_MAX,
     .fallback = "2",
     .help = "Uncounted iterations for each arm and point; the last is the pilot of `auto`."},
    {.name = "max",
     .type = QS_KEY_DURATION,
     .offset = PLAN(warmup_max_ns),
     .min = MS,
     .max = D,
     .fallback = "30s",
     .help = "No warm-up iteration starts later than this."},
    {0}};
static const struct qs_table warmup_table = {.keys = warmup_keys};

static const struct qs_key caps_keys[] = {{.name = "time",
                                           .type = QS_KEY_DURATION,
                                           .offset = offsetof(struct qs_job_enough, cap_time_ns),
                                           .min = MS,
                                           .max = 7 * D,
                                           .fallback = "300s",
                                           .help = "This much measured time."},
                                          {.name = "iterations",
                                           .type = QS_KEY_U32,
                                           .offset = offsetof(struct qs_job_enough, cap_iterations),
                                           .min = 1,
                                           .max = 1000000,
                                           .fallback = "10000",
                                           .help = "This many accepted iterations."},
                                          {0}};
static const struct qs_table caps_table = {.keys = caps_keys};

static const struct qs_key plan_keys[] = {
    {.name = "seed",
     .type = QS_KEY_U64,
     .offset = PLAN(seed),
     .help = "The seed for the order of arms; without it one is drawn and kept with the results."},
    {.name = "order",
     .type = QS_KEY_ENUM,
     .offset = PLAN(order),
     .words = order_words,
     .fallback = "random",
     .help = "The order of arms in a block; ABBA runs each twice."},
    {.name = "blocks",
     .type = QS_KEY_CUSTOM,
     .offset = SPEC(plan),
     .read = qs_job_read_blocks,
     .form = "a map, or a whole number",
     .table = &blocks_table,
     .help = "How often every arm runs, per point and device; a single number is both minimum and maximum."},
    {.name = "runs",
     .type = QS_KEY_CUSTOM,
     .offset = SPEC(plan),
     .read = qs_job_read_blocks,
     .form = "a map, or a whole number",
     .table = &blocks_table,
     .help = "Another word for `blocks`: a block has one run of each arm."},
    {.name = "looks",
     .type = QS_KEY_CUSTOM,
     .offset = SPEC(plan),
     .read = qs_job_read_looks,
     .form = "a list of whole numbers",
     .fallback = "10, 15, 20, ...",
     .help = "The block counts at which `until.interval` is checked."},
    {.name = "precision",
     .type = QS_KEY_RATIO,
     .offset = PLAN(precision_ratio),
     .min = 100,
     .max = 1000000,
     .help = "The interval that is wanted: the first blocks then determine how many iterations per run and "
             "how many blocks it takes, within `blocks` and `window`. Replaces `until.interval`."},
    {.name = "until",
     .type = QS_KEY_MAP,
     .table = &until_table,
     .help = "When to stop early: by precision or time, never by p."},
    {.name = "window",
     .type = QS_KEY_MAP,
     .table = &window_table,
     .help = "The burst of iterations under one gate."},
    {.name = "warmup",
     .type = QS_KEY_MAP,
     .table = &warmup_table,
     .help = "What runs before anything counts."},
    {.name = "stop",
     .type = QS_KEY_CUSTOM,
     .offset = offsetof(struct qs_job_draft, enough),
     .read = qs_job_read_stop,
     .json = qs_stop_json_schema,
     .form = "a preset, or a rule",
     .help =
         "When a run has enough: asked at window ends about its accepted iterations; without it a run is one "
         "window. See below."},
    {.name = "metrics",
     .type = QS_KEY_STRINGS,
     .offset = PLAN(metrics),
     .max = QS_JOB_HOOKS_MAX,
     .help = "Metrics of the farm: after each window the command of each prints a number, which is kept with "
             "the window."},
    {.name = "caps",
     .type = QS_KEY_MAP,
     .offset = offsetof(struct qs_job_draft, enough),
     .table = &caps_table,
     .help = "With `stop`: what ends a run whatever its rule says."},
    {0}};
const struct qs_table qs_job_plan_table = {.keys = plan_keys, .check = qs_job_check_plan};

static const struct qs_key condition_keys[] = {
    {.name = "affinity",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_cpus,
     .form = "any, all, little, big, prime, one-big, or CPUs such as 0-3,6",
     .fallback = "any",
     .help =
         "The CPUs that the command may use. Words are the device's clusters; `one-big` is one of the big, "
         "in each block the next."},
    {.name = "frequency",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_frequency,
     .form =
         "free, max, min, sustained, hold, a share such as 50%, a frequency such as 1.8GHz, a place such as "
         "2/5, each, "
         "or a list; or a map of these for cpu, gpu, memory",
     .fallback = "free",
     .help =
         "The frequency at which the processors (or each of cpu, gpu and memory) are held during the runs; "
         "`free` records "
         "frequencies and changes none, `hold` keeps processors busy until they are at their highest. `each` "
         "(5 places), `each 8`, or a list makes an arm of every "
         "frequency. See below."},
    {.name = "governor",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_governor,
     .form = "a name, or a map of names for cpu, gpu, memory",
     .help = "What chooses the frequency during the runs; where `frequency` holds one, it is held under this "
             "governor in place of the profile's."},
    {.name = "online",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_online,
     .form = "all, little, big, prime, or CPUs such as 0-3,6",
     .help = "The CPUs that run during the runs; all others are switched off."},
    {.name = "boost",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_boost,
     .form = "on or off",
     .help = "Frequencies above the nominal ones: every switch of kind `boost`."},
    {.name = "idle_states",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_idle,
     .form = "off, or a whole number",
     .help = "The deepest idle state that a CPU may go to; `off` is 0, the shallowest."},
    {.name = "switches",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_switches,
     .form = "a map of a switch's name to on, off or a number",
     .help = "Switches of the device during the runs, by name or by a pattern of names (`fan:*`); "
             "`quiesce devices show DEVICE` lists them. See below."},
    {.name = "priority",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_priority,
     .form = "normal, fifo, fifo 1 to fifo 99, or nice -20 to nice 19",
     .fallback = "normal",
     .help =
         "The priority of the processes that are measured, and of what they start. `fifo` is SCHED_FIFO, 1 "
         "where no number is given. See below."},
    {.name = "aslr",
     .type = QS_KEY_CUSTOM,
     .offset = SET(controls),
     .read = qs_job_read_aslr,
     .form = "on or off",
     .fallback = "on",
     .help = "`off`: the kernel draws no addresses for these processes (`personality`, needs no root); `on` "
             "leaves "
             "that to the device."},
    {.name = "trip",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_trip,
     .form = "a temperature, 20C to 150C",
     .help = "No window opens, and the job ends, where a temperature of processors, GPU, skin or battery is "
             "above "
             "this. A job that switches off what protects the device from heat must have it."},
    {.name = "app",
     .type = QS_KEY_MAP,
     .offset = SET(app),
     .table = &qs_job_app_table,
     .help = "Android: an app that has to be as said when the job begins; else nothing is measured."},
    {.name = "gate",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_gate,
     .form = "none, or a list of expectations",
     .fallback = "cpu.busy_ratio_ppm below 10%",
     .help = "What must hold before every window; see below."},
    {.name = "patience",
     .type = QS_KEY_DURATION,
     .offset = SET(patience_ns),
     .min = 1000000,
     .max = 86400 * INT64_C(1000000000),
     .help = "How long the job may wait in vain for gates that taint, over all its windows on a device; "
             "after that windows begin at once, tainted where the gate is shut. Default: four times the "
             "longest timeout of such a gate."},
    {.name = "bounds",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_bounds,
     .form = "none, or a map of evidence to bound",
     .fallback = "see below",
     .help = "A rise above the bound during a window taints it; see below."},
    {.name = "repeat_tainted",
     .type = QS_KEY_U32,
     .offset = SET(repeat_tainted),
     .min = 0,
     .max = 100,
     .fallback = "2",
     .help = "How often a tainted window is repeated; the tainted one is kept."},
    {.name = "stop",
     .type = QS_KEY_CUSTOM,
     .offset = SET(enough),
     .read = qs_job_read_stop,
     .json = qs_stop_json_ref,
     .form = "a preset, or a rule",
     .help = "When a run under these conditions has enough, in place of `plan.stop`."},
    {.name = "caps",
     .type = QS_KEY_MAP,
     .offset = SET(enough),
     .table = &caps_table,
     .help = "What ends such a run whatever its rule says, in place of `plan.caps`."},
    {0}};
const struct qs_table qs_job_condition_table = {.keys = condition_keys};
const struct qs_table qs_job_condition_set_table = {.keys = condition_keys,
                                                    .size_bytes = sizeof(struct qs_job_conditions),
                                                    .name_offset = SET(name),
                                                    .fallback = "that of `conditions`"};
