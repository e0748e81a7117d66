/* The job file, key by key: what is measured and compared. With keys_plan.c this is the language: names,
 * types, ranges, defaults and help. */
#include <stddef.h>

#include "base/pattern.h"
#include "config/job/read_params.h"
#include "config/job/read_meters.h"
#include "proto/limits.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)
#define D  (86400 * S)

#define BENCH(field) offsetof(struct qs_job_benchmark, field)
#define ARM(field)   offsetof(struct qs_job_arm, field)
#define SPEC(field)  (offsetof(struct qs_job_draft, spec) + offsetof(struct qs_job_spec, field))

#define COMMAND_FORM    "a list, one word each"
#define HOOK_FORM       "a list of words, or {shell: text}"
#define CONDITIONS_FORM "a name of `condition_sets`, or default"

static const struct qs_word layout_words[] = {
    {"random", QS_JOB_LAYOUT_RANDOM}, {"fixed", QS_JOB_LAYOUT_FIXED}, {NULL, 0}};
static const struct qs_word format_words[] = {{"google-benchmark", QS_FORM_GBENCH},
                                              {"numbers", QS_FORM_NUMBERS},
                                              {"pattern", QS_FORM_PATTERN},
                                              {NULL, 0}};
static const struct qs_word better_words[] = {
    {"lower", QS_JOB_BETTER_LOWER}, {"higher", QS_JOB_BETTER_HIGHER}, {NULL, 0}};
static const struct qs_key limits_keys[] = {
    {.name = "iteration",
     .type = QS_KEY_DURATION,
     .offset = BENCH(iteration_limit_ns),
     .min = MS,
     .max = D,
     .fallback = "60s",
     .help = "An iteration that takes longer is ended and tainted; modes stream and app: the run's process, "
             "and without it "
             "10min."},
    {.name = "run",
     .type = QS_KEY_DURATION,
     .offset = BENCH(run_limit_ns),
     .min = S,
     .max = 7 * D,
     .fallback = "30min",
     .help = "A run that takes longer, waits included, is ended and tainted."},
    {.name = "hook",
     .type = QS_KEY_DURATION,
     .offset = BENCH(hook_limit_ns),
     .min = MS,
     .max = D,
     .fallback = "5min",
     .help = "The same for one setup, prepare, conclude or cleanup command; mode app: for each step of "
             "installing."},
    {.name = "output",
     .type = QS_KEY_BYTES,
     .offset = BENCH(output_max_bytes),
     .min = 1,
     .max = 64 * 1024,
     .fallback = "64KiB",
     .help = "Captured output beyond this is counted and dropped."},
    {.name = "artifact",
     .type = QS_KEY_BYTES,
     .offset = BENCH(artifact_max_bytes),
     .min = 1,
     .max = 16 * 1024 * 1024,
     .fallback = "1MiB",
     .help = "How much of each artifact is kept, from its beginning."},
    {.name = "document",
     .type = QS_KEY_BYTES,
     .offset = BENCH(stream.document_max_bytes),
     .min = 1,
     .max = QS_DOCUMENT_MAX_BYTES,
     .fallback = "1MiB",
     .help = "Modes stream and app: a longer document fails its run."},
    {0}};
static const struct qs_table limits_table = {.keys = limits_keys};

static const struct qs_key time_keys[] = {
    {.name = "margin",
     .type = QS_KEY_RATIO,
     .offset = BENCH(margin_ratio),
     .min = 100,
     .max = 500000,
     .help = "A difference up to this does not matter; default: `compare.margin`."},
    {0}};
static const struct qs_table time_table = {.keys = time_keys};
static const struct qs_key metrics_keys[] = {
    {.name = "time", .type = QS_KEY_MAP, .table = &time_table, .help = "The duration of an iteration."}, {0}};
static const struct qs_table metrics_table = {.keys = metrics_keys};

static const struct qs_key benchmark_keys[] = {
    {.name = "name",
     .type = QS_KEY_NAME,
     .offset = BENCH(name),
     .required = true,
     .help = "The name under which results are kept and compared over time."},
    {.name = "mode",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(mode),
     .read = qs_job_read_mode,
     .form = "command, harness, stream or app",
     .fallback = "command",
     .help = "`command` starts one process for each iteration; `harness` starts a program that includes "
             "quiesce/bench.h "
             "once for each run; `stream` starts a program of a suite once for each run and reads the values "
             "that it writes; `app` starts or instruments an Android app."},
    {.name = "app",
     .type = QS_KEY_MAP,
     .offset = BENCH(android),
     .table = &qs_job_android_table,
     .help = "Mode app: which app, how it is installed, and what is measured of it. See below."},
    {.name = "format",
     .type = QS_KEY_ENUM,
     .offset = BENCH(stream.format),
     .words = format_words,
     .help = "Mode stream: what the program writes: Google Benchmark's JSON, a number per line, or lines "
             "that `pattern` matches."},
    {.name = "unit",
     .type = QS_KEY_TEXT,
     .offset = BENCH(stream.unit),
     .min = 1,
     .max = QS_JOB_UNIT_MAX_BYTES,
     .help = "Mode stream: the unit of the values of `numbers` and `pattern`: ns, us, ms or s; or a unit "
             "that is not a time, such as MB/s: letters, digits, %, / and -."},
    {.name = "better",
     .type = QS_KEY_ENUM,
     .offset = BENCH(stream.better),
     .words = better_words,
     .help = "Mode stream, where the unit is not a time: whether the higher or the lower value is the better "
             "one."},
    {.name = "metric",
     .type = QS_KEY_TEXT,
     .offset = BENCH(stream.metric),
     .min = 1,
     .max = QS_JOB_METRIC_MAX_BYTES,
     .help = "Mode stream, where the unit is not a time: the name of the value, `value` without it. Mode app "
             "with a test: which of its times is that of an iteration, such as timeToInitialDisplayMs or "
             "frameDurationCpuMs."},
    {.name = "pattern",
     .type = QS_KEY_TEXT,
     .offset = BENCH(stream.pattern),
     .min = 1,
     .max = QS_PATTERN_BYTES,
     .help = "Mode stream: a POSIX extended regular expression; its one group in parentheses is the value of "
             "a line that it matches, other lines are skipped."},
    {.name = "benchmark",
     .type = QS_KEY_TEXT,
     .offset = BENCH(program_benchmark),
     .min = 1,
     .max = QS_NAME_MAX_BYTES - 1,
     .help = "Mode harness: which of the program's benchmarks; without it, its only one. Modes stream and "
             "app: which "
             "of the document's, `{p}` is filled in."},
    {.name = "layout",
     .type = QS_KEY_ENUM,
     .offset = BENCH(layout),
     .words = layout_words,
     .fallback = "random",
     .help = "Mode harness: whether each run moves its environment, stack and heap by amounts drawn from the "
             "seed."},
    {.name = "evals",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(evals),
     .read = qs_job_read_evals,
     .form = "auto, or a whole number, 1 to 1000000",
     .fallback = "auto",
     .help =
         "Mode harness: how often an iteration evaluates the benchmark between two reads of the clock, the "
         "same for all arms; `auto` tunes it on the baseline, or takes what an earlier job found."},
    {.name = "argv",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(argv),
     .read = qs_job_read_argv,
     .form = COMMAND_FORM,
     .help = "The command; `{p}` stands for parameter p, `{{` for a brace. Arms may replace it."},
    {.name = "shell",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(argv),
     .read = qs_job_read_shell,
     .form = "text",
     .help = "Instead of argv: a line for /bin/sh -c; the shell's start is then part of every iteration."},
    {.name = "dir",
     .type = QS_KEY_TEXT,
     .offset = BENCH(dir),
     .min = 1,
     .max = QS_PATH_MAX_BYTES,
     .help = "The working directory on the device; without it the run's own where the job has files."},
    {.name = "env",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(env),
     .read = qs_job_read_env,
     .form = "a map of text",
     .help = "Environment variables, put over the inherited ones; `{p}` is filled in."},
    {.name = "env_inherit",
     .type = QS_KEY_BOOL,
     .offset = BENCH(env_inherit),
     .fallback = "true",
     .help = "Whether the command sees the agent's environment below `env`."},
    {.name = "user",
     .type = QS_KEY_TEXT,
     .offset = BENCH(user),
     .min = 1,
     .max = QS_NAME_MAX_BYTES,
     .help = "The user that every command of the benchmark runs as, by name or number on the device; needs "
             "an agent that runs as root. Of the inherited environment only PATH, LANG and LC_ALL remain; "
             "HOME, USER, LOGNAME and SHELL are that user's."},
    {.name = "stdin",
     .type = QS_KEY_TEXT,
     .offset = BENCH(stdin_path),
     .min = 1,
     .max = QS_PATH_MAX_BYTES,
     .fallback = "/dev/null",
     .help = "A file on the device that every iteration reads from its beginning."},
    {.name = "output",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_output,
     .json = qs_job_output_json,
     .form = "discard, capture, stdout, or {file: PATH}",
     .fallback = "discard",
     .help = "What happens to standard output and error. `capture` keeps and counts both. A file is a path "
             "on the device, relative to the working directory: each process writes its standard output "
             "there with the rights of `user`, into an emptied file, so that the last one's remains; "
             "standard error is captured. Mode stream: where the values are read, `stdout` without it, or "
             "the file that the program writes; what is left of the output is captured."},
    {.name = "params",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_axes,
     .form = "a map of values or lists of values",
     .help =
         "Parameters; lists are multiplied out into points, at most 10,000 in a job, whose names and values "
         "have at most 4 MiB together. A harness program gets those that argv does not use, by name."},
    {.name = "exclude",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_exclude,
     .form = "a list of maps",
     .help = "Points to leave out: all those with these parameter values."},
    {.name = "inputs",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_inputs,
     .form = "a list of paths, or a map of name to path",
     .help = "Files of the client, sent by content into the run's directory."},
    {.name = "artifacts",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(artifacts),
     .read = qs_job_read_artifacts,
     .form = "a list of paths",
     .help = "Files that a run leaves on the device (relative ones begin at its directory): fetched when the "
             "run ends, "
             "and kept with it; `{p}` is filled in."},
    {.name = "exit",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_exit,
     .form = "zero, any, or a list of exit codes",
     .fallback = "zero",
     .help = "The exit codes that count as success; others taint the iteration."},
    {.name = "setup",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(setup),
     .read = qs_job_read_hook,
     .form = HOOK_FORM,
     .help = "Runs once before the runs of a point and arm."},
    {.name = "prepare",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(prepare),
     .read = qs_job_read_hook,
     .form = HOOK_FORM,
     .help = "Runs before every iteration, outside its time."},
    {.name = "conclude",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(conclude),
     .read = qs_job_read_hook,
     .form = HOOK_FORM,
     .help = "Runs after every iteration, outside its time."},
    {.name = "cleanup",
     .type = QS_KEY_CUSTOM,
     .offset = BENCH(cleanup),
     .read = qs_job_read_hook,
     .form = HOOK_FORM,
     .help = "Runs once after the runs of a point and arm, also after a failure."},
    {.name = "metrics", .type = QS_KEY_MAP, .table = &metrics_table, .help = "What is judged."},
    {.name = "conditions",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_conditions_name,
     .form = CONDITIONS_FORM,
     .help = "The conditions of all its points; default: the job's own."},
    {.name = "limits", .type = QS_KEY_MAP, .table = &limits_table, .help = "Limits of time and size."},
    {0}};
static const struct qs_table benchmark_table = {
    .keys = benchmark_keys, .size_bytes = sizeof(struct qs_job_benchmark), .check = qs_job_check_benchmark};

static const struct qs_key build_keys[] = {
    {.name = "label",
     .type = QS_KEY_NAME,
     .offset = ARM(build_label),
     .required = true,
     .help = "The name of the version; one label never stands for two contents."},
    {.name = "files",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_files,
     .form = "a map of name to path",
     .help =
         "Files of the client, sent by content and executable: name in the run's directory to local path."},
    {0}};
static const struct qs_table build_table = {.keys = build_keys};

static void read_build(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    if (qs_schema_is(r, node, QS_NODE_MAP, "a map"))
        qs_schema_map(r, key->table, node, at);
}

static const struct qs_key arm_keys[] = {{.name = "argv",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(argv),
                                          .read = qs_job_read_argv,
                                          .form = COMMAND_FORM,
                                          .help = "Replaces the benchmark's command."},
                                         {.name = "shell",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(argv),
                                          .read = qs_job_read_shell,
                                          .form = "text",
                                          .help = "The same as a line for /bin/sh -c."},
                                         {.name = "params",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(params),
                                          .read = qs_job_read_fixed,
                                          .form = "a map of values",
                                          .help = "Parameters that this arm fixes."},
                                         {.name = "env",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(env),
                                          .read = qs_job_read_env,
                                          .form = "a map of text",
                                          .help = "Added after the benchmark's environment."},
                                         {.name = "build",
                                          .type = QS_KEY_CUSTOM,
                                          .read = read_build,
                                          .form = "a map",
                                          .table = &build_table,
                                          .help = "The build under test."},
                                         {.name = "conditions",
                                          .type = QS_KEY_CUSTOM,
                                          .read = qs_job_read_conditions_name,
                                          .form = CONDITIONS_FORM,
                                          .help = "The conditions of this arm; without it, the benchmark's."},
                                         {.name = "setup",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(setup),
                                          .read = qs_job_read_hook,
                                          .form = HOOK_FORM,
                                          .help = "Replaces the benchmark's setup."},
                                         {.name = "prepare",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(prepare),
                                          .read = qs_job_read_hook,
                                          .form = HOOK_FORM,
                                          .help = "Replaces the benchmark's prepare."},
                                         {.name = "conclude",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(conclude),
                                          .read = qs_job_read_hook,
                                          .form = HOOK_FORM,
                                          .help = "Replaces the benchmark's conclude."},
                                         {.name = "cleanup",
                                          .type = QS_KEY_CUSTOM,
                                          .offset = ARM(cleanup),
                                          .read = qs_job_read_hook,
                                          .form = HOOK_FORM,
                                          .help = "Replaces the benchmark's cleanup."},
                                         {0}};
static const struct qs_table arm_table = {.keys = arm_keys,
                                          .size_bytes = sizeof(struct qs_job_arm),
                                          .name_offset = ARM(name),
                                          .check = qs_job_check_arm};

static const struct qs_key job_keys[] = {
    {.name = "quiesce",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_version,
     .form = "1",
     .required = true,
     .help = "The version of this language, `quiesce: 1`."},
    {.name = "name",
     .type = QS_KEY_NAME,
     .offset = SPEC(name),
     .help = "What people call the job; without it, the first benchmark's name."},
    {.name = "benchmarks",
     .type = QS_KEY_LIST,
     .offset = SPEC(benchmarks),
     .count_offset = SPEC(benchmark_count),
     .min = 1,
     .max = 100,
     .table = &benchmark_table,
     .help = "What is measured, at least one; with `characterize` none is needed."},
    {.name = "arms",
     .type = QS_KEY_NAMED,
     .offset = SPEC(arms),
     .count_offset = SPEC(arm_count),
     .min = 1,
     .max = 100,
     .table = &arm_table,
     .help = "What is compared, by name; without it each benchmark is measured alone."},
    {.name = "compare", .type = QS_KEY_MAP, .table = &qs_job_compare_table, .help = "How arms are compared."},
    {.name = "devices", .type = QS_KEY_MAP, .table = &qs_job_devices_table, .help = "Where it runs."},
    {.name = "plan", .type = QS_KEY_MAP, .table = &qs_job_plan_table, .help = "How much is measured."},
    {.name = "meters",
     .type = QS_KEY_NAMED,
     .offset = SPEC(meters),
     .count_offset = SPEC(meter_count),
     .min = 1,
     .max = QS_JOB_METERS_MAX,
     .table = &qs_job_meter_table,
     .help =
         "What is measured beside the durations, by name: each is a metric of the windows, compared like the "
         "durations. See below."},
    {.name = "trace",
     .type = QS_KEY_MAP,
     .offset = SPEC(trace),
     .table = &qs_job_trace_table,
     .help = "Traced windows: what a run does once more under a tracer, never counted as a measurement. See "
             "below."},
    {.name = "characterize",
     .type = QS_KEY_MAP,
     .offset = SPEC(characterize),
     .table = &qs_job_characterize_table,
     .help =
         "The device itself is measured: how it warms up and cools down. The benchmarks are not run then. "
         "See below."},
    {.name = "actions",
     .type = QS_KEY_MAP,
     .offset = SPEC(actions),
     .table = &qs_job_actions_table,
     .help = "What else is done, and when: lists of steps. See below."},
    {.name = "ablate",
     .type = QS_KEY_BOOL,
     .offset = SPEC(ablate),
     .fallback = "false",
     .help = "Whether the arms are the baseline under all of its conditions, and under all but one of them, "
             "in turn: what each is worth on this device. See below."},
    {.name = "conditions",
     .type = QS_KEY_MAP,
     .offset = offsetof(struct qs_job_draft, own),
     .table = &qs_job_condition_table,
     .help = "Under which conditions."},
    {.name = "condition_sets",
     .type = QS_KEY_NAMED,
     .offset = offsetof(struct qs_job_draft, sets),
     .count_offset = offsetof(struct qs_job_draft, set_count),
     .min = 1,
     .max = QS_JOB_CONDITION_SETS_MAX,
     .table = &qs_job_condition_set_table,
     .help = "Conditions by name, which benchmarks and arms refer to; what a set leaves out is as in "
             "`conditions`. See below."},
    {0}};
static const struct qs_table job_table = {.keys = job_keys, .check = qs_job_check};

const struct qs_table *qs_job_table(void)
{
    return &job_table;
}
