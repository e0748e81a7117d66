/* What a harness program is told beside its arguments: parameters by name, and how its initial state is
 * moved. */
#include "config/job/harness.h"

#include <string.h>

#include "base/mem.h"
#include "base/prng.h"
#include "config/job/read.h"

enum { ENVIRONMENT_MOST = 4096, STACK_STEPS = 256, HEAP_STEPS = 4096, STEP_BYTES = 16 };

static bool uses(const struct qs_strings *tmpl, const char *wanted)
{
    const char *name = NULL;
    size_t n = 0;
    for (size_t i = 0; i < tmpl->count; i++)
        for (const char *p = qs_template_next(tmpl->at[i], &name, &n); p != NULL;
             p = qs_template_next(name + n, &name, &n))
            if (strlen(wanted) == n && memcmp(wanted, name, n) == 0)
                return true;
    return false;
}

static void add(struct qs_strings *out, const struct qs_params *params, const struct qs_strings *tmpl)
{
    out->at = qs_realloc(out->at, (out->count + params->count + 1) * sizeof(*out->at));
    for (size_t i = 0; i < params->count; i++)
        if (!uses(tmpl, params->at[i].name))
            out->at[out->count++] = qs_asprintf("%s=%s", params->at[i].name, params->at[i].value);
}

void qs_job_program_params(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_strings *ret)
{
    const struct qs_strings *own = &spec->arms[arm].argv;
    const struct qs_strings *tmpl =
        own->count > 0 ? own : &spec->benchmarks[spec->points[point].benchmark].argv;
    *ret = (struct qs_strings){0};
    add(ret, &spec->points[point].params, tmpl);
    add(ret, &spec->arms[arm].params, tmpl);
}

/* The places that Mytkowicz et al. (ASPLOS 2009) found to bias results: the environment's size moves the
 * stack, and code and data meet in other sets of the caches. A page of environment, 4 KiB of stack and 64 KiB
 * of heap in steps that keep the alignment a compiler relies on. */
void qs_job_draw_layout(const struct qs_job_spec *spec, uint64_t seed, uint64_t device,
                        const struct qs_job_turn *turn, struct qs_job_layout *ret)
{
    const struct qs_job_benchmark *b = &spec->benchmarks[spec->points[turn->point].benchmark];
    struct qs_prng prng;
    uint64_t stream = qs_job_mix(qs_job_mix(qs_job_mix(0, seed), device), turn->point);
    stream = qs_job_mix(qs_job_mix(qs_job_mix(stream, turn->block), turn->attempt), turn->pos);
    qs_prng_seed(&prng, qs_job_mix(stream, spec->arm_count));
    ret->seed = qs_prng_next(&prng);
    uint64_t environment = qs_prng_next(&prng), stack = qs_prng_next(&prng), heap = qs_prng_next(&prng);
    bool random = b->layout == QS_JOB_LAYOUT_RANDOM;
    ret->environment_bytes = random ? 1 + (uint32_t)(environment % ENVIRONMENT_MOST) : 0;
    ret->stack_bytes = random ? STEP_BYTES * (uint32_t)(stack % STACK_STEPS) : 0;
    ret->heap_bytes = random ? STEP_BYTES * (uint32_t)(heap % HEAP_STEPS) : 0;
}

void qs_job_check_harness(struct qs_schema_reader *r, const struct qs_node *map)
{
    static const struct {
        const char *key, *instead;
    } keys[] = {{"prepare", "the program prepares its iterations itself, in its own step"},
                {"conclude", "the program concludes its iterations itself, in its own step"},
                {"shell", "write argv: the agent starts the program itself, with nothing in between"},
                {"exit", "a harness program ends with 0 when it is told to"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct qs_node *node = qs_node_get(map, keys[i].key, NULL);
        size_t mark = qs_schema_enter(r, keys[i].key);
        if (node != NULL)
            qs_schema_problem(r, node, keys[i].instead, "mode `harness` has no `%s`", keys[i].key);
        qs_schema_leave(r, mark);
    }
}

void qs_job_check_no_harness(struct qs_schema_reader *r, const struct qs_node *benchmark,
                             enum qs_job_mode mode)
{
    const struct qs_node *node = qs_node_get(benchmark, "evals", NULL);
    size_t mark = qs_schema_enter(r, "evals");
    if (node != NULL)
        qs_schema_problem(
            r, node, "write `mode: harness` where the program includes quiesce/bench.h",
            mode == QS_MODE_APP ? "mode `app` has no `evals`: each start is one evaluation"
            : mode == QS_MODE_STREAM
                ? "mode `stream` has no `evals`: the program says how many it made, or makes one"
                : "mode `command` has no `evals`: each process is one evaluation");
    qs_schema_leave(r, mark);
}
