/* From a job's wish for traces to the words of a tracer. */
#include "config/job/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/job/job.h"

const char *qs_job_tracer_name(unsigned tool)
{
    static const char *const names[] = {"none", "perf", "ftrace", "perfetto", "command"};
    return tool < sizeof names / sizeof *names ? names[tool] : "none";
}

bool qs_job_is_traced(const struct qs_job_trace *trace, uint32_t block)
{
    if (trace->tool == QS_TRACER_NONE || block == 0)
        return false;
    return block == 1 || (trace->every > 0 && (block - 1) % trace->every == 0);
}

static void add(struct qs_strings *out, char *owned)
{
    out->at = qs_grow(out->at, out->count, sizeof *out->at);
    out->at[out->count++] = owned;
}

static void add_all(struct qs_strings *out, const char *const *words)
{
    for (; *words != NULL; words++)
        add(out, qs_strdup(*words));
}

/* What the agent fills in is kept as it is: one brace more is one brace again once the parameters are in. */
static char *keep_places(const char *text)
{
    static const char *const places[] = {"{pid}", "{output}", "{agent}"};
    QS_BUF(out);
    for (const char *p = text; *p != '\0'; p++) {
        if (p[0] == '{' && p[1] == '{') { /* an escaped brace begins no place */
            qs_buf_add(&out, p++, 2);
            continue;
        }
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (strncmp(p, places[i], strlen(places[i])) == 0)
                qs_buf_char(&out, '{');
        qs_buf_char(&out, *p);
    }
    return qs_buf_take(&out);
}

/* Words of the job: its parameters are filled in. */
static void add_filled(const struct qs_job_spec *spec, size_t arm, size_t point,
                       const struct qs_strings *words, const char *prefix, struct qs_strings *out)
{
    for (size_t i = 0; i < words->count; i++) {
        char *kept = keep_places(words->at[i]);
        const struct qs_strings one = {.at = &kept, .count = 1};
        struct qs_strings filled;
        qs_job_fill(spec, arm, point, &one, &filled);
        add(out, qs_asprintf("%s%s", prefix, filled.at[0]));
        qs_strings_done(&filled);
        free(kept);
    }
}

/* The clock is the agent's, so that an iteration is found in the trace by its times. */
static void perf_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *out)
{
    const struct qs_job_trace *t = &spec->trace;
    add_all(out, (const char *const[]){"perf", "record", "-k", "CLOCK_MONOTONIC_RAW", "-o", "{output}", "-p",
                                       "{pid}", NULL});
    for (size_t i = 0; i < t->events.count; i++) {
        const struct qs_strings one = {.at = &t->events.at[i], .count = 1};
        add(out, qs_strdup("-e"));
        add_filled(spec, arm, point, &one, "", out);
    }
    if (t->options.count == 0)
        add(out, qs_strdup("-g"));
    add_filled(spec, arm, point, &t->options, "", out);
}

static void ftrace_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *out)
{
    const struct qs_job_trace *t = &spec->trace;
    add_all(out, (const char *const[]){"{agent}", "--ftrace", "{output}", "trace_clock=mono_raw", NULL});
    add(out, qs_asprintf("buffer_size_kb=%" PRId64, t->buffer_bytes / 1024));
    add_filled(spec, arm, point, &t->events, "set_event=", out);
    add_filled(spec, arm, point, &t->options, "", out);
}

void qs_job_tracer_argv(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret)
{
    const struct qs_job_trace *t = &spec->trace;
    *ret = (struct qs_strings){0};
    switch ((enum qs_job_tracer)t->tool) {
    case QS_TRACER_PERF:
        perf_argv(spec, arm, point, ret);
        break;
    case QS_TRACER_FTRACE:
        ftrace_argv(spec, arm, point, ret);
        break;
    case QS_TRACER_PERFETTO:
        add_all(ret, (const char *const[]){"perfetto", "-c", "-", "--txt", "-o", "{output}", NULL});
        add_filled(spec, arm, point, &t->options, "", ret);
        break;
    case QS_TRACER_COMMAND:
        add_filled(spec, arm, point, &t->argv, "", ret);
        break;
    case QS_TRACER_NONE:
        break;
    }
}
