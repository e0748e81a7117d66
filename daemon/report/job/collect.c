/* From stored runs to the blocks that count: of each block its last attempt. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/job/look.h"
#include "report/job/metrics.h"

/* Of a processor of 2020: a value is sorted and weighed among its like. */
static const double VALUE_NS = 100;

/* Samples come ordered by block. */
static void find_blocks(struct qs_report_group *g)
{
    g->blocks = qs_calloc(g->sample_count, sizeof *g->blocks);
    for (size_t i = 0; i < g->sample_count; i++)
        if (g->block_count == 0 || g->blocks[g->block_count - 1] != g->measured[i].block)
            g->blocks[g->block_count++] = g->measured[i].block;
}

static void add_run(struct qs_report_group *g, const struct qs_measured_run *s, size_t block)
{
    g->runs[g->run_count++] = (struct qs_report_run){
        .measured = s, .arm = s->arm, .block = block, .disturbed = s->values.disturbed};
    if (g->evals == 0 && s->evals > 0) {
        g->evals = s->evals;
        g->evals_json = s->evals_json;
    }
    if (s->window_n > g->iterations_per_run)
        g->iterations_per_run = s->window_n;
}

static void find_runs(struct qs_report_group *g)
{
    size_t arms = g->in->spec->arm_count, b = 0;
    g->runs = qs_calloc(g->sample_count, sizeof *g->runs);
    g->block_first = qs_calloc(g->block_count + 1, sizeof *g->block_first);
    for (size_t i = 0; i < g->sample_count; i++) {
        const struct qs_measured_run *s = &g->measured[i];
        while (g->blocks[b] != s->block)
            g->block_first[++b] = g->run_count;
        if (!s->superseded && s->arm < arms)
            add_run(g, s, b);
    }
    while (b < g->block_count)
        g->block_first[++b] = g->run_count;
}

/* An arm with two turns counts with the mean of its logs; a block lacks an arm where any of its turns gave
 * nothing or was never run. */
static void fill_block(struct qs_report_group *g, size_t block, double *medians_ns, uint32_t *turns)
{
    size_t arms = g->in->spec->arm_count;
    uint32_t due = g->in->spec->plan.order == QS_ORDER_ABBA ? 2 : 1;
    memset(turns, 0, arms * sizeof *turns);
    for (size_t a = 0; a < arms; a++)
        medians_ns[a] = 0;
    for (size_t i = g->block_first[block]; i < g->block_first[block + 1]; i++) {
        const struct qs_report_run *run = &g->runs[i];
        double median_ns = g->metrics[0].runs[i].median;
        medians_ns[run->arm] += median_ns > 0 ? log(median_ns) : NAN;
        turns[run->arm]++;
        g->block_disturbed[block] = g->block_disturbed[block] || run->disturbed;
    }
    for (size_t a = 0; a < arms; a++)
        medians_ns[a] = turns[a] == due ? exp(medians_ns[a] / due) : NAN;
}

static bool is_complete(const struct qs_report_group *g, size_t block)
{
    size_t arms = g->in->spec->arm_count;
    for (size_t a = 0; a < arms; a++) {
        if (!(g->block_medians_ns[block * arms + a] > 0))
            return false;
    }
    return true;
}

/* Whether disturbed blocks took another time than clean ones, beyond chance, in some arm. */
static bool times_differ(const struct qs_report_group *g)
{
    size_t arms = g->in->spec->arm_count;
    double *v = qs_calloc(g->block_count, sizeof *v);
    bool *disturbed = qs_calloc(g->block_count, sizeof *disturbed), differ = false;
    for (size_t a = 0; a < arms && !differ; a++) {
        size_t n = 0;
        for (size_t b = 0; b < g->block_count; b++) {
            if (!g->block_complete[b])
                continue;
            v[n] = g->block_medians_ns[b * arms + a];
            disturbed[n++] = g->block_disturbed[b];
        }
        differ = qs_look_times_differ(v, disturbed, n);
    }
    free(v);
    free(disturbed);
    return differ;
}

/* Comparisons rest on every complete block: stats/mixed.h knows what a disturbed one is worth. Times, which a
 * busy machine makes longer, rest on the clean ones alone where these are as many as a verdict needs, and
 * are the most (leaving out the others widens nothing by more than a root of 2) or differ from the others
 * beyond chance. */
static void choose_blocks(struct qs_report_group *g)
{
    size_t clean = 0;
    for (size_t b = 0; b < g->block_count; b++) {
        g->block_complete[b] = is_complete(g, b);
        if (!g->block_complete[b])
            g->incomplete++;
        else if (g->block_disturbed[b])
            g->blocks_tainted++;
        else
            clean++;
    }
    bool enough = clean >= g->in->spec->plan.blocks_min && (clean >= g->blocks_tainted || times_differ(g));
    g->uses_tainted = g->blocks_tainted > 0 && !enough;
    for (size_t b = 0; b < g->block_count; b++) {
        g->block_used[b] = g->block_complete[b] && (!g->block_disturbed[b] || g->uses_tainted);
        g->used += g->block_used[b] ? 1 : 0;
    }
}

/* From the first window of one block, which opened after its wait, to that of another. */
static int64_t waited_between_ns(const struct qs_report_group *g, uint32_t first, uint32_t last)
{
    int64_t waited_ns = 0;
    for (size_t i = 0; i < g->sample_count; i++) {
        const struct qs_measured_run *s = &g->measured[i];
        bool after = s->block > first || (s->block == first && s->pos > 0);
        if (after && (s->block < last || (s->block == last && s->pos == 0)))
            waited_ns += s->waited_ns;
    }
    return waited_ns;
}

static void count_waits(struct qs_report_group *g)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < g->sample_count; i++) {
        const struct qs_measured_run *s = &g->measured[i];
        g->waited_ns += s->waited_ns;
        if (s->busiest && s->waited_ns > longest_ns) {
            longest_ns = s->waited_ns;
            g->busiest = s->busiest;
        }
    }
}

/* How long a block takes to measure: what a person can decide to spend. Waits are the machine's. */
static void time_blocks(struct qs_report_group *g)
{
    int64_t first_ns = 0, last_ns = 0;
    uint32_t first = 0, last = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        const struct qs_measured_run *s = g->runs[i].measured;
        if (s->pos != 0 || s->opened_ns <= 0)
            continue;
        if (first_ns == 0) {
            first_ns = s->opened_ns;
            first = s->block;
        }
        last_ns = s->opened_ns;
        last = s->block;
    }
    int64_t span_ns = last > first ? last_ns - first_ns - waited_between_ns(g, first, last) : 0;
    g->seconds_per_block = span_ns > 0 ? (double)span_ns / 1e9 / (last - first) : NAN;
}

static void collect(struct qs_report_group *g)
{
    size_t arms = g->in->spec->arm_count;
    for (size_t i = 0; i < g->sample_count; i++)
        g->value_count += g->measured[i].values.n;
    (void)qs_report_goes_on(g, g->value_count);
    find_blocks(g);
    find_runs(g);
    qs_report_take_durations(g);
    g->block_medians_ns = qs_calloc(g->block_count * arms, sizeof *g->block_medians_ns);
    g->block_disturbed = qs_calloc(g->block_count, sizeof *g->block_disturbed);
    g->block_complete = qs_calloc(g->block_count, sizeof *g->block_complete);
    g->block_used = qs_calloc(g->block_count, sizeof *g->block_used);
    uint32_t *turns = qs_calloc(arms, sizeof *turns);
    for (size_t b = 0; b < g->block_count; b++)
        fill_block(g, b, g->block_medians_ns + b * arms, turns);
    free(turns);
    choose_blocks(g);
    time_blocks(g);
    count_waits(g);
    qs_report_fill_arms(g);
    qs_report_fill_metrics(g);
}

static bool same_group(const struct qs_measured_run *a, const struct qs_measured_run *b)
{
    return a->point == b->point && strcmp(a->device, b->device) == 0;
}

/* Each value is looked at for its run, for its arm, and once for each other metric. */
static double plan_ns(const struct qs_report_input *in)
{
    double sum = 0;
    for (size_t i = 0; i < in->measured->count; i++)
        sum += (double)in->measured->at[i].values.n;
    return VALUE_NS * sum * (double)(2 + (in->metrics ? in->metrics->metric_count : 0));
}

bool qs_report_goes_on(const struct qs_report_group *g, size_t values)
{
    struct qs_progress piece;
    return qs_work_begin(g->work, "judge", VALUE_NS * (double)values, &piece);
}

enum qs_status qs_report_groups(const struct qs_report_input *in, const struct qs_progress *progress,
                                struct qs_report_group **ret_groups, size_t *ret_count)
{
    static const struct qs_progress nobody = {.go_on = NULL};
    struct qs_report_group *groups = NULL;
    struct qs_work work;
    size_t count = 0;
    qs_work_init(&work, progress ? progress : &nobody, plan_ns(in));
    for (size_t i = 0, end; i < in->measured->count && !work.ended; i = end) {
        const struct qs_measured_run *first = &in->measured->at[i];
        for (end = i + 1; end < in->measured->count && same_group(first, &in->measured->at[end]); end++)
            ;
        if (first->point >= in->spec->point_count)
            continue;
        groups = qs_grow(groups, count, sizeof *groups);
        groups[count] = (struct qs_report_group){.in = in,
                                                 .work = &work,
                                                 .point = first->point,
                                                 .device = first->device,
                                                 .simulated = first->simulated,
                                                 .measured = first,
                                                 .sample_count = end - i};
        collect(&groups[count++]);
    }
    for (size_t i = 0; i < count; i++)
        groups[i].work = NULL;
    enum qs_status status = qs_work_finish(&work);
    if (status != QS_OK) {
        qs_report_groups_free(groups, count);
        groups = NULL;
        count = 0;
    }
    *ret_groups = groups;
    *ret_count = count;
    return status;
}

void qs_report_groups_free(struct qs_report_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct qs_report_group *g = &groups[i];
        qs_report_metrics_free(g);
        free(g->arms);
        free(g->pairs);
        free(g->blocks);
        free(g->runs);
        free(g->block_medians_ns);
        free(g->block_first);
        free(g->block_disturbed);
        free(g->block_complete);
        free(g->block_used);
    }
    free(groups);
}
