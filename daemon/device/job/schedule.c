#include "device/job/schedule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/job/look.h"

/* One process a run: its program says how many values that has. */
static bool is_stream(const struct qs_schedule *p)
{
    return qs_job_is_streamed(&p->spec->benchmarks[p->spec->points[p->point].benchmark]);
}

static void draw_order(struct qs_schedule *p)
{
    p->turns = qs_job_block_order(p->spec, p->seed, p->device, p->point, p->block, p->order);
    p->turn = 0;
    p->current_disturbed = false;
    for (size_t a = 0; a < p->spec->arm_count; a++) {
        p->current_ns[a] = 0;
        p->current_n[a] = 0;
    }
}

static void begin_point(struct qs_schedule *p)
{
    p->block = 0;
    p->attempt = 0;
    p->resume_attempt = 0;
    p->repeats = 0;
    p->fit = 0;
    p->run_iterations = is_stream(p) ? 1 : p->spec->plan.window_iterations;
    p->blocks_done = p->blocks_timed = 0;
    p->planned_blocks = p->planned_iterations = 0;
    p->point_began_ns = 0;
    p->measured_ns = 0;
    p->waited_ns = p->block_waited_ns = p->block_vain_ns = p->timed_waited_ns = p->timed_vain_ns = 0;
    memset(p->pilot_ns, 0, p->spec->arm_count * sizeof *p->pilot_ns);
    /* Without warm-up and with a fixed count there is nothing that a pilot could tell. */
    if (p->spec->plan.warmup_iterations == 0 && p->run_iterations > 0)
        p->block = 1;
    draw_order(p);
}

void qs_schedule_init(struct qs_schedule *p, const struct qs_job_spec *spec, uint64_t seed, uint64_t device)
{
    *p = (struct qs_schedule){.spec = spec, .seed = seed, .device = device};
    p->order = qs_calloc(2 * spec->arm_count, sizeof *p->order);
    p->pilot_ns = qs_calloc(spec->arm_count, sizeof *p->pilot_ns);
    p->current_ns = qs_calloc(spec->arm_count, sizeof *p->current_ns);
    p->current_n = qs_calloc(spec->arm_count, sizeof *p->current_n);
    begin_point(p);
}

void qs_schedule_done(struct qs_schedule *p)
{
    free(p->order);
    free(p->pilot_ns);
    free(p->current_ns);
    free(p->current_n);
    free(p->medians_ns);
    free(p->disturbed);
    *p = (struct qs_schedule){0};
}

bool qs_schedule_next_point(struct qs_schedule *p)
{
    if (p->point + 1 >= p->spec->point_count)
        return false;
    p->point++;
    begin_point(p);
    return true;
}

size_t qs_schedule_arm(const struct qs_schedule *p)
{
    return p->order[p->turn];
}

const struct qs_job_conditions *qs_schedule_conditions(const struct qs_schedule *p)
{
    return qs_job_conditions(p->spec, p->point, qs_schedule_arm(p));
}

uint32_t qs_schedule_iterations(const struct qs_schedule *p)
{
    bool planned = p->block > 0 && p->planned_iterations > 0 && !qs_schedule_conditions(p)->enough.stop;
    if (p->block > 0 || is_stream(p))
        return planned ? p->planned_iterations : p->run_iterations;
    return p->spec->plan.warmup_iterations > 0 ? p->spec->plan.warmup_iterations : 1;
}

void qs_schedule_set_iterations(struct qs_schedule *p, uint32_t r, uint32_t planned)
{
    p->run_iterations = r > 0 ? r : planned;
    p->planned_iterations = planned;
}

int64_t qs_schedule_predict_ns(const struct qs_schedule *p)
{
    int64_t pilot_ns = p->pilot_ns[qs_schedule_arm(p)];
    if (pilot_ns <= 0)
        return 0;
    uint32_t n = qs_schedule_iterations(p);
    return pilot_ns > INT64_MAX / (int64_t)(n + 1) ? INT64_MAX : pilot_ns * n;
}

void qs_schedule_turn_done(struct qs_schedule *p, double median_ns, bool disturbed)
{
    size_t arm = qs_schedule_arm(p);
    if (p->block == 0) {
        p->pilot_ns[arm] = median_ns > 0 ? (int64_t)median_ns : 1;
        return;
    }
    /* An arm that has two turns (ABBA) counts with the mean of its logs (design, section 1); one turn without
     * data spoils it. */
    p->current_ns[arm] += median_ns > 0 ? log(median_ns) : NAN;
    p->current_n[arm]++;
    p->current_disturbed = p->current_disturbed || disturbed;
}

bool qs_schedule_next_turn(struct qs_schedule *p)
{
    if (p->turn + 1 >= p->turns)
        return false;
    p->turn++;
    return true;
}

void qs_schedule_fit(struct qs_schedule *p, uint32_t iterations)
{
    p->fit = iterations > 0 ? iterations : 1;
}

static void find_iterations(struct qs_schedule *p)
{
    if (p->run_iterations > 0)
        return;
    int64_t slowest_ns = 1;
    for (size_t a = 0; a < p->spec->arm_count; a++) {
        if (p->pilot_ns[a] > slowest_ns)
            slowest_ns = p->pilot_ns[a];
    }
    int64_t r = (p->spec->plan.window_target_ns + slowest_ns - 1) / slowest_ns;
    int64_t least =
        p->spec->plan.precision_ratio > 0 ? 2 : 1; /* one tells nothing about the spread in a run */
    if (r < least)
        r = least;
    if (r > (int64_t)p->spec->plan.window_auto_max)
        r = (int64_t)p->spec->plan.window_auto_max;
    p->run_iterations = (uint32_t)r;
}

static void fix_iterations(struct qs_schedule *p)
{
    find_iterations(p);
    p->unlimited = p->run_iterations;
    if (p->fit > 0 && p->run_iterations > p->fit && p->blocks_done == 0)
        p->run_iterations = p->fit;
}

static void append_medians(struct qs_schedule *p, const double *medians_ns, bool disturbed)
{
    size_t arms = p->spec->arm_count;
    p->medians_ns = qs_realloc(p->medians_ns, (p->blocks_done + 1) * arms * sizeof *p->medians_ns);
    memcpy(p->medians_ns + p->blocks_done * arms, medians_ns, arms * sizeof *medians_ns);
    p->disturbed = qs_grow(p->disturbed, p->blocks_done, sizeof *p->disturbed);
    p->disturbed[p->blocks_done] = disturbed;
    p->blocks_done++;
}

void qs_schedule_block_begins(struct qs_schedule *p, int64_t now_ns)
{
    p->block_waited_ns = p->block_vain_ns = 0;
    if (p->block > 0 && p->point_began_ns == 0)
        p->point_began_ns = now_ns;
}

void qs_schedule_waited(struct qs_schedule *p, int64_t waited_ns, bool in_vain)
{
    p->block_waited_ns += waited_ns;
    p->block_vain_ns += in_vain ? waited_ns : 0;
    p->waited_ns += p->point_began_ns > 0 ? waited_ns : 0;
}

void qs_schedule_block_done(struct qs_schedule *p, int64_t block_ns)
{
    bool warm_up = p->block == 0;
    if (warm_up) {
        fix_iterations(p);
    } else {
        for (size_t a = 0; a < p->spec->arm_count; a++)
            p->current_ns[a] = p->current_n[a] > 0 ? exp(p->current_ns[a] / p->current_n[a]) : NAN;
        append_medians(p, p->current_ns, p->current_disturbed);
        p->measured_ns += block_ns > p->block_waited_ns ? block_ns - p->block_waited_ns : 0;
        p->timed_waited_ns += p->block_waited_ns;
        p->timed_vain_ns += p->block_vain_ns;
        p->blocks_timed++;
    }
    p->block = (uint32_t)p->blocks_done + 1;
    p->attempt = p->resume_attempt;
    p->resume_attempt = 0;
    p->repeats = warm_up ? p->repeats : 0; /* a link that is lost again and again may warm up each time */
    draw_order(p);
}

void qs_schedule_warm_again(struct qs_schedule *p)
{
    if (p->spec->plan.warmup_iterations == 0 || p->block == 0)
        return;
    p->resume_attempt = p->attempt;
    p->block = 0;
    draw_order(p);
}

void qs_schedule_baseline_first(struct qs_schedule *p)
{
    size_t first = 0;
    if (p->block > 0) {
        p->resume_attempt = p->attempt;
        p->block = 0;
    }
    draw_order(p);
    while (p->order[first] != p->spec->baseline)
        first++;
    p->order[first] = p->order[0];
    p->order[0] = p->spec->baseline;
}

void qs_schedule_repeat_block(struct qs_schedule *p)
{
    p->attempt++;
    p->repeats++;
    draw_order(p);
}

void qs_schedule_restore_block(struct qs_schedule *p, const double *medians_ns, bool disturbed)
{
    append_medians(p, medians_ns, disturbed);
    if (p->block > 0 || p->run_iterations > 0) {
        p->block = (uint32_t)p->blocks_done + 1;
        draw_order(p);
    }
}

void qs_schedule_resume(struct qs_schedule *p, uint32_t attempt)
{
    if (p->run_iterations == 0) {
        p->resume_attempt = attempt;
        return;
    }
    p->block = (uint32_t)p->blocks_done + 1;
    p->attempt = attempt;
    draw_order(p);
}

bool qs_schedule_is_look(const struct qs_schedule *p, uint32_t blocks)
{
    const struct qs_job_plan *plan = &p->spec->plan;
    if (blocks < plan->blocks_min)
        return false;
    if (blocks == p->planned_blocks)
        return true;
    for (size_t i = 0; i < plan->look_count; i++) {
        if (plan->looks[i] == blocks)
            return true;
    }
    return plan->look_count == 0;
}

uint32_t qs_schedule_next_look(const struct qs_schedule *p)
{
    const struct qs_job_plan *plan = &p->spec->plan;
    for (uint32_t b = (uint32_t)p->blocks_done + 1; b < plan->blocks_max; b++) {
        if (qs_schedule_is_look(p, b))
            return b;
    }
    return plan->blocks_max;
}

double qs_schedule_half_width(const struct qs_schedule *p)
{
    return qs_look_half_width(p->medians_ns, p->disturbed, p->blocks_done, p->spec->arm_count,
                              p->spec->baseline, p->spec->alpha);
}

/* Time with the point, the waits for gates apart: a busy machine is no reason for fewer blocks. */
static int64_t measuring_ns(const struct qs_schedule *p, int64_t now_ns)
{
    return now_ns - p->point_began_ns - p->waited_ns;
}

enum qs_schedule_stop qs_schedule_enough(const struct qs_schedule *p, double half_width, int64_t now_ns)
{
    const struct qs_job_plan *plan = &p->spec->plan;
    uint32_t done = (uint32_t)p->blocks_done;
    if (done < plan->blocks_min)
        return QS_SCHEDULE_GO_ON;
    if (plan->interval_ratio > 0 && qs_schedule_is_look(p, done) && half_width <= plan->interval_ratio)
        return QS_SCHEDULE_INTERVAL;
    if (done >= plan->blocks_max)
        return QS_SCHEDULE_BLOCKS;
    if (plan->time_ns > 0 && p->point_began_ns > 0 && measuring_ns(p, now_ns) >= plan->time_ns)
        return QS_SCHEDULE_TIME;
    return QS_SCHEDULE_GO_ON;
}

/* Measuring that is left. */
static int64_t left_ns(const struct qs_schedule *p, int64_t per_block_ns, int64_t now_ns)
{
    const struct qs_job_plan *plan = &p->spec->plan;
    int64_t left = (int64_t)plan->blocks_max - (int64_t)p->blocks_done;
    int64_t by_blocks_ns = left > 0 ? left * per_block_ns : 0;
    if (plan->time_ns <= 0)
        return by_blocks_ns;
    int64_t by_time_ns = plan->time_ns - measuring_ns(p, now_ns);
    int64_t floor_blocks = (int64_t)plan->blocks_min - (int64_t)p->blocks_done;
    int64_t floor_ns = floor_blocks > 0 ? floor_blocks * per_block_ns : 0;
    if (by_time_ns < floor_ns)
        by_time_ns = floor_ns;
    return by_time_ns < by_blocks_ns ? by_time_ns : by_blocks_ns;
}

int64_t qs_schedule_eta_ns(const struct qs_schedule *p, int64_t now_ns, int64_t patience_ns)
{
    if (p->blocks_timed == 0 || p->point_began_ns == 0)
        return -1;
    int64_t per_block_ns = p->measured_ns / (int64_t)p->blocks_timed;
    int64_t measuring = left_ns(p, per_block_ns, now_ns);
    double share = p->measured_ns > 0 ? (double)measuring / (double)p->measured_ns : 0;
    double vain_ns = fmin(share * (double)p->timed_vain_ns, (double)patience_ns);
    return measuring + (int64_t)(share * (double)(p->timed_waited_ns - p->timed_vain_ns) + vain_ns);
}

const char *qs_schedule_stop_name(enum qs_schedule_stop stop)
{
    switch (stop) {
    case QS_SCHEDULE_GO_ON:
        return "go on";
    case QS_SCHEDULE_BLOCKS:
        return "blocks";
    case QS_SCHEDULE_INTERVAL:
        return "interval";
    case QS_SCHEDULE_TIME:
        return "time";
    }
    return "?";
}
