#include "device/activity/headroom.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/json.h"
#include "base/text.h"
#include "config/farm/sensors.h"
#include "device/activity/lock.h"
#include "device/board/board.h"
#include "device/job/asks.h"
#include "device/job/event.h"
#include "device/job/events.h"
#include "proto/limits.h"
#include "report/refits.h"
#include "store/model.h"

enum { NAME_BYTES = 64 };
#define ALL    "all"
#define SECOND 1e9

struct curve {
    char domain[NAME_BYTES], sensor[NAME_BYTES];
    struct qs_cooling warms; /* seconds, thousandths of a degree */
};

struct qs_headroom {
    struct curve *curves; /* owned */
    size_t count;
    bool elsewhere;          /* there are some of another system */
    struct qs_refits refits; /* owned */
    int64_t *iteration_ns;   /* owned: of each arm, in its last pilot; 0: not known */
    size_t told_points;      /* up to this one, what it came to is told */
};

void qs_headroom_free(struct qs_headroom *h)
{
    if (!h)
        return;
    free(h->curves);
    free(h->iteration_ns);
    qs_refits_done(&h->refits);
    free(h);
}

/* ---- what is known ---- */

struct look {
    struct qs_job_look at;
    struct qs_headroom *found; /* owned */
    qs_job_run_then *then;
};

static void take_row(const struct qs_model_info *m, void *user)
{
    struct look *l = user;
    struct qs_headroom *h = l->found;
    const struct qs_model_row *row = &m->row;
    struct curve c;
    if (strcmp(row->kind, "warms") != 0 || strcmp(row->says, qs_cooling_says_name(QS_COOLING_FITS)) != 0 ||
        strlen(row->domain) >= NAME_BYTES || strlen(row->sensor) >= NAME_BYTES)
        return;
    if (strcmp(m->fingerprint, l->at.fingerprint) != 0) {
        h->elsewhere = true;
        return;
    }
    snprintf(c.domain, sizeof c.domain, "%s", row->domain);
    snprintf(c.sensor, sizeof c.sensor, "%s", row->sensor);
    c.warms = (struct qs_cooling){.says = QS_COOLING_FITS,
                                  .tau = row->tau_s,
                                  .end = row->end_mc,
                                  .tau_ci = {.lo = row->tau_lo_s, .hi = row->tau_hi_s, .level = .95},
                                  .end_ci = {.lo = row->end_lo_mc, .hi = row->end_hi_mc, .level = .95},
                                  .sd = row->sd_mc};
    h->curves = qs_grow(h->curves, h->count, sizeof *h->curves);
    h->curves[h->count++] = c;
}

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_models(reader, l->at.device, NULL, false, take_row, l, err) &&
           qs_refits_read(reader, l->at.device, l->at.fingerprint, &l->found->refits, err);
}

static bool no_longer_holds(const struct qs_headroom *h, const char *sensor)
{
    const struct qs_refit *refit = qs_refits_find(&h->refits, sensor);
    return refit && qs_refit_no_longer_holds(refit);
}

static bool is_known(const struct qs_headroom *h, const char *sensor)
{
    bool any = false;
    for (size_t i = 0; i < h->count; i++)
        any = any || strcmp(h->curves[i].sensor, sensor) == 0;
    return any;
}

static const struct curve *find(const struct qs_headroom *h, const char *domain, const char *sensor)
{
    for (size_t i = 0; i < h->count; i++)
        if (strcmp(h->curves[i].domain, domain) == 0 && strcmp(h->curves[i].sensor, sensor) == 0)
            return &h->curves[i];
    return NULL;
}

/* The upper bound of a sensor when the gate opens: of that line, or of another one; one that it must only
 * come back to does not count, nor does one beside the ambient temperature. */
static bool begins_at(const struct qs_job_conditions *set, const char *sensor, int64_t *ret_mc)
{
    bool known = false;
    for (size_t i = 0; i < set->gate_count; i++) {
        const struct qs_job_expectation *e = &set->gate[i];
        if (!e->has_hi || e->hi_ambient || e->returns || strcmp(e->sensor, sensor) != 0 ||
            (known && e->hi >= *ret_mc))
            continue;
        known = true;
        *ret_mc = e->hi;
    }
    return known;
}

/* Once for each limit: why its windows are as long as the job says. */
static void warn(struct qs_job_run *job, const struct qs_headroom *h, const struct qs_job_conditions *set,
                 const struct qs_job_expectation *e)
{
    int64_t from_mc;
    const char *device = job->p.device;
    if (!begins_at(set, e->sensor, &from_mc))
        qs_job_event_warning(
            job,
            "`end_below` of %s limits no window's length: how warm one may begin is not said "
            "(`below`)",
            e->sensor);
    else if (is_known(h, e->sensor) && no_longer_holds(h, e->sensor))
        qs_job_event_warning(
            job,
            "how %s of %s warms up is not used for the length of windows: how it cools down, "
            "as it was measured at the same time, no longer holds; `quiesce characterize "
            "--again %s` finds both anew",
            e->sensor, device, device);
    else if (!is_known(h, e->sensor) && h->elsewhere)
        qs_job_event_warning(job,
                             "how %s of %s warms up was measured with another system on it, and is not used "
                             "for the length of windows; `quiesce characterize %s` finds it anew",
                             e->sensor, device, device);
}

static bool has_limit(const struct qs_job_spec *spec)
{
    for (size_t i = 0; i < spec->condition_count; i++)
        for (size_t k = 0; k < spec->conditions[i].gate_count; k++)
            if (spec->conditions[i].gate[k].has_end)
                return true;
    return false;
}

/* The sets of a job often have lines in common. */
static bool is_first(const struct qs_job_spec *spec, size_t set, const char *sensor)
{
    for (size_t i = 0; i < set; i++)
        for (size_t k = 0; k < spec->conditions[i].gate_count; k++)
            if (spec->conditions[i].gate[k].has_end &&
                strcmp(spec->conditions[i].gate[k].sensor, sensor) == 0)
                return false;
    return true;
}

static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    struct qs_job_run *job = l.at.job;
    free(user);
    if (!qs_job_look_end(&l.at)) {
        qs_headroom_free(l.found);
        return;
    }
    const struct qs_job_spec *spec = job->p.spec;
    qs_headroom_free(job->headroom);
    job->headroom = l.found;
    for (size_t i = 0; !err && i < spec->condition_count; i++)
        for (size_t k = 0; k < spec->conditions[i].gate_count; k++) {
            const struct qs_job_expectation *e = &spec->conditions[i].gate[k];
            if (e->has_end && is_first(spec, i, e->sensor))
                warn(job, l.found, &spec->conditions[i], e);
        }
    l.then(job);
}

void qs_headroom_read(struct qs_job_run *job, qs_job_run_then *then)
{
    if (job->headroom || !has_limit(job->p.spec)) {
        then(job);
        return;
    }
    struct look *l = qs_calloc(1, sizeof *l);
    l->found = qs_calloc(1, sizeof *l->found);
    l->then = then;
    l->found->iteration_ns = qs_calloc(job->p.spec->arm_count, sizeof *l->found->iteration_ns);
    qs_job_look_begin(&l->at, job, look, on_looked);
}

/* ---- what it comes to ---- */

static const char *domain_of(const struct qs_job_run *job, const struct qs_job_conditions *set)
{
    const struct qs_board *board = qs_activity_lock_home(job);
    const char *word = set->controls.cpus;
    const char *name = strcmp(word, QS_JOB_ONE_BIG) == 0 ? "big" : word;
    for (size_t i = 0; board && word[0] != '\0' && i < board->clusters.count; i++) {
        const struct qs_board_cluster *c = &board->clusters.at[i];
        if (strcmp(c->name, name) == 0 || qs_board_cpus_within(word, c->cpus))
            return c->name;
    }
    return ALL;
}

static const struct curve *curve_of(const struct qs_job_run *job, const struct qs_job_conditions *set,
                                    const char *sensor)
{
    const struct qs_headroom *h = job->headroom;
    const struct curve *own = find(h, domain_of(job, set), sensor);
    return no_longer_holds(h, sensor) ? NULL : own ? own : find(h, ALL, sensor);
}

/* Of one line; infinite: it is never reached. */
static bool rise_s(const struct curve *c, int64_t from_mc, int64_t limit_mc, double *ret_s)
{
    struct qs_ci ci;
    *ret_s = 0;
    if (from_mc >= limit_mc)
        return true;
    enum qs_status status =
        qs_cooling_rise(&c->warms, (double)from_mc, (double)limit_mc, 2 * c->warms.sd, &ci);
    *ret_s = ci.lo;
    return status == QS_OK && isfinite(ci.lo);
}

bool qs_headroom_of_arm(const struct qs_job_run *job, size_t arm, struct qs_headroom_of *ret)
{
    const struct qs_job_conditions *set = qs_job_conditions(job->p.spec, job->schedule.point, arm);
    double least_s = INFINITY;
    for (size_t i = 0; job->headroom && i < set->gate_count; i++) {
        const struct qs_job_expectation *e = &set->gate[i];
        const struct curve *c = e->has_end ? curve_of(job, set, e->sensor) : NULL;
        int64_t from_mc = 0;
        double s;
        if (!c || !begins_at(set, e->sensor, &from_mc) || !rise_s(c, from_mc, e->end, &s) || s >= least_s)
            continue;
        least_s = s;
        *ret = (struct qs_headroom_of){.ns = s < (double)QS_SPAN_MAX_NS / SECOND ? (int64_t)(s * SECOND)
                                                                                 : QS_SPAN_MAX_NS,
                                       .sensor = c->sensor,
                                       .domain = c->domain,
                                       .from_mc = from_mc,
                                       .limit_mc = e->end};
    }
    return isfinite(least_s);
}

/* With what comes before and after each: the window was open for it, too. */
void qs_headroom_pilot(struct qs_job_run *job)
{
    const struct qs_run_in_hand *run = &job->run;
    int64_t n = (int64_t)(run->stored_n > 0 ? run->stored_n : 1);
    int64_t each_ns = run->windows_ns / n;
    if (job->headroom)
        job->headroom->iteration_ns[qs_schedule_arm(&job->schedule)] =
            each_ns > run->last_ns ? each_ns : run->last_ns;
}

/* How many iterations of this arm; false: as many as there are. */
static bool fits(const struct qs_job_run *job, size_t arm, struct qs_headroom_of *of, int64_t *ret)
{
    int64_t each_ns = job->headroom ? job->headroom->iteration_ns[arm] : 0;
    if (each_ns <= 0 || !qs_headroom_of_arm(job, arm, of))
        return false;
    *ret = of->ns / each_ns;
    return true;
}

void qs_headroom_fit(struct qs_job_run *job)
{
    int64_t least = INT64_MAX, n;
    struct qs_headroom_of of;
    for (size_t a = 0; a < job->p.spec->arm_count; a++)
        if (fits(job, a, &of, &n) && n < least)
            least = n;
    if (least <= QS_ITERATIONS_MAX)
        qs_schedule_fit(&job->schedule, (uint32_t)least);
}

struct shortened { /* windows of the point in hand, by what their arm can do to the device */
    size_t arm;
    const struct qs_headroom_of *of;
    int64_t iteration_ns;        /* 0: not known: there was no pilot */
    uint32_t iterations, wanted; /* of a run: with it and without it */
};

static void put_short_text(const struct qs_job_run *job, const struct shortened *s, struct qs_buf *text)
{
    const struct qs_headroom_of *of = s->of;
    const char *arm = job->p.spec->arms[s->arm].name;
    bool none = s->iteration_ns > 0 && of->ns < s->iteration_ns;
    if (none) {
        qs_buf_fmt(text, "not even one iteration of %s (", arm);
        qs_text_duration(text, (double)s->iteration_ns);
        qs_buf_str(text,
                   ") is sure to end in time: windows are one iteration long, and tainted where they end "
                   "too warm. ");
    } else if (s->iteration_ns > 0) {
        qs_buf_fmt(text, "windows have %u iteration%s, not %u, so that they do not end too warm: ",
                   (unsigned)s->iterations, s->iterations == 1 ? "" : "s", (unsigned)s->wanted);
    } else {
        qs_buf_str(text, "windows are shortened so that they do not end too warm: ");
    }
    qs_buf_fmt(text, "%s can rise from ", of->sensor);
    qs_sensor_print(of->sensor, of->from_mc, text);
    qs_buf_str(text, " to ");
    qs_sensor_print(of->sensor, of->limit_mc, text);
    qs_buf_str(text, " within ");
    qs_text_duration(text, (double)of->ns);
    qs_buf_fmt(text, ", as it was characterized (%s)", of->domain);
}

static void tell(struct qs_job_run *job, const struct shortened *s)
{
    struct qs_event n;
    QS_BUF(text);
    put_short_text(job, s, &text);
    qs_event_begin(&n);
    qs_json_kint(&n.json, "point", (int64_t)job->schedule.point);
    qs_json_kstring(&n.json, "arm", job->p.spec->arms[s->arm].name);
    qs_json_kstring(&n.json, "sensor", s->of->sensor);
    qs_json_kstring(&n.json, "domain", s->of->domain);
    qs_json_kint(&n.json, "from_mc", s->of->from_mc);
    qs_json_kint(&n.json, "limit_mc", s->of->limit_mc);
    qs_json_kint(&n.json, "headroom_ns", s->of->ns);
    qs_json_kint(&n.json, "iteration_ns", s->iteration_ns);
    qs_json_kint(&n.json, "iterations_per_run", s->iterations);
    qs_json_kint(&n.json, "wanted", s->wanted);
    qs_json_kstring(&n.json, "text", text.data);
    qs_event_tell(job, &n, "job.shortened", false);
}

/* The arm whose windows are the shortest, by iterations where these are known. */
static bool tightest(const struct qs_job_run *job, struct qs_headroom_of *ret, size_t *ret_arm)
{
    double least = INFINITY;
    for (size_t a = 0; a < job->p.spec->arm_count; a++) {
        struct qs_headroom_of of;
        if (!qs_headroom_of_arm(job, a, &of))
            continue;
        int64_t each_ns = job->headroom->iteration_ns[a];
        double n = (double)of.ns / (double)(each_ns > 0 ? each_ns : 1);
        if (n >= least)
            continue;
        least = n;
        *ret = of;
        *ret_arm = a;
    }
    return isfinite(least);
}

void qs_headroom_tell(struct qs_job_run *job)
{
    struct qs_headroom *h = job->headroom;
    const struct qs_schedule *s = &job->schedule;
    struct qs_headroom_of of = {0};
    size_t arm = 0;
    if (!h || h->told_points > s->point || !tightest(job, &of, &arm))
        return;
    const struct shortened t = {.arm = arm,
                                .of = &of,
                                .iteration_ns = h->iteration_ns[arm],
                                .iterations = s->run_iterations,
                                .wanted = s->unlimited};
    bool cut = t.iteration_ns > 0 ? t.wanted > t.iterations || of.ns < t.iteration_ns
                                  : of.ns < job->p.spec->plan.window_max_ns;
    if (!cut)
        return;
    h->told_points = s->point + 1;
    tell(job, &t);
}
