/* Every limit of a job and a farm: what just fits is read, and one more is refused where it stands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/farm/farm.h"
#include "golden.h"
#include "proto/limits.h"

#define COMMAND "quiesce: 1\nbenchmarks: [{name: x, argv: [x]"

/* Is `text` read as a job (a farm where it begins with devices)? Its problems go to err. */
static bool is_read(const char *text, struct qs_buf *err)
{
    qs_buf_clear(err);
    if (strncmp(text, "devices", 7) != 0) {
        struct qs_job_spec *spec = golden_job("f", text, strlen(text), err);
        bool read = spec != NULL;
        qs_job_free(spec);
        return read;
    }
    struct qs_problems problems;
    qs_problems_init(&problems);
    struct qs_doc *doc = NULL;
    struct qs_farm_config *farm = NULL;
    bool read = qs_doc_read("f", text, strlen(text), false, &doc, &problems) &&
                qs_farm_from_doc(doc, NULL, &farm, &problems);
    qs_problems_text(&problems, "f", err);
    qs_problems_done(&problems);
    qs_farm_config_free(farm);
    qs_doc_free(doc);
    return read;
}

static void fits(const char *text)
{
    struct qs_buf err;
    qs_buf_init(&err);
    if (!is_read(text, &err))
        fail_msg("%.300s", err.data);
    assert_string_equal(err.data, "");
    qs_buf_done(&err);
}

/* Refused for this reason, and for nothing else. */
static void is_refused(const char *text, const char *problem)
{
    struct qs_buf err;
    qs_buf_init(&err);
    assert_false(is_read(text, &err));
    const char *told = strchr(err.data, ' ');
    if (!told || strncmp(told + 1, problem, strlen(problem)) != 0 || strstr(told, "\nf:"))
        fail_msg("%.600s\nin place of %s", err.data, problem);
    qs_buf_done(&err);
}

/* n items, each with its number where it has a place for it. */
static char *of_items(const char *head, const char *item, const char *tail, size_t n)
{
    struct qs_buf out;
    qs_buf_init(&out);
    qs_buf_str(&out, head);
    for (size_t i = 0; i < n; i++) {
        const char *at = strchr(item, '#');
        qs_buf_str(&out, i > 0 ? ",\n " : "");
        if (at)
            qs_buf_fmt(&out, "%.*s%zu%s", (int)(at - item), item, i + 1, at + 1);
        else
            qs_buf_str(&out, item);
    }
    qs_buf_str(&out, tail);
    return qs_buf_take(&out);
}

static void lists_have_a_most(void **state)
{
    static const struct {
        const char *head, *item, *tail;
        size_t most;
        const char *problem;
    } rows[] = {
        {"quiesce: 1\nbenchmarks: [{name: x, argv: [", "x", "]}]\n", QS_ARGV_MAX,
         "benchmarks[0].argv: 1025 words are too many (at most 1024)"},
        {COMMAND ", artifacts: [", "a#", "]}]\n", QS_JOB_ARTIFACTS_MAX,
         "benchmarks[0].artifacts: 17 artifacts are too many (at most 16)"},
        {COMMAND ", env: {", "A#: x", "}}]\n", QS_ENV_MAX / 2,
         "benchmarks[0].env: 1025 variables are too many (at most 1024)"},
        {COMMAND ", exit: [", "0", "]}]\n", QS_EXIT_CODES_MAX,
         "benchmarks[0].exit: a list of 1 to 256 exit codes"},
        {COMMAND ", inputs: [", "f#", "]}]\n", 256,
         "benchmarks[0].inputs: 257 files are too many (at most 256)"},
        {COMMAND "}]\narms: {a: {build: {label: l, files: {", "f#: b", "}}}}\n", 256,
         "arms.a.build.files: 257 files are too many (at most 256)"},
        {COMMAND ", params: {", "p#: 1", "}}]\n", 16,
         "benchmarks[0].params: 17 parameters are too many (at most 16)"},
        {COMMAND ", params: {p: [", "#", "]}}]\n", 1000, "benchmarks[0].params.p: more than 1000 values"},
        {COMMAND ", params: {p: [1, 2]}, exclude: [", "{p: 1}", "]}]\n", 1000,
         "benchmarks[0].exclude: more than 1000 excludes"},
        {COMMAND "}]\nconditions: {bounds: {", "agent.b#: 1", "}}\n", QS_BOUNDS_MAX,
         "conditions.bounds: 1 to 64 bounds"},
        {COMMAND "}]\nconditions: {gate: [", "{sensor: cpu.busy_ratio_ppm, below: 10%}", "]}\n",
         QS_GATE_OLD_MAX, "conditions.gate: 17 are too many (at most 16)"},
        {COMMAND "}]\nplan: {blocks: 10000, looks: [", "#", "]}\n", 10000,
         "plan.looks: a list of 1 to 10000 block counts"},
        {COMMAND "}]\nplan: {stop: {any: [", "{fixed: #}", "]}}\n", 30, "plan.stop: more than 31 rules"},
        {COMMAND "}]\ntrace: {tool: perf, options: [", "a#", "]}\n", 64,
         "trace.options: 65 items are too many (at most 64)"},
        {COMMAND "}]\nplan: {metrics: [", "m#", "]}\n", 8, "plan.metrics: 9 items are too many (at most 8)"},
        {COMMAND "}]\narms: {a: {params: {", "p#: 1", "}}}\n", 16,
         "arms.a.params: 17 parameters are too many (at most 16)"},
        {"devices: {x: {link: sim}}\nvariables: {note: [", "V#", "]}\n", 1000,
         "variables.note: 1001 items are too many (at most 1000)"},
        {"devices: {x: {link: sim, labels: {", "a#: x", "}}}\n", 64, "devices.x.labels: more than 64 labels"},
        {"devices: {", "x#: {link: sim}", "}\n", 1000, "devices: 1001 are too many (at most 1000)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *most = of_items(rows[i].head, rows[i].item, rows[i].tail, rows[i].most);
        char *more = of_items(rows[i].head, rows[i].item, rows[i].tail, rows[i].most + 1);
        fits(most);
        is_refused(more, rows[i].problem);
        free(most);
        free(more);
    }
}

static char *of_bytes(const char *head, const char *tail, size_t n)
{
    char *filling = qs_calloc(n + 1, 1);
    memset(filling, 'a', n);
    char *text = qs_asprintf("%s%s%s", head, filling, tail);
    free(filling);
    return text;
}

static void texts_have_a_most(void **state)
{
    static const struct {
        const char *head, *tail;
        size_t most;
        const char *problem;
    } rows[] = {
        {"quiesce: 1\nbenchmarks: [{name: x, argv: [x, ", "]}]\n", QS_ARGV_MAX_BYTES - 5,
         "benchmarks[0].argv: 131073 bytes are too long for a command (at most 131072)"},
        {"quiesce: 1\nbenchmarks: [{name: x, shell: ", "}]\n", QS_ARGV_MAX_BYTES / 2,
         "benchmarks[0].shell: too long for a command line"},
        {COMMAND ", artifacts: [", "]}]\n", QS_PATH_MAX_BYTES,
         "benchmarks[0].artifacts[0]: a path has 1 to 4095 bytes"},
        {COMMAND ", env: {A: ", "}}]\n", QS_ENV_MAX_BYTES / 2 - 1,
         "benchmarks[0].env.A: too long for a variable"},
        {COMMAND ", inputs: {f: ", "}}]\n", QS_PATH_MAX_BYTES,
         "benchmarks[0].inputs.f: a path has 1 to 4095 bytes"},
        {COMMAND ", params: {p: ", "}}]\n", 1000,
         "benchmarks[0].params.p: a parameter's value has at most 1000 bytes"},
        {COMMAND ", mode: stream, format: google-benchmark, output: {file: ", "}}]\n", QS_PATH_MAX_BYTES,
         "benchmarks[0].output: a path has 1 to 4095 bytes"},
        {COMMAND "}]\nconditions: {bounds: {agent.", ": 1}}\n", QS_NAME_MAX_BYTES - 6,
         "conditions.bounds.agent."},
        {"quiesce: 1\nbenchmarks: [{argv: [x], name: ", "}]\n", 100,
         "benchmarks[0].name: a name has 1 to 100 bytes"},
        {"devices: {x: {link: sim}}\ndb: /", "\n", 4094, "db: 4096 bytes are too long (at most 4095)"},
        {"devices: {x: {link: sim}}\nsocket: /", "\n", 106, "socket: 108 bytes are too long (at most 107)"},
        {"devices: {x: {link: sim, hub: ", "}}\n", 64, "devices.x.hub: 65 bytes are too long (at most 64)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *most = of_bytes(rows[i].head, rows[i].tail, rows[i].most);
        char *more = of_bytes(rows[i].head, rows[i].tail, rows[i].most + 1);
        fits(most);
        is_refused(more, rows[i].problem);
        free(most);
        free(more);
    }
}

/* 4,096 points whose labels have 1,024 bytes each: "x a=10 b=10 c=1234567 p=...". */
static void labels_have_a_most_together(void **state)
{
    QS_BUF(list);
    (void)state;
    for (int i = 10; i < 74; i++)
        qs_buf_fmt(&list, "%s%d", i > 10 ? "," : "", i);
    for (int more = 0; more < 2; more++) {
        char *head = qs_asprintf(COMMAND ", params: {a: [%s], b: [%s], c: c123456%s, p: ", list.data,
                                 list.data, more ? "7" : "");
        char *text = of_bytes(head, "}}]\n", 1000);
        if (more)
            is_refused(text, "benchmarks[0].params: with these the names and values of all points have more "
                             "than 4 MiB");
        else
            fits(text);
        free(text);
        free(head);
    }
}

static void processors_are_a_rising_list(void **state)
{
    static const char *const read[] = {"any", "little", "one-big", "0", "4095", "0-4095", "0,1", "0-3,5,7-9"};
    static const char *const not_read[] = {"4096", "0-4096", "1,1", "1-3,3", "3-2", "-1",   "1-",
                                           "1,",   ",1",     "a",   "1;2",   "1 ",  "1-2-3"};
    (void)state;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        char *text = qs_asprintf(COMMAND "}]\nconditions: {affinity: '%s'}\n", read[i]);
        fits(text);
        free(text);
    }
    for (size_t i = 0; i < sizeof not_read / sizeof *not_read; i++) {
        const char *one = not_read[i];
        char *text = qs_asprintf(COMMAND "}]\nconditions: {affinity: \"%s\"}\n", one);
        char *problem = qs_asprintf("conditions.affinity: `%s` is not a rising list of CPUs", one);
        is_refused(text, problem);
        free(problem);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_a_most),
        cmocka_unit_test(texts_have_a_most),
        cmocka_unit_test(labels_have_a_most_together),
        cmocka_unit_test(processors_are_a_rising_list),
    };
    return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
