/* A job as it was asked for, checked: what a YAML or JSON job file becomes before anything is stored or run.
 * Every pointer is owned by the spec and freed by qs_job_free. Lists are pointer + count; a NULL pointer goes
 * with 0. */
#ifndef QS_CONFIG_JOB_JOB_H
#define QS_CONFIG_JOB_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/document/doc.h"
#include "config/job/actions.h"
#include "config/job/android.h"
#include "config/job/characterize.h"
#include "config/job/conditions.h"
#include "config/job/meter.h"
#include "config/job/params.h"
#include "config/job/plan.h"
#include "config/job/stream.h"
#include "config/job/trace.h"
#include "config/document/string_list.h"

enum qs_job_mode { QS_MODE_COMMAND, QS_MODE_HARNESS, QS_MODE_STREAM, QS_MODE_APP };
enum qs_job_layout_kind { QS_JOB_LAYOUT_RANDOM, QS_JOB_LAYOUT_FIXED };
enum qs_job_output { QS_OUTPUT_DISCARD, QS_OUTPUT_CAPTURE, QS_OUTPUT_STDOUT, QS_OUTPUT_FILE };
enum qs_job_exit { QS_EXIT_ZERO, QS_EXIT_ANY, QS_EXIT_LIST };
enum qs_job_take { QS_TAKE_ANY, QS_TAKE_ALL, QS_TAKE_COUNT };

struct qs_job_file { /* a file the job needs, sent by content */
    char *name;      /* path below the run's directory; relative, no ".." */
    char *path;      /* as written in the job: the client's path; never opened by the daemon */
    char sha256[65]; /* hex, "" until resolved with qs_job_bind_files */
    bool executable;
};

struct qs_job_point {  /* a benchmark with its parameters: axes multiplied out, excludes taken away */
    size_t benchmark;  /* index */
    size_t conditions; /* index: the benchmark's */
    struct qs_params params;
    char *label; /* "blur image=4k threads=4" */
};

enum { QS_JOB_ARTIFACTS_MAX = 16, QS_JOB_EVALS_MAX = 1000000 };

struct qs_job_benchmark {
    char *name;
    enum qs_job_mode mode;
    char *program_benchmark; /* harness: which of the program's, stream: of the document's ("{p}" is filled
                                in), or NULL: its only one */
    unsigned layout;         /* harness: enum qs_job_layout_kind */
    uint32_t evals;          /* harness: evaluations of an iteration; 0: tuned on the baseline */
    struct qs_strings argv; /* "{p}" is a parameter, "{{" a brace; may be empty where every arm has its own */
    struct qs_strings env;  /* "K=V", in the order written */
    bool env_inherit;       /* default true: the agent's environment below `env` */
    char *dir;              /* or NULL: the run's own directory where the job has files, else the agent's */
    char *user;             /* or NULL: the agent's own */
    char *stdin_path;       /* or NULL: /dev/null */
    enum qs_job_output output; /* STDOUT: mode stream alone, whose values are read from there */
    char *output_file;         /* FILE: where standard output goes; mode stream: where its values are read */
    struct qs_job_stream stream; /* mode app: how its document is read */
    struct qs_job_android android;
    int64_t output_max_bytes;    /* default 64 KiB */
    struct qs_strings artifacts; /* paths on the device, kept after each run; "{p}" is filled in */
    int64_t artifact_max_bytes;  /* of each, default 1 MiB */
    int64_t iteration_limit_ns;  /* default 60 s */
    int64_t run_limit_ns;        /* default 30 min */
    enum qs_job_exit exit_rule;
    int32_t *exit_codes; /* QS_EXIT_LIST */
    size_t exit_count;
    struct qs_strings setup, prepare, conclude, cleanup; /* argv each; empty = none */
    int64_t hook_limit_ns;                               /* default 5 min */
    struct qs_job_file *inputs;
    size_t input_count;
    double margin_ratio; /* metric time; default 0.02 */
    size_t conditions;   /* index: those of its points */
};

struct qs_job_arm {
    char *name;
    struct qs_strings argv;                              /* replaces the benchmark's, or empty */
    struct qs_params params;                             /* fixed for this arm, or empty */
    struct qs_strings env;                               /* added after the benchmark's */
    struct qs_strings setup, prepare, conclude, cleanup; /* replace the benchmark's where not empty */
    char *build_label;                                   /* or NULL */
    struct qs_job_file *files;                           /* of the build */
    size_t file_count;
    bool has_conditions; /* else those of the point */
    size_t conditions;   /* index */
};

struct qs_job_spec {
    char *name;
    struct qs_job_benchmark *benchmarks;
    size_t benchmark_count;
    struct qs_job_point *points;
    size_t point_count;
    struct qs_job_arm *arms; /* at least one */
    size_t arm_count;
    size_t baseline; /* index of the arm that the others are compared with */
    double alpha;    /* default 0.05 */
    char *where;     /* device selector, or NULL: any */
    enum qs_job_take take;
    uint32_t take_count;
    struct qs_job_plan plan;
    struct qs_job_meter *meters; /* <= QS_JOB_METERS_MAX */
    size_t meter_count;
    struct qs_job_trace trace;
    struct qs_job_characterize characterize;
    struct qs_job_actions actions;
    bool ablate; /* its arms are the baseline, and that without one of its conditions (ablate.h) */
    struct qs_job_conditions *conditions; /* the job's own and those with a name, at least one */
    size_t condition_count;
    bool fail_on_regression;
    /* All of them by path, the first of each path first; then those alone, in order. */
    struct qs_job_file **files;
    size_t file_count, path_count;
};

/* Builds the checked spec from a document. Every mistake that can be found is reported in `problems`
 * (located, quoted, explained, with a suggestion), not only the first; false where there was one, and
 * *ret_spec is then untouched. Refused are unknown keys, wrong types, values out of range, quantities without
 * a unit, empty matrices, unknown {parameters}, and modes and policies that this version lacks (named as
 * such). */
bool qs_job_from_doc(const struct qs_doc *doc, struct qs_job_spec **ret_spec, struct qs_problems *problems);
void qs_job_free(struct qs_job_spec *spec);

/* The files a client has to send: of inputs and builds, each path once, in order of appearance. */
size_t qs_job_file_count(const struct qs_job_spec *spec);
struct qs_job_file *qs_job_file_at(const struct qs_job_spec *spec, size_t i); /* borrowed, may be bound */
/* Sets the hash of every file with this path; false: none has it. */
bool qs_job_bind_file(struct qs_job_spec *spec, const char *path, const char sha256[65]);
/* The devices that were asked for beside the document; NULL: those of the document. */
void qs_job_set_where(struct qs_job_spec *spec, const char *where);

/* Are its iterations read from what a run's one process has written? Modes stream and app. */
bool qs_job_is_streamed(const struct qs_job_benchmark *benchmark);
/* The argument vector of (arm, point): {parameters} filled in, owned by the caller (qs_strings_done). */
void qs_job_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret_argv);
/* Fills {parameters} of (arm, point) into any template list (hooks, actions). */
void qs_job_fill(const struct qs_job_spec *spec, size_t arm, size_t point, const struct qs_strings *tmpl,
                 struct qs_strings *ret);

/* The order of the arms in one block: `order` has room for 2 * arm_count entries (ABBA: each arm twice),
 * returns how many were written. Drawn from (seed, device, point, block) only, so that a block can be drawn
 * again after a crash. RANDOM: a uniform permutation. */
size_t qs_job_block_order(const struct qs_job_spec *spec, uint64_t seed, uint64_t device, size_t point,
                          uint32_t block, size_t *order);

#endif
