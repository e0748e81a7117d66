#include "device/activity/cools.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/board.h"
#include "device/job/events.h"
#include "stats/cooling.h"
#include "store/model.h"

enum { READINGS_MAX = 256, JUDGED_EVERY = 16 };
#define SECOND 1e9

struct model {
    char *sensor;          /* owned */
    struct qs_cooling fit; /* times in seconds, temperatures in thousandths of a degree */
    bool told;             /* that it does not hold */
};

struct qs_cools {
    struct model *at; /* owned */
    size_t count;
    /* The wait in hand. */
    uint32_t window;
    const struct qs_job_expectation *of;
    double times[READINGS_MAX], values[READINGS_MAX];
    size_t n;
};

void qs_cools_free(struct qs_cools *cools)
{
    if (!cools)
        return;
    for (size_t i = 0; i < cools->count; i++)
        free(cools->at[i].sensor);
    free(cools->at);
    free(cools);
}

/* A read of the store may outlive the link, even the job run. */
struct look {
    struct qs_job_run *job;
    uint64_t epoch;
    char *device, *fingerprint; /* owned */
    struct qs_cools *found;     /* owned */
};

static struct model *find(struct qs_cools *cools, const char *sensor)
{
    for (size_t i = 0; i < cools->count; i++)
        if (strcmp(cools->at[i].sensor, sensor) == 0)
            return &cools->at[i];
    return NULL;
}

/* Whichever load came before: of several curves the slowest counts. */
static void take_row(const struct qs_model_info *m, void *user)
{
    struct qs_cools *cools = ((struct look *)user)->found;
    const struct qs_model_row *row = &m->row;
    if (strcmp(row->kind, "cools") != 0 || strcmp(row->says, qs_cooling_says_name(QS_COOLING_FITS)) != 0)
        return;
    struct model *model = find(cools, row->sensor);
    if (model && model->fit.tau >= row->tau_s)
        return;
    if (!model) {
        cools->at = qs_grow(cools->at, cools->count, sizeof *cools->at);
        model = &cools->at[cools->count++];
        *model = (struct model){.sensor = qs_strdup(row->sensor)};
    }
    model->fit = (struct qs_cooling){.says = QS_COOLING_FITS,
                                     .tau = row->tau_s,
                                     .end = row->end_mc,
                                     .tau_ci = {.lo = row->tau_lo_s, .hi = row->tau_hi_s, .level = .95},
                                     .end_ci = {.lo = row->end_lo_mc, .hi = row->end_hi_mc, .level = .95},
                                     .sd = row->sd_mc};
}

static bool look(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct look *l = user;
    return qs_read_models(reader, l->device, l->fingerprint, false, take_row, l, err);
}

/* Without it nothing is missing but a number for people. */
static void on_looked(const struct qs_err *err, void *user)
{
    struct look l = *(struct look *)user;
    free(user);
    free(l.device);
    free(l.fingerprint);
    if (!qs_job_run_answered(l.job, l.epoch) || err) {
        qs_cools_free(l.found);
        return;
    }
    for (size_t i = 0; l.job->cools && i < l.found->count; i++) { /* the link came back */
        const struct model *before = find(l.job->cools, l.found->at[i].sensor);
        l.found->at[i].told = before && before->told;
    }
    qs_cools_free(l.job->cools);
    l.job->cools = l.found;
}

static bool waits_to_cool(const struct qs_job_spec *spec)
{
    for (size_t i = 0; i < spec->condition_count; i++)
        for (size_t k = 0; k < spec->conditions[i].gate_count; k++) {
            const struct qs_job_expectation *e = &spec->conditions[i].gate[k];
            if (e->has_hi && strncmp(e->sensor, "thermal:", strlen("thermal:")) == 0)
                return true;
        }
    return false;
}

void qs_cools_read(struct qs_job_run *job)
{
    QS_BUF(fingerprint);
    if (!waits_to_cool(job->p.spec))
        return;
    qs_board_fingerprint(job->facts_json, &fingerprint);
    struct look *l = qs_calloc(1, sizeof *l);
    *l = (struct look){.job = job,
                       .epoch = job->epoch,
                       .device = qs_strdup(job->p.device),
                       .fingerprint = qs_buf_take(&fingerprint),
                       .found = qs_calloc(1, sizeof *l->found)};
    job->outstanding++;
    qs_store_read(job->p.store, look, on_looked, l);
}

/* Of more readings than there is room for, every second one is kept. */
static void keep(struct qs_cools *c, double at_s, double value)
{
    if (c->n == READINGS_MAX) {
        for (c->n = 0; c->n < READINGS_MAX / 2; c->n++) {
            c->times[c->n] = c->times[2 * c->n];
            c->values[c->n] = c->values[2 * c->n];
        }
    }
    c->times[c->n] = at_s;
    c->values[c->n++] = value;
}

static void judge(struct qs_job_run *job, struct model *model)
{
    const struct qs_cools *c = job->cools;
    struct qs_cooling_check check;
    if (model->told || c->n % JUDGED_EVERY != 0 ||
        qs_cooling_holds(&model->fit, c->times, c->values, c->n, &check) != QS_OK || check.holds)
        return;
    model->told = true;
    qs_job_event_warning(job,
                         "%s of %s does not cool down as it did when that was measured: it is %.1f "
                         "\xc2\xb0"
                         "C off, where up to %.1f \xc2\xb0"
                         "C is usual; how long gates wait is told by the old measurement until `quiesce "
                         "characterize --again %s`",
                         model->sensor, job->p.device, check.rms / 1000, 2 * check.expected / 1000,
                         job->p.device);
}

double qs_cools_take(struct qs_job_run *job, const struct qs_job_expectation *e,
                     const struct qs_msg_waiting *m, double *end_mc)
{
    struct qs_cools *c = job->cools;
    struct model *model = c ? find(c, e->sensor) : NULL;
    double value = (double)m->value, at_s = (double)m->elapsed_ns / SECOND;
    if (!model || !e->has_hi || m->status != QS_READING_OK || m->value <= e->hi)
        return NAN;
    if (c->of != e || c->window != m->window || (c->n > 0 && at_s < c->times[c->n - 1]))
        c->n = 0;
    c->of = e;
    c->window = m->window;
    keep(c, at_s, value);
    judge(job, model);
    *end_mc = model->fit.end;
    return qs_cooling_eta(model->fit.tau, model->fit.end, QS_COOLS, value, (double)e->hi);
}
