/* `quiesce run --stream`: the values are those that the commands write. */
#include <stdlib.h>
#include <string.h>

#include "ctl/run/run.h"

/* Of the options that say how values are read, each with its key of a job. */
static const struct {
    const char *option, *key;
} details[] = {{"stream-unit", "unit"},
               {"stream-better", "better"},
               {"stream-pattern", "pattern"},
               {"stream-benchmark", "benchmark"},
               {"stream-file", "output"}};
enum { DETAILS = sizeof details / sizeof *details };

static bool check_others(const struct qs_args *args, struct qs_buf *problem)
{
    static const char *const others[] = {"harness", "evals", "iterations", "output", "show-output"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct qs_opt_use *use = qs_args_last(args, others[i]);
        if (use != NULL)
            return qs_args_fail(
                args, problem, use->arg, 0, "leave out this option or --stream",
                "--%s cannot be used with --stream: a run is one process, whose values are read", others[i]);
    }
    return true;
}

/* What only the job's reader knows is left to it; what is missing is said in words of this command line. */
static bool check_details(const struct qs_args *args, const struct qs_opt_use *stream, struct qs_buf *problem)
{
    bool gbench = strcmp(stream->value[0], "google-benchmark") == 0;
    bool pattern = strcmp(stream->value[0], "pattern") == 0;
    if (!gbench && !qs_args_has(args, "stream-unit"))
        return qs_args_fail(
            args, problem, stream->at[0], stream->skip,
            "add --stream-unit ms; a unit that is not a time, such as MB/s, needs --stream-better too",
            "the unit of the values is missing");
    if (pattern && !qs_args_has(args, "stream-pattern"))
        return qs_args_fail(args, problem, stream->at[0], stream->skip,
                            "add --stream-pattern 'time=([0-9.]+) ms'", "the pattern is missing");
    return true;
}

static json_t *value_of(const struct qs_run_line *line, const char *key, const char *text)
{
    if (strcmp(key, "output") == 0)
        return json_pack("{s:s}", "file", text);
    if (strcmp(key, "benchmark") != 0)
        return json_string(text);
    QS_BUF(out);
    qs_run_template(line, text, &out);
    return json_string(out.data);
}

bool qs_run_add_stream(const struct qs_args *args, const struct qs_run_line *line, json_t *b,
                       struct qs_buf *problem)
{
    const struct qs_opt_use *stream = qs_args_last(args, "stream");
    for (size_t i = 0; i < DETAILS && stream == NULL; i++) {
        const struct qs_opt_use *use = qs_args_last(args, details[i].option);
        if (use != NULL)
            return qs_args_fail(args, problem, use->arg, 0,
                                "add --stream numbers, pattern or google-benchmark",
                                "--%s says how values are read", details[i].option);
    }
    if (stream == NULL)
        return true;
    if (!check_others(args, problem) || !check_details(args, stream, problem))
        return false;
    json_object_set_new(b, "mode", json_string("stream"));
    json_object_set_new(b, "format", json_string(stream->value[0]));
    json_object_set_new(b, "output", json_string("stdout"));
    for (size_t i = 0; i < DETAILS; i++) {
        const char *text = qs_args_text(args, details[i].option, NULL);
        if (text != NULL)
            json_object_set_new(b, details[i].key, value_of(line, details[i].key, text));
    }
    return true;
}
