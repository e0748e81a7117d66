/* The job file, key by key: traced windows. */
#include <stddef.h>
#include <string.h>

#include "config/job/read.h"
#include "proto/limits.h"

#define MS           INT64_C(1000000)
#define S            INT64_C(1000000000)
#define TRACE(field) offsetof(struct qs_job_trace, field)

enum { WORDS_MAX = 64, CONFIG_MAX_BYTES = 60000, KIB = 1024, MIB = 1024 * 1024 };

static const struct qs_word tool_words[] = {{"perf", QS_TRACER_PERF},
                                            {"ftrace", QS_TRACER_FTRACE},
                                            {"perfetto", QS_TRACER_PERFETTO},
                                            {"command", QS_TRACER_COMMAND},
                                            {NULL, 0}};

static const struct qs_key trace_keys[] = {
    {.name = "tool",
     .type = QS_KEY_ENUM,
     .offset = TRACE(tool),
     .words = tool_words,
     .help = "What records: `perf record`, the kernel's ftrace, perfetto, or a command of your own."},
    {.name = "argv",
     .type = QS_KEY_CUSTOM,
     .offset = TRACE(argv),
     .read = qs_job_read_argv,
     .form = "a list, one word each",
     .help = "Tool `command`: runs until SIGINT, and writes one file, `{output}`; `{pid}` is the process to "
             "look at. "
             "`{p}` stands for parameter p."},
    {.name = "options",
     .type = QS_KEY_STRINGS,
     .offset = TRACE(options),
     .max = WORDS_MAX,
     .help = "Further arguments of `perf record` (default: `-g`) and of perfetto; with ftrace, settings of a "
             "tracefs instance: `current_tracer=function_graph`."},
    {.name = "events",
     .type = QS_KEY_STRINGS,
     .offset = TRACE(events),
     .max = WORDS_MAX,
     .help = "Tools `perf` and `ftrace`: what is recorded, such as `cycles:u` or `sched:sched_switch`."},
    {.name = "config",
     .type = QS_KEY_TEXT,
     .offset = TRACE(config),
     .min = 1,
     .max = CONFIG_MAX_BYTES,
     .help = "Tool `perfetto`: its configuration as text (TraceConfig)."},
    {.name = "buffer",
     .type = QS_KEY_BYTES,
     .offset = TRACE(buffer_bytes),
     .min = 4 * KIB,
     .max = QS_TRACE_MAX_BYTES,
     .fallback = "4MiB",
     .help = "Tool `ftrace`: the kernel's buffer for each processor."},
    {.name = "every",
     .type = QS_KEY_U32,
     .offset = TRACE(every),
     .min = 0,
     .max = 10000,
     .fallback = "1",
     .help = "Trace in every Nth block, from the first on; 0 = only in the first."},
    {.name = "windows",
     .type = QS_KEY_U32,
     .offset = TRACE(windows),
     .min = 1,
     .max = 16,
     .fallback = "1",
     .help = "Traced windows of such a run, each with a trace of its own."},
    {.name = "max",
     .type = QS_KEY_BYTES,
     .offset = TRACE(max_bytes),
     .min = KIB,
     .max = QS_TRACE_MAX_BYTES,
     .fallback = "16MiB",
     .help = "The tracer's file does not grow beyond this; what was written by then is kept."},
    {.name = "settle",
     .type = QS_KEY_DURATION,
     .offset = TRACE(settle_ns),
     .min = MS,
     .max = 60 * S,
     .fallback = "500ms",
     .help = "A tracer that is still running this long after its start is ready, and the window may open."},
    {.name = "stop",
     .type = QS_KEY_DURATION,
     .offset = TRACE(stop_ns),
     .min = MS,
     .max = 600 * S,
     .fallback = "10s",
     .help = "How long it may take to end after SIGINT before it is killed."},
    {.name = "required",
     .type = QS_KEY_BOOL,
     .offset = TRACE(required),
     .fallback = "false",
     .help = "Whether the job fails if there is no trace; otherwise the run says why there is none."},
    {0}};
const struct qs_table qs_job_trace_table = {.keys = trace_keys, .check = qs_job_check_trace};

/* A key that the tool has no use for. */
static void check_stray(struct qs_schema_reader *r, const struct qs_node *map, const char *name, bool used,
                        const char *tools)
{
    const struct qs_node *key = NULL;
    if (used || qs_node_get(map, name, &key) == NULL)
        return;
    size_t mark = qs_schema_enter(r, name);
    qs_schema_problem(r, key, NULL, "`%s` goes with %s", name, tools);
    qs_schema_leave(r, mark);
}

static bool has_place(const struct qs_strings *words, const char *place)
{
    for (size_t i = 0; i < words->count; i++)
        if (strstr(words->at[i], place) != NULL)
            return true;
    return false;
}

static void check_command(struct qs_schema_reader *r, const struct qs_node *map, const struct qs_job_trace *t)
{
    const struct qs_node *argv = qs_node_get(map, "argv", NULL);
    if (argv == NULL)
        qs_schema_problem(r, map, "add argv: [tracer, -o, \"{output}\"]",
                          "the tool `command` has no command");
    else if (t->argv.count > 0 && !has_place(&t->argv, "{output}"))
        qs_schema_problem(r, argv, "give it the word \"{output}\" where it wants the name of its file",
                          "the tracer does not know where to write");
}

void qs_job_check_trace(struct qs_schema_reader *r, const struct qs_node *node, void *target)
{
    const struct qs_job_trace *t = target;
    unsigned tool = t->tool;
    if (node == NULL)
        return;
    if (qs_node_get(node, "tool", NULL) == NULL)
        qs_schema_problem(r, node, "write tool: perf, ftrace, perfetto or command", "`tool` is missing");
    if (tool == QS_TRACER_NONE)
        return;
    check_stray(r, node, "argv", tool == QS_TRACER_COMMAND, "`tool: command`");
    check_stray(r, node, "options", tool != QS_TRACER_COMMAND,
                "the other tools: a command has them in its `argv`");
    check_stray(r, node, "events", tool == QS_TRACER_PERF || tool == QS_TRACER_FTRACE,
                "`tool: perf` and `tool: ftrace`");
    check_stray(r, node, "config", tool == QS_TRACER_PERFETTO, "`tool: perfetto`");
    check_stray(r, node, "buffer", tool == QS_TRACER_FTRACE, "`tool: ftrace`");
    if (tool == QS_TRACER_COMMAND)
        check_command(r, node, t);
    if (tool == QS_TRACER_PERFETTO && qs_node_get(node, "config", NULL) == NULL)
        qs_schema_problem(r, node, "add config: text, as `perfetto --txt` reads it",
                          "perfetto does not know what to record");
    if (tool == QS_TRACER_FTRACE && t->events.count == 0 && t->options.count == 0)
        qs_schema_problem(r, node, "add events: [sched:sched_switch]", "ftrace does not know what to record");
}
