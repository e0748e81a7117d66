/* The part of a job that asks for traced windows. Owned by the job's spec (job.h). */
#ifndef QS_CONFIG_JOB_TRACE_H
#define QS_CONFIG_JOB_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/document/string_list.h"

enum qs_job_tracer {
    QS_TRACER_NONE,
    QS_TRACER_PERF,
    QS_TRACER_FTRACE,
    QS_TRACER_PERFETTO,
    QS_TRACER_COMMAND
};

struct qs_job_trace {
    unsigned tool;              /* enum qs_job_tracer; NONE: no window is traced, nothing else counts */
    struct qs_strings argv;     /* COMMAND */
    struct qs_strings options;  /* further words of perf and perfetto; settings of ftrace */
    struct qs_strings events;   /* PERF, FTRACE */
    char *config;               /* PERFETTO: its configuration as text */
    int64_t buffer_bytes;       /* FTRACE: of each processor */
    uint32_t every;             /* in every so many blocks, from the first on; 0: in the first alone */
    uint32_t windows;           /* of such a run */
    int64_t max_bytes;          /* of each trace */
    int64_t settle_ns, stop_ns; /* from its start until it stands; from SIGINT to SIGKILL */
    bool required;              /* without a trace the job fails */
};

struct qs_job_spec;

/* "perf", "ftrace", "perfetto", "command"; "none". */
const char *qs_job_tracer_name(unsigned tool);
/* Has a run of this counted block (1, 2, ...) traced windows? */
bool qs_job_is_traced(const struct qs_job_trace *trace, uint32_t block);
/* The tracer's words for (arm, point): {parameters} filled in; {pid}, {output} and {agent} are left to the
 * agent. Owned by the caller (qs_strings_done). */
void qs_job_tracer_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret);

#endif
