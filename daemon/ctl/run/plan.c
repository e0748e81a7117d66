/* How much is measured. The defaults: two uncounted processes per arm, the second of which sizes the windows;
 * windows of 10 ms; blocks in random order; a look at 10, 15, 20, 25, 30, 40, 50, 65, 80, 100, 125, 150 and
 * 200 blocks; enough when the interval is within 1 %, at 200 blocks or after 20 s, never before 6 blocks.
 * Many short blocks are worth more than few long ones: what moves a machine's speed lasts longer than a
 * window, so that more processes in one repeat each other (tests/studies/README.md). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/run/run.h"

enum {
    BLOCKS_MIN = 6,
    BLOCKS_MAX = 200,
    WARMUP = 2,
    WINDOW_AUTO_MAX = 50,
    GOAL_PPM = 10000,
    MARGIN_PPM = 20000
};
#define TIME_NS    INT64_C(20000000000)
#define TIMEOUT_NS INT64_C(600000000000)

struct blocks {
    int64_t min, max;
};

static bool read_blocks(const struct qs_args *args, struct blocks *b, struct qs_buf *problem)
{
    const struct qs_opt_use *runs = qs_args_last(args, "runs");
    const struct qs_opt_use *min = qs_args_last(args, "min-runs");
    const struct qs_opt_use *max = qs_args_last(args, "max-runs");
    if (runs != NULL && (min != NULL || max != NULL))
        return qs_args_fail(args, problem, min != NULL ? min->arg : max->arg, 0,
                            "keep --runs, or give --min-runs and --max-runs instead",
                            "--runs already fixes the number");
    b->min = min != NULL ? min->number : BLOCKS_MIN;
    b->max = max != NULL ? max->number : BLOCKS_MAX;
    if (runs != NULL)
        b->min = b->max = runs->number;
    else if (min != NULL && max == NULL && b->min > b->max)
        b->max = b->min;
    else if (max != NULL && min == NULL && b->max < b->min)
        b->min = b->max;
    if (b->min > b->max)
        return qs_args_fail(args, problem, min->arg, 0, NULL, "--min-runs %s is above --max-runs %s",
                            min->value[0], max->value[0]);
    return true;
}

static json_t *make_looks(const struct blocks *b)
{
    static const int64_t at[] = {10, 15, 20, 25, 30, 40, 50, 65, 80, 100, 125, 150};
    json_t *looks = json_array();
    for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
        if (at[i] >= b->min && at[i] < b->max)
            json_array_append_new(looks, json_integer(at[i]));
    json_array_append_new(looks, json_integer(b->max));
    return looks;
}

static json_t *time_json(int64_t ns)
{
    char text[40];
    if (ns % 1000000 == 0)
        snprintf(text, sizeof(text), "%" PRId64 "ms", ns / 1000000);
    else
        snprintf(text, sizeof(text), "%" PRId64 "ns", ns);
    return json_string(text);
}

static json_t *share_json(int64_t ppm)
{
    char text[40];
    snprintf(text, sizeof(text), "%g%%", (double)ppm / 1e4);
    return json_string(text);
}

/* --runs fixes how much is measured: precision and time end it only where they are asked for. */
static json_t *make_until(const struct qs_args *args)
{
    bool fixed = qs_args_has(args, "runs");
    return json_pack("{s:o, s:o}", "interval", share_json(qs_args_number(args, "goal", fixed ? 0 : GOAL_PPM)),
                     "time", time_json(qs_args_number(args, "max-time", fixed ? 0 : TIME_NS)));
}

static bool add_window(const struct qs_args *args, json_t *plan, struct qs_buf *problem)
{
    const struct qs_opt_use *n = qs_args_last(args, "iterations");
    const struct qs_opt_use *warmup = qs_args_last(args, "warmup");
    int64_t warmups = warmup != NULL ? warmup->number : WARMUP;
    int64_t limit_ns = qs_args_number(args, "timeout", TIMEOUT_NS);
    if (warmups == 0 && n == NULL)
        return qs_args_fail(args, problem, warmup->at[0], warmup->skip, "add --iterations N, or warm up once",
                            "without a warm-up the number of iterations that fill a run is not known");
    json_t *window = json_pack("{s:s, s:s}", "target", "10ms", "max", "1h");
    if (!qs_args_has(args, "harness"))
        json_object_set_new(window, "auto_max", json_integer(WINDOW_AUTO_MAX));
    json_object_set_new(window, "iterations", n != NULL ? json_integer(n->number) : json_string("auto"));
    json_object_set_new(plan, "window", window);
    json_object_set_new(plan, "warmup",
                        json_pack("{s:I, s:o}", "iterations", (json_int_t)warmups, "max",
                                  time_json(limit_ns > TIMEOUT_NS ? limit_ns : TIMEOUT_NS)));
    return true;
}

json_t *qs_run_gate_line(const char *sensor, const char *below, const char *patience)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:b}", "sensor", sensor, "below", below, "timeout", patience,
                     "on_timeout", "taint", "backoff", 1);
}

/* A moment's noise is waited out. A neighbour that stays costs 0.6 s in all: the time buys more blocks then,
 * and it is blocks and their order that protect the comparison. The window is marked and not repeated; whole
 * blocks are left out instead. */
static json_t *make_conditions(const struct qs_args *args)
{
    json_t *conditions = json_object();
    const char *cpus = qs_args_text(args, "affinity", NULL);
    if (cpus != NULL)
        json_object_set_new(conditions, "affinity", json_string(cpus));
    json_object_set_new(conditions, "gate",
                        json_pack("[o]", qs_run_gate_line("cpu.busy_ratio_ppm", "10%", "300ms")));
    json_object_set_new(conditions, "repeat_tainted", json_integer(0));
    return conditions;
}

static json_t *make_compare(const struct qs_args *args)
{
    json_t *compare = json_object();
    const char *baseline = qs_args_text(args, "baseline", NULL);
    json_object_set_new(compare, "margin", share_json(qs_args_number(args, "margin", MARGIN_PPM)));
    if (baseline != NULL)
        json_object_set_new(compare, "baseline", json_string(baseline));
    if (strcmp(qs_args_text(args, "fail-on", "never"), "regression") == 0)
        json_object_set_new(compare, "fail_on", json_string("regression"));
    return compare;
}

bool qs_run_add_plan(const struct qs_args *args, json_t *job, struct qs_buf *problem)
{
    struct blocks b = {0};
    if (!read_blocks(args, &b, problem))
        return false;
    json_t *plan = json_pack("{s:s, s:{s:I, s:I}}", "order", "random", "blocks", "min", (json_int_t)b.min,
                             "max", (json_int_t)b.max);
    const struct qs_opt_use *seed = qs_args_last(args, "seed");
    if (seed != NULL)
        json_object_set_new(plan, "seed", json_integer(seed->number));
    json_object_set_new(plan, "looks", make_looks(&b));
    json_object_set_new(plan, "until", make_until(args));
    json_object_set_new(job, "compare", make_compare(args));
    json_object_set_new(job, "devices",
                        qs_args_has(args, "on") ? json_pack("{s:s}", "take", "any")
                                                : json_pack("{s:s, s:s}", "where", "local", "take", "any"));
    json_object_set_new(job, "plan", plan);
    json_object_set_new(job, "conditions", make_conditions(args));
    return add_window(args, plan, problem);
}
