#include "report/reproduce.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/document/doc.h"
#include "report/env_diff.h"
#include "report/median.h"
#include "report/job/metrics.h"
#include "report/work.h"
#include "report/verdict/verdict.h"

enum { REPRODUCTION_VERSION = 1 };

/* The run of the other job that had the same turn, first attempts only; NULL where it has none. */
static const struct qs_run_info *same_turn(const struct qs_run_info *run, const struct qs_runs *other)
{
    for (size_t i = 0; i < other->count; i++) {
        const struct qs_run_info *o = &other->at[i];
        if (o->point == run->point && o->block == run->block && o->pos == run->pos &&
            o->attempt == run->attempt && strcmp(o->device, run->device) == 0)
            return o;
    }
    return NULL;
}

/* What a harness program was moved by, from run.harness; owned by the caller. */
static char *layout_of(const char *harness_json)
{
    static const char *const keys[] = {"layout", "environment_bytes", "stack_bytes", "heap_bytes"};
    QS_SCOPED(qs_problems_done) struct qs_problems problems = {0};
    QS_SCOPED(qs_doc_free_at) struct qs_doc *doc = NULL;
    QS_BUF(out);
    bool ok = qs_doc_read("harness", harness_json, strlen(harness_json), true, &doc, &problems);
    for (size_t i = 0; ok && i < sizeof keys / sizeof *keys; i++) {
        const struct qs_node *node = qs_node_get(&doc->root, keys[i], NULL);
        qs_buf_fmt(&out, "%s;", node && node->text ? node->text : "");
    }
    return qs_buf_take(&out);
}

struct drawn { /* turns that both jobs had, and how many of them are alike */
    size_t turns, same_arm, layouts, same_layout;
};

/* Of both sides: what is looked through for each run. */
static double values_of(const struct qs_reproduce_input *in)
{
    return (double)(in->original.values->count + in->again.values->count);
}

static struct drawn compare_turns(const struct qs_reproduce_input *in, struct qs_work *work)
{
    struct drawn d = {0};
    struct qs_progress piece;
    for (size_t i = 0; i < in->original.runs->count; i++) {
        if (!qs_work_begin(work, "turns", (double)in->again.runs->count, &piece))
            break;
        const struct qs_run_info *run = &in->original.runs->at[i];
        const struct qs_run_info *other = same_turn(run, in->again.runs);
        if (!other)
            continue;
        d.turns++;
        d.same_arm += other->arm == run->arm;
        if (!run->harness_json || !other->harness_json)
            continue;
        char *x = layout_of(run->harness_json), *y = layout_of(other->harness_json);
        d.layouts++;
        d.same_layout += strcmp(x, y) == 0;
        free(x);
        free(y);
    }
    return d;
}

static void put_drawn(struct qs_json *j, const struct qs_reproduce_input *in, struct qs_work *work)
{
    struct drawn d = compare_turns(in, work);
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, in->again.seed);
    qs_json_kstring(j, "seed", seed);
    qs_json_kbool(j, "same_seed", in->original.seed == in->again.seed);
    qs_json_kobject(j, "order");
    qs_json_kint(j, "turns", (int64_t)d.turns);
    qs_json_kint(j, "same", (int64_t)d.same_arm);
    qs_json_object_end(j);
    qs_json_kobject(j, "layouts");
    qs_json_kint(j, "runs", (int64_t)d.layouts);
    qs_json_kint(j, "same", (int64_t)d.same_layout);
    qs_json_object_end(j);
}

/* --- what differs around them --------------------------------------------------------------------------- */

static const struct qs_arm_run *first_on(const struct qs_arm_runs *runs, const char *device)
{
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(runs->at[i].device ? runs->at[i].device : "", device) == 0 && runs->at[i].env_json)
            return &runs->at[i];
    return NULL;
}

/* The executable that an arm ran, NULL where it is not known. */
static const char *executable_of(const struct qs_arm_runs *runs, const char *device, uint32_t arm)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->at[i].arm == arm && runs->at[i].exe_sha256 && runs->at[i].exe_sha256[0] &&
            strcmp(runs->at[i].device ? runs->at[i].device : "", device) == 0)
            return runs->at[i].exe_sha256;
    return NULL;
}

static void add_executables(const struct qs_reproduce_input *in, const char *device, struct qs_env_diff *diff)
{
    const struct qs_arm_runs *x = in->original.values, *y = in->again.values;
    for (uint32_t arm = 0, seen = 1; seen; arm++) {
        seen = 0;
        for (size_t i = 0; i < x->count; i++)
            seen |= x->at[i].arm >= arm;
        const char *before = executable_of(x, device, arm), *after = executable_of(y, device, arm);
        char key[64];
        snprintf(key, sizeof key, "executable.arm%u", arm);
        if (before && after)
            qs_env_diff_add(diff, key, before, after, QS_ENV_MACHINE);
    }
}

/* One device: whatever both sides know of it. */
static bool put_device(struct qs_json *j, const struct qs_reproduce_input *in, const char *device,
                       struct qs_err *err)
{
    const struct qs_arm_run *x = first_on(in->original.values, device),
                            *y = first_on(in->again.values, device);
    struct qs_env_diff diff = {0}, host = {0};
    bool ok = qs_env_diff(x ? x->env_json : NULL, y ? y->env_json : NULL, in->variables, &diff, err) &&
              qs_env_diff(x ? x->host_json : NULL, y ? y->host_json : NULL, NULL, &host, err);
    for (size_t i = 0; ok && i < host.count; i++) {
        char key[160];
        snprintf(key, sizeof key, "boot.%.140s", host.at[i].key);
        if (strncmp(host.at[i].key, "device.", 7) != 0) /* those are in the session's environment */
            qs_env_diff_add(&diff, key, host.at[i].base, host.at[i].cand, host.at[i].class);
    }
    if (ok) {
        add_executables(in, device, &diff);
        qs_json_object(j);
        qs_json_kstring(j, "device", device);
        qs_json_kbool(j, "known", diff.known);
        qs_json_kint(j, "matter", (int64_t)qs_env_diff_matters(&diff));
        struct qs_env_told told = qs_env_diff_told(&diff);
        qs_put_fields(j, qs_env_told_rows, &told);
        qs_fields_free(qs_env_told_rows, &told);
        qs_json_object_end(j);
    }
    qs_env_diff_free(&diff);
    qs_env_diff_free(&host);
    return ok;
}

static bool is_first_of_device(const struct qs_arm_runs *runs, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(runs->at[k].device ? runs->at[k].device : "",
                   runs->at[i].device ? runs->at[i].device : "") == 0)
            return false;
    return true;
}

static bool put_environments(struct qs_json *j, const struct qs_reproduce_input *in, struct qs_err *err)
{
    const struct qs_arm_runs *runs = in->original.values;
    bool ok = true;
    qs_json_karray(j, "environments");
    for (size_t i = 0; ok && i < runs->count; i++)
        if (is_first_of_device(runs, i))
            ok = put_device(j, in, runs->at[i].device ? runs->at[i].device : "", err);
    qs_json_array_end(j);
    return ok;
}

/* --- the values ----------------------------------------------------------------------------------------- */

static bool same_cell(const struct qs_arm_run *a, const struct qs_arm_run *b)
{
    return a->arm == b->arm && a->point == b->point &&
           strcmp(a->device ? a->device : "", b->device ? b->device : "") == 0;
}

static double run_median(const struct qs_arm_run *run)
{
    return qs_median_ns(run->values[0].at, run->values[0].n);
}

static struct qs_side_values side_of(const struct qs_arm_runs *runs, const struct qs_arm_run *cell)
{
    struct qs_side_values side = {.v = qs_calloc(runs->count, sizeof *side.v),
                                  .disturbed = qs_calloc(runs->count, sizeof *side.disturbed),
                                  .fold = QS_UNITS_RUNS};
    int64_t session = -1;
    for (size_t i = 0; i < runs->count; i++) {
        const struct qs_arm_run *run = &runs->at[i];
        if (!same_cell(run, cell) || run->superseded)
            continue;
        double median = run_median(run);
        if (!(median > 0)) {
            side.dropped++;
            continue;
        }
        side.disturbed[side.n] = run->values[0].disturbed;
        side.v[side.n++] = median;
        side.iteration_count += run->values[0].n;
        side.sessions += run->session != session;
        session = run->session;
    }
    side.run_count = side.n;
    side.builds = side.n > 0;
    return side;
}

static struct qs_judging judging_of(const struct qs_reproduce_input *in, const struct qs_arm_run *cell)
{
    return (struct qs_judging){.alpha = in->alpha,
                               .margin_ratio = cell->point < in->point_count
                                                   ? in->margin_ratio[cell->point]
                                                   : qs_verdict_opts_default().margin,
                               .seed = in->again.seed};
}

static struct qs_lost_rates rates_of(const struct qs_reproduce_input *in, const struct qs_arm_run *cell)
{
    const struct qs_arm_runs *const sides[2] = {in->original.values, in->again.values};
    struct qs_lost_rates rates = {.runs = {0}};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < sides[k]->count; i++)
            if (same_cell(&sides[k]->at[i], cell) && !sides[k]->at[i].superseded)
                qs_lost_rates_add(&rates, k, &sides[k]->at[i]);
    qs_lost_rates_test(&rates);
    return rates;
}

static struct qs_comparison judge(const struct qs_reproduce_input *in, const struct qs_arm_run *cell)
{
    const struct qs_judging how = judging_of(in, cell);
    struct qs_comparison c = qs_comparison_new(&how, &qs_duration_metric);
    c.names[QS_BASE] = "the original";
    c.names[QS_CAND] = "the repetition";
    c.units = QS_UNITS_RUNS;
    c.side[QS_BASE] = side_of(in->original.values, cell);
    c.side[QS_CAND] = side_of(in->again.values, cell);
    c.one_session = true; /* of runs: what differs from one session to the next is not in the interval */
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < c.side[k].n; i++)
            c.uses_tainted = c.uses_tainted || c.side[k].disturbed[i];
    qs_comparison_conclude(&how, &c);
    const struct qs_lost_rates rates = rates_of(in, cell);
    qs_comparison_ask_rates(&c, &rates);
    return c;
}

/* true: no difference beyond the margin; false: one; null: too little to say. */
static void put_reproduced(struct qs_json *j, enum qs_verdict_kind kind)
{
    qs_json_key(j, "reproduced");
    if (kind == QS_VERDICT_INCONCLUSIVE)
        qs_json_null(j);
    else
        qs_json_bool(j, kind == QS_VERDICT_EQUIVALENT || kind == QS_VERDICT_NEGLIGIBLE);
}

static void put_cell(struct qs_json *j, const struct qs_reproduce_input *in, const struct qs_arm_run *cell,
                     const struct qs_comparison *c)
{
    const struct qs_judging how = judging_of(in, cell);
    qs_json_object(j);
    qs_json_kstring(j, "point", cell->label);
    qs_json_kstring(j, "device", cell->device);
    qs_json_kstring(j, "arm", cell->arm_name);
    put_reproduced(j, c->v.kind);
    qs_json_karray(j, "comparisons");
    qs_comparison_put(j, &how, c);
    qs_json_array_end(j);
    qs_json_object_end(j);
}

static int by_cell(const void *a, const void *b)
{
    const struct qs_arm_run *x = *(const struct qs_arm_run *const *)a,
                            *y = *(const struct qs_arm_run *const *)b;
    int device = strcmp(x->device ? x->device : "", y->device ? y->device : "");
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return device != 0 ? device : (x->arm > y->arm) - (x->arm < y->arm);
}

/* One for each point, device and arm, in this order; runs stand in the order that was drawn. */
static void put_results(struct qs_json *j, const struct qs_reproduce_input *in, struct qs_work *work)
{
    const struct qs_arm_runs *runs = in->original.values;
    struct qs_progress piece;
    struct qs_comparisons family = {0};
    QS_FREED const struct qs_arm_run **cells = qs_calloc(runs->count, sizeof(const struct qs_arm_run *));
    QS_FREED struct qs_comparison *all = qs_calloc(runs->count, sizeof *all);
    for (size_t i = 0; i < runs->count; i++)
        cells[i] = &runs->at[i];
    qsort(cells, runs->count, sizeof(const struct qs_arm_run *), by_cell);
    size_t n = 0;
    for (size_t i = 0; i < runs->count && qs_work_begin(work, "verdicts", values_of(in), &piece); i++) {
        if (i > 0 && by_cell(&cells[n - 1], &cells[i]) == 0)
            continue;
        cells[n] = cells[i];
        all[n] = judge(in, cells[n]);
        qs_comparisons_add(&family, &all[n++]);
    }
    qs_comparisons_adjust(&family, in->alpha);
    qs_comparisons_put(j, &family);
    qs_json_karray(j, "results");
    for (size_t i = 0; i < n; i++) {
        put_cell(j, in, cells[i], &all[i]);
        qs_comparison_done(&all[i]);
    }
    qs_json_array_end(j);
    qs_comparisons_done(&family);
}

static const struct qs_arm_run *with_uid(const struct qs_arm_runs *runs, const uint8_t *uid)
{
    for (size_t i = 0; i < runs->count; i++)
        if (memcmp(runs->at[i].uid, uid, 16) == 0)
            return &runs->at[i];
    return NULL;
}

static void put_run_side(struct qs_json *j, const char *key, const struct qs_run_info *run,
                         const struct qs_arm_runs *values)
{
    char hex[33];
    const struct qs_arm_run *v = run ? with_uid(values, run->uid) : NULL;
    qs_json_key(j, key);
    if (!run) {
        qs_json_null(j);
        return;
    }
    qs_hex(run->uid, 16, hex);
    qs_json_object(j);
    qs_json_kstring(j, "uid", hex);
    qs_json_kstring(j, "arm", run->arm_name);
    qs_json_kint(j, "block", run->block);
    qs_json_kint(j, "pos", run->pos);
    qs_json_kint(j, "iterations", (int64_t)run->n);
    qs_json_kdouble(j, "median_ns", v ? run_median(v) : NAN);
    qs_json_object_end(j);
}

static bool put_run(struct qs_json *j, const struct qs_reproduce_input *in, struct qs_err *err)
{
    const struct qs_run_info *run = NULL;
    qs_json_key(j, "run");
    for (size_t i = 0; in->run_uid && i < in->original.runs->count; i++)
        if (memcmp(in->original.runs->at[i].uid, in->run_uid, 16) == 0)
            run = &in->original.runs->at[i];
    if (in->run_uid && !run)
        return qs_fail(err, QS_E_NOT_FOUND, "that is not a run of job %lld", (long long)in->original.job);
    if (!run) {
        qs_json_null(j);
        return true;
    }
    qs_json_object(j);
    put_run_side(j, "original", run, in->original.values);
    put_run_side(j, "again", same_turn(run, in->again.runs), in->again.values);
    qs_json_object_end(j);
    return true;
}

bool qs_reproduce_document(const struct qs_reproduce_input *in, struct qs_buf *out, struct qs_err *err)
{
    struct qs_work work;
    qs_work_init(&work, &in->progress,
                 (double)in->original.runs->count * (double)in->again.runs->count +
                     (double)in->original.values->count * values_of(in));
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "kind", "reproduction");
    qs_json_kint(&j, "version", REPRODUCTION_VERSION);
    qs_json_kint(&j, "original", in->original.job);
    qs_json_kint(&j, "job", in->again.job);
    put_drawn(&j, in, &work);
    if (!put_environments(&j, in, err))
        return false;
    put_results(&j, in, &work);
    if (!put_run(&j, in, err))
        return false;
    qs_json_object_end(&j);
    return qs_work_finish(&work) == QS_OK || qs_work_fail(err);
}
