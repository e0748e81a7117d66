/* What mode stream has of its own: the keys that say how a document is read, and what does not go with it. */
#include "config/job/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/pattern.h"
#include "base/text.h"
#include "config/job/read.h"
#include "config/document/scalar.h"
#include "proto/limits.h"

#define SUITE_LIMIT_NS INT64_C(600000000000)

static char *copy(const char *text)
{
    return text ? qs_strdup(text) : NULL;
}

bool qs_job_is_streamed(const struct qs_job_benchmark *b)
{
    return b->mode == QS_MODE_STREAM || b->mode == QS_MODE_APP;
}

void qs_job_form(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_form *ret)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[point].benchmark];
    *ret = (struct qs_form){.kind = (enum qs_form_kind)b->stream.format,
                            .unit = b->stream.unit ? qs_form_unit_of(b->stream.unit) : QS_FORM_NS,
                            .pattern = copy(b->stream.pattern),
                            .file = copy(b->output_file)};
    if (b->mode == QS_MODE_APP) {
        ret->launch = b->android.activity ? qs_strdup(qs_launch_words[b->android.launch].word) : NULL;
        ret->metric = copy(b->stream.metric);
    }
    if (ret->unit == QS_FORM_OTHER) {
        ret->other = qs_strdup(b->stream.unit);
        ret->metric = qs_strdup(b->stream.metric ? b->stream.metric : "value");
        ret->higher_is_better = b->stream.better == QS_JOB_BETTER_HIGHER;
    }
    if (b->program_benchmark) {
        const struct qs_strings one = {.at = (char **)&b->program_benchmark, .count = 1};
        struct qs_strings filled;
        qs_job_fill(spec, arm, point, &one, &filled);
        ret->benchmark = qs_strdup(filled.at[0]);
        qs_strings_done(&filled);
    }
}

static bool read_file(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_benchmark *b)
{
    const struct qs_node *file = qs_node_get(node, "file", NULL);
    const char *text = file ? qs_schema_text(r, file, "a path") : NULL;
    if (!file || node->count != 1) {
        qs_schema_problem(r, node, "write {file: PATH}", "expected a map with the single key `file`");
    } else if (text && (text[0] == '\0' || strlen(text) > QS_PATH_MAX_BYTES)) {
        qs_schema_problem(r, file, NULL, "a path has 1 to %d bytes", QS_PATH_MAX_BYTES);
    } else if (text) {
        b->output_file = qs_strdup(text);
        b->output = QS_OUTPUT_FILE;
        return true;
    }
    return false;
}

void qs_job_read_output(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at)
{
    static const char *const words[] = {"discard", "capture", "stdout"}; /* enum qs_job_output */
    struct qs_job_benchmark *b = at;
    (void)key;
    if (node->kind == QS_NODE_MAP) {
        (void)read_file(r, node, b);
        return;
    }
    const char *text = qs_schema_text(r, node, "discard, capture, stdout or {file: PATH}");
    if (!text)
        return;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0) {
            b->output = (enum qs_job_output)i;
            return;
        }
    QS_BUF(out);
    qs_schema_suggest(&out, text, "the values are", words, sizeof(words) / sizeof(words[0]));
    qs_schema_problem(r, node, out.data, "`%s` is not a value of `output`", qs_show(text).text);
}

void qs_job_output_json(struct qs_json *j)
{
    qs_json_kraw(j, "anyOf",
                 "[{\"enum\":[\"discard\",\"capture\",\"stdout\"]},{\"type\":\"object\",\"properties\":{"
                 "\"file\":{\"type\":\"string\"}},\"required\":[\"file\"],\"additionalProperties\":false}]");
}

static void check_output(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_benchmark *b)
{
    bool stream = b->mode == QS_MODE_STREAM;
    const struct qs_node *output = qs_node_get(node, "output", NULL);
    bool wrong = output != NULL && output->kind == QS_NODE_MAP && b->output != QS_OUTPUT_FILE; /* said */
    bool goes = stream ? b->output >= QS_OUTPUT_STDOUT : b->output != QS_OUTPUT_STDOUT;
    if (output != NULL && !goes && !wrong) {
        size_t mark = qs_schema_enter(r, "output");
        if (stream)
            qs_schema_problem(r, output, "write stdout, or {file: PATH} where the program writes a file",
                              "mode `stream` reads the output");
        else
            qs_schema_problem(r, output, "add `mode: stream` where its values are read; else write capture",
                              "only mode `stream` reads values from the output");
        qs_schema_leave(r, mark);
    }
    if (stream && !goes)
        b->output = QS_OUTPUT_STDOUT;
}

static void check_word(struct qs_schema_reader *r, const struct qs_node *node, const char *key,
                       const char *signs, const char *what)
{
    const struct qs_node *at = qs_node_get(node, key, NULL);
    if (at == NULL || at->kind != QS_NODE_TEXT || qs_text_is_word(at->text, signs))
        return;
    size_t mark = qs_schema_enter(r, key);
    qs_schema_problem(r, at, what, "`%s` has a character that is not allowed in a %s", qs_show(at->text).text,
                      key);
    qs_schema_leave(r, mark);
}

/* A unit that is no time is a metric's: a slip such as `msec` is found by the direction that it lacks. */
static void check_unit(struct qs_schema_reader *r, const struct qs_node *node,
                       const struct qs_job_benchmark *b)
{
    const struct qs_node *unit = qs_node_get(node, "unit", NULL);
    if (unit == NULL) {
        qs_schema_problem(r, node, "add unit: ns, us, ms or s; or a unit that is not a time, with `better`",
                          "the unit of the values is missing");
        return;
    }
    if (b->stream.unit == NULL) /* said */
        return;
    check_word(r, node, "unit", "%/-", "letters, digits, %, / and -, such as MB/s");
    check_word(r, node, "metric", "-_.", "letters, digits, -, _ and .");
    if (qs_form_unit_of(b->stream.unit) != QS_FORM_OTHER) {
        qs_schema_refuse(r, node, "better", "less time is better", "values that are times have no");
        qs_schema_refuse(r, node, "metric", "they are the durations of the iterations",
                         "values that are times have no");
    } else if (qs_node_get(node, "better", NULL) == NULL) {
        size_t mark = qs_schema_enter(r, "unit");
        qs_schema_problem(r, unit, "add better: higher, or better: lower; units of time are ns, us, ms and s",
                          "`%s` is not a time: the better direction is missing",
                          qs_show(b->stream.unit).text);
        qs_schema_leave(r, mark);
    }
}

static void check_form(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_benchmark *b)
{
    static const char *const units[] = {"unit", "better", "metric"};
    bool gbench = b->stream.format == QS_FORM_GBENCH;
    if (qs_node_get(node, "format", NULL) == NULL) {
        qs_schema_problem(r, node, "add format: google-benchmark, numbers or pattern",
                          "mode `stream` needs the format");
        return;
    }
    for (size_t i = 0; gbench && i < sizeof(units) / sizeof(units[0]); i++)
        qs_schema_refuse(r, node, units[i], NULL,
                         "a document of Google Benchmark names its units itself, there is no");
    if (!gbench) {
        qs_schema_refuse(r, node, "benchmark", NULL, "only documents of Google Benchmark have a");
        check_unit(r, node, b);
    }
    if (b->stream.format != QS_FORM_PATTERN)
        qs_schema_refuse(r, node, "pattern", "write format: pattern", "only format `pattern` has a");
    else if (b->stream.pattern == NULL)
        qs_schema_problem(r, node, "add pattern: 'time=([0-9.]+) ms'", "format `pattern` needs a pattern");
}

static void check_pattern(struct qs_schema_reader *r, const struct qs_node *node,
                          const struct qs_job_benchmark *b)
{
    struct qs_pattern *pattern = NULL;
    struct qs_err err = QS_ERR_INIT;
    if (b->stream.pattern == NULL)
        return;
    size_t mark = qs_schema_enter(r, "pattern");
    if (!qs_pattern_new(b->stream.pattern, &pattern, &err))
        qs_schema_problem(r, qs_node_get(node, "pattern", NULL),
                          "one group in parentheses around the number, such as 'time=([0-9.]+) ms'", "%s",
                          err.text);
    qs_pattern_free(pattern);
    qs_schema_leave(r, mark);
}

void qs_job_check_stream(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_benchmark *b)
{
    static const char *const own[] = {"format", "unit", "better", "metric", "pattern"};
    const struct qs_node *limits = qs_node_get(node, "limits", NULL);
    if (qs_job_is_streamed(b) && qs_node_get(limits, "iteration", NULL) == NULL)
        b->iteration_limit_ns = SUITE_LIMIT_NS;
    if (b->mode == QS_MODE_APP) /* android.c */
        return;
    check_output(r, node, b);
    if (b->mode != QS_MODE_STREAM) {
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            qs_schema_refuse(r, node, own[i], "add `mode: stream`", "only mode `stream` has");
        return;
    }
    qs_schema_refuse(r, node, "layout", NULL, "only mode `harness` has");
    check_form(r, node, b);
    check_pattern(r, node, b);
}

/* Why nothing can ask a run for more values, or for when they began. */
struct whys {
    const char *values, *one, *trace;
};
static const struct whys of_stream = {
    "a run of mode `stream` has the values that its program writes: no",
    "a run of mode `stream` is one process: no",
    "mode `stream` does not store when its values began, so they cannot be found in a trace: no"};
static const struct whys of_app = {
    "a run of mode `app` has the starts that `app` asks for, or those of its test: no",
    "a run of mode `app` has `app.iterations`, or those of its test: no",
    "mode `app` does not store when its iterations began, so they cannot be found in a trace: no"};

static void check_plan(struct qs_schema_reader *r, const struct qs_node *root, const struct qs_job_spec *spec,
                       const struct whys *why, bool only_streams)
{
    const struct qs_node *plan = qs_node_get(root, "plan", NULL);
    size_t mark = qs_schema_enter(r, "plan");
    qs_schema_refuse(r, plan, "stop", "`plan.blocks` and `plan.until` say when a job has enough",
                     why->values);
    qs_schema_refuse(r, plan, "precision", "`plan.until.interval` ends the job at a precision", why->values);
    if (only_streams && spec->plan.window_iterations > 1) {
        qs_schema_enter(r, "window");
        qs_schema_refuse(r, qs_node_get(plan, "window", NULL), "iterations", NULL, why->one);
    }
    qs_schema_leave(r, mark);
}

static void check_conditions(struct qs_schema_reader *r, const struct qs_node *root, const struct whys *why)
{
    const struct qs_node *sets = qs_node_get(root, "condition_sets", NULL);
    size_t mark = qs_schema_enter(r, "conditions");
    qs_schema_refuse(r, qs_node_get(root, "conditions", NULL), "stop", NULL, why->values);
    qs_schema_leave(r, mark);
    qs_schema_enter(r, "condition_sets");
    for (size_t i = 0; sets != NULL && sets->kind == QS_NODE_MAP && i < sets->count; i++) {
        size_t inner = qs_schema_enter(r, sets->keys[i].text);
        qs_schema_refuse(r, &sets->items[i], "stop", NULL, why->values);
        qs_schema_leave(r, inner);
    }
    qs_schema_leave(r, mark);
}

void qs_job_check_stream_job(struct qs_schema_reader *r, const struct qs_node *root,
                             const struct qs_job_spec *spec)
{
    size_t streams = 0;
    const struct whys *why = &of_app;
    for (size_t i = 0; i < spec->benchmark_count; i++) {
        streams += qs_job_is_streamed(&spec->benchmarks[i]);
        if (spec->benchmarks[i].mode == QS_MODE_STREAM)
            why = &of_stream;
    }
    if (streams == 0)
        return;
    qs_schema_refuse(r, root, "trace", "measure it once more in mode `command` to trace it", why->trace);
    check_plan(r, root, spec, why, streams == spec->benchmark_count);
    check_conditions(r, root, why);
}
