#include "device/job/evals.h"

#include <math.h>

#include "base/text.h"
#include "stats/timer.h"

static void settle(struct qs_evals *e, enum qs_evals_how how, uint32_t evals)
{
    e->step = QS_EVALS_MEASURE;
    e->how = how;
    e->found.evals = evals;
}

void qs_evals_init(struct qs_evals *e, uint32_t given)
{
    *e = (struct qs_evals){.step = QS_EVALS_PROGRAM, .how = QS_EVALS_OPEN};
    if (given > 0)
        settle(e, QS_EVALS_GIVEN, given);
}

void qs_evals_keep(struct qs_evals *e, uint32_t evals)
{
    if (e->how == QS_EVALS_OPEN && evals > 0)
        settle(e, QS_EVALS_KEPT, evals);
}

void qs_evals_program(struct qs_evals *e, bool able, uint32_t most)
{
    if (e->step != QS_EVALS_PROGRAM)
        return;
    if (most == 1)
        settle(e, QS_EVALS_ONCE, 1);
    else if (!able)
        settle(e, QS_EVALS_UNABLE, 1);
    else
        e->step = QS_EVALS_LOOK;
}

void qs_evals_looked(struct qs_evals *e, const struct qs_tuning *earlier)
{
    if (e->step != QS_EVALS_LOOK)
        return;
    e->step = QS_EVALS_WARM;
    if (earlier && earlier->evals > 0) {
        e->found = *earlier;
        settle(e, QS_EVALS_CACHED, earlier->evals);
    }
}

/* Algorithm 1 over a scan that was measured already. */
static enum qs_status tune(const struct qs_evals_scan *scan, const struct qs_clock_error *clock,
                           struct qs_tuner *tuner)
{
    enum qs_status status = qs_tuner_init(tuner, QS_ORACLE_TABLE, clock, (double)QS_EVALS_SCAN_NS);
    for (size_t i = 0; status == QS_OK && i < scan->n && qs_tuner_next(tuner) > 0; i++) {
        if (scan->total_ns[i] < 0)
            qs_tuner_skip(tuner);
        else
            status = qs_tuner_push(tuner, (double)scan->total_ns[i]);
    }
    return status;
}

static void take_scan(struct qs_evals *e, const struct qs_evals_scan *scan)
{
    bool known = scan->precision_ns > 0 && scan->accuracy_ns > 0;
    const struct qs_clock_error clock = {.acc_ns = known ? (double)scan->accuracy_ns : 1000,
                                         .prec_ns = known ? (double)scan->precision_ns : 1};
    struct qs_tuner tuner;
    uint32_t evals = 0;
    if (tune(scan, &clock, &tuner) != QS_OK || qs_tuner_evals(&tuner, &evals) != QS_OK || evals == 0) {
        settle(e, QS_EVALS_UNABLE, 1);
        return;
    }
    e->found = (struct qs_tuning){
        .precision_ns = known ? scan->precision_ns : 0,
        .accuracy_ns = known ? scan->accuracy_ns : 0,
        .tries = tuner.took,
        .evaluation_ps = (int64_t)fmin(rint(tuner.min_ns * 1000), 1e18),
        .table_evals = qs_oracle_table(tuner.min_ns, &clock),
        .logistic_evals = qs_oracle_logistic(tuner.min_ns, &clock, QS_LOGISTIC_SLOPE, QS_LOGISTIC_B)};
    settle(e, QS_EVALS_TUNED, evals);
}

void qs_evals_window(struct qs_evals *e, const struct qs_evals_scan *scan)
{
    if (e->step == QS_EVALS_WARM)
        e->step = QS_EVALS_SCAN;
    else if (e->step == QS_EVALS_SCAN)
        take_scan(e, scan);
}

const char *qs_evals_how_name(enum qs_evals_how how)
{
    static const char *const names[] = {"open", "given", "kept", "once", "unable", "cached", "tuned"};
    return (unsigned)how < sizeof names / sizeof *names ? names[how] : "?";
}

static void put_found(const struct qs_tuning *t, struct qs_json *j)
{
    char run[33];
    qs_json_kstring(j, "oracle", qs_oracle_name(t->logistic ? QS_ORACLE_LOGISTIC : QS_ORACLE_TABLE));
    if (t->precision_ns > 0) {
        qs_json_kint(j, "precision_ns", t->precision_ns);
        qs_json_kint(j, "accuracy_ns", t->accuracy_ns);
    }
    qs_json_kint(j, "tries", t->tries);
    qs_json_kdouble(j, "evaluation_ns", (double)t->evaluation_ps / 1000);
    qs_json_kint(j, "table_evals", t->table_evals);
    qs_json_kint(j, "logistic_evals", t->logistic_evals);
    qs_hex(t->run_uid, sizeof t->run_uid, run);
    qs_json_kstring(j, "found_by", run);
}

void qs_evals_json(const struct qs_evals *e, struct qs_json *j)
{
    if (e->how == QS_EVALS_OPEN) {
        qs_json_null(j);
        return;
    }
    qs_json_object(j);
    qs_json_kint(j, "evals", e->found.evals);
    qs_json_kstring(j, "how", qs_evals_how_name(e->how));
    if (e->how == QS_EVALS_TUNED || e->how == QS_EVALS_CACHED)
        put_found(&e->found, j);
    qs_json_object_end(j);
}

static void put_list(struct qs_json *j, const char *key, const struct qs_strings *list)
{
    qs_json_karray(j, key);
    for (size_t i = 0; i < list->count; i++)
        qs_json_string(j, list->at[i]);
    qs_json_array_end(j);
}

void qs_evals_depends(const struct qs_evals_key *key, struct qs_buf *out)
{
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_kstring(&j, "agent", key->agent);
    put_list(&j, "arguments", key->arguments);
    qs_json_kstring(&j, "benchmark", key->benchmark);
    qs_json_kstring(&j, "clock", key->clock);
    qs_json_kstring(&j, "cpus", key->cpus);
    qs_json_kstring(&j, "device", key->device);
    put_list(&j, "env", key->env);
    qs_json_kstring(&j, "executable", key->executable);
    if (key->held)
        qs_json_kstring(&j, "frequency", key->held);
    qs_json_kraw(&j, "operating", key->operating_json);
    put_list(&j, "params", key->params);
    qs_json_kint(&j, "scan_ns", QS_EVALS_SCAN_NS);
    qs_json_object_end(&j);
}
