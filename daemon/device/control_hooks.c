/* Setup and cleanup commands of the arms, one after the other; and what an earlier life of the daemon left of
 * the point. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/control_impl.h"
#include "device/median.h"

static const struct qs_strings *hook_of(const struct qs_control *c, size_t arm, bool setup)
{
    const struct qs_job_arm *a = &c->p.spec->arms[arm];
    const struct qs_job_benchmark *b = &c->p.spec->benchmarks[c->p.spec->points[c->plan.point].benchmark];
    const struct qs_strings *own = setup ? &a->setup : &a->cleanup;
    return own->count > 0 ? own : setup ? &b->setup : &b->cleanup;
}

/* Sends the next arm's command; false where no arm is left that has one. */
static bool send_next(struct qs_control *c, bool setup)
{
    for (; c->hook_arm < c->p.spec->arm_count; c->hook_arm++) {
        const struct qs_strings *tmpl = hook_of(c, c->hook_arm, setup);
        if (tmpl->count == 0)
            continue;
        struct qs_strings argv;
        struct qs_err err = QS_ERR_INIT;
        qs_job_fill(c->p.spec, c->hook_arm, c->plan.point, tmpl, &argv);
        c->hook_id++;
        bool sent = qs_control_send_hook(c, &argv, &err);
        qs_strings_done(&argv);
        if (!sent && err.code != QS_E_LINK) {
            qs_control_fail(c, &err);
            continue;
        }
        c->in_hooks = true;
        return true;
    }
    c->in_hooks = false;
    return false;
}

static const char *how_text(const struct qs_msg_hook_done *m, char *out, size_t n)
{
    switch (m->how) {
    case QS_HOOK_EXITED:
        snprintf(out, n, "exited with code %d", m->code);
        break;
    case QS_HOOK_SIGNALLED:
        snprintf(out, n, "was ended by signal %d", m->code);
        break;
    case QS_HOOK_TIMED_OUT:
        snprintf(out, n, "did not end within its limit");
        break;
    case QS_HOOK_NOT_STARTED:
        snprintf(out, n, "could not be started: %s", strerror(m->code));
        break;
    }
    return out;
}

void qs_control_on_hook_done(struct qs_control *c, const struct qs_msg_hook_done *m)
{
    if (!c->in_hooks || m->id != c->hook_id)
        return;
    bool setup = c->state == QS_CS_SETUP;
    if (m->how != QS_HOOK_EXITED || m->code != 0) {
        char how[128];
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_COMMAND, "%s of %s %s%s%.*s", setup ? "setup" : "cleanup",
                c->p.spec->arms[c->hook_arm].name, how_text(m, how, sizeof how),
                m->output.n ? "; it wrote: " : "", (int)(m->output.n > 300 ? 300 : m->output.n),
                m->output.n ? m->output.p : "");
        if (setup) {
            c->in_hooks = false;
            qs_control_fail(c, &err);
            qs_control_feed(c, QS_CE_FAIL);
            return;
        }
        qs_control_news_warning(c, "%s, going on", err.text);
    }
    c->hook_arm++;
    if (!send_next(c, setup))
        qs_control_feed(c, QS_CE_HOOKS_OVER);
}

/* The counted runs of (point, block) at its last attempt: how many ended well, and each arm's log-mean of
 * medians. */
static size_t block_runs_done(const struct qs_control *c, uint32_t block, uint32_t attempt,
                              double *medians_ns)
{
    size_t arms = c->p.spec->arm_count, done = 0;
    uint32_t *n = qs_calloc(arms, sizeof *n);
    for (size_t a = 0; a < arms; a++)
        medians_ns[a] = 0;
    for (size_t i = 0; i < c->p.earlier->count; i++) {
        const struct qs_sample *s = &c->p.earlier->at[i];
        if (s->point != c->plan.point || s->block != block || s->attempt != attempt ||
            s->state != QS_RUN_DONE || s->arm >= arms)
            continue;
        const int64_t *from = s->n > 0 ? s->durations_ns : s->soft_ns;
        double median_ns = qs_median_i64(from, s->n > 0 ? s->n : s->soft_n);
        medians_ns[s->arm] += median_ns > 0 ? log(median_ns) : NAN;
        n[s->arm]++;
        done++;
    }
    for (size_t a = 0; a < arms; a++)
        medians_ns[a] = n[a] > 0 ? exp(medians_ns[a] / n[a]) : NAN;
    free(n);
    return done;
}

static bool has_attempt(struct qs_control *c, uint32_t block, uint32_t *ret_attempt)
{
    bool any = false;
    *ret_attempt = 0;
    for (size_t i = 0; i < c->p.earlier->count; i++) {
        const struct qs_sample *s = &c->p.earlier->at[i];
        if (s->point != c->plan.point || s->block != block || strcmp(s->device, c->p.device) != 0)
            continue;
        any = true;
        if (s->attempt > *ret_attempt)
            *ret_attempt = s->attempt;
        if (s->n + s->n_tainted > 0 && c->plan.run_iterations == 0)
            qs_plan_set_iterations(&c->plan, (uint32_t)(s->n + s->n_tainted));
    }
    return any;
}

/* The runs of a block that the daemon's end cut short are kept, marked. */
static void mark_block(struct qs_control *c, uint32_t block, uint32_t attempt)
{
    struct qs_err err = QS_ERR_INIT;
    qs_fail(&err, QS_E_RESOURCE, "the daemon ended during this block");
    for (size_t i = 0; i < c->p.earlier->count; i++) {
        const struct qs_sample *s = &c->p.earlier->at[i];
        struct qs_uid uid;
        if (s->point != c->plan.point || s->block != block || s->attempt != attempt ||
            strcmp(s->device, c->p.device) != 0)
            continue;
        memcpy(uid.b, s->run_uid, sizeof uid.b);
        qs_control_mark_interrupted(c, &uid, &err);
    }
}

/* Complete blocks count as they are; the first incomplete one is repeated whole under new identities. */
static void restore_point(struct qs_control *c)
{
    if (!c->p.earlier || c->restored_points > c->plan.point)
        return;
    c->restored_points = c->plan.point + 1;
    double *medians_ns = qs_calloc(c->p.spec->arm_count, sizeof *medians_ns);
    uint32_t attempt;
    for (uint32_t block = 1; has_attempt(c, block, &attempt); block++) {
        if (block_runs_done(c, block, attempt, medians_ns) < c->plan.turns) {
            mark_block(c, block, attempt);
            qs_plan_resume(&c->plan, attempt + 1);
            break;
        }
        qs_plan_restore_block(&c->plan, medians_ns);
    }
    free(medians_ns);
    c->point_over = qs_plan_enough(&c->plan, NAN, qs_loop_now_ns(c->p.loop)) != QS_PLAN_GO_ON;
}

void qs_control_do_setup(struct qs_control *c)
{
    restore_point(c);
    c->hook_arm = 0;
    if (qs_control_over(c) || c->point_over) {
        qs_control_feed(c, QS_CE_POINT_OVER);
        return;
    }
    bool sent = send_next(c, true);
    if (c->failed)
        qs_control_feed(c, QS_CE_FAIL);
    else if (!sent)
        qs_control_feed(c, QS_CE_HOOKS_OVER);
}

void qs_control_do_cleanup(struct qs_control *c)
{
    c->hook_arm = 0;
    if (!send_next(c, false))
        qs_control_feed(c, QS_CE_HOOKS_OVER);
}
