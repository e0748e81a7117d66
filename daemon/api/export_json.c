/* The form of hyperfine's --export-json, so that tools that read it read this: seconds, one result an arm, a
 * point and a device. `times` are the iterations that the comparison counts, of one evaluation each, and the
 * numbers beside them are its own; it stands there whole as "quiesce", and what gates waited for as "waits".
 */
#include <stdlib.h>

#include "api/compare.h"
#include "api/handlers.h"
#include "api/reply.h"
#include "api/steps.h"
#include "base/json.h"
#include "base/mem.h"
#include "report/shown.h"

enum { ITERATIONS_MOST = 2000000, WAITS_MOST = 1000 };

struct times {         /* of one arm */
    double *s;         /* of one evaluation */
    int64_t *total_ns; /* as measured */
    int32_t *exits;
    uint32_t evals; /* of each; 0: there are none */
    size_t n, exit_count;
    enum qs_worth worth; /* of those that are taken */
};

struct export
{
    struct qs_compared compared;
    struct qs_buf out;
};

static void done_export(void *data)
{
    struct export *e = data;
    qs_compared_done(&e->compared);
    qs_buf_done(&e->out);
}

static void take_time(void *user, const struct qs_value *v)
{
    struct times *t = user;
    if (v->worth != t->worth)
        return;
    t->s[t->n] = v->value / 1e9;
    t->total_ns[t->n++] = v->total_ns;
    t->evals = v->evals;
}

static void take_exit(void *user, const struct qs_value *v)
{
    struct times *t = user;
    if (v->worth == t->worth)
        t->exits[t->exit_count++] = (int32_t)v->value;
}

static bool add_run(struct qs_store_reader *reader, const struct qs_measured_run *run, struct times *t,
                    struct qs_err *err)
{
    size_t n = t->n + run->values.n + 1;
    t->worth = qs_worth_taken(run->values.disturbed);
    t->s = qs_realloc(t->s, n * sizeof *t->s);
    t->total_ns = qs_realloc(t->total_ns, n * sizeof *t->total_ns);
    t->exits = qs_realloc(t->exits, n * sizeof *t->exits);
    return qs_read_values(reader, run->id, 0, take_time, t, err) &&
           qs_read_values(reader, run->id, QS_VALUES_STATUS, take_exit, t, err);
}

/* What stands behind `times` where each is a part of what was measured. */
static void put_measured(struct qs_json *j, const struct times *t)
{
    qs_json_kint(j, "evals", t->evals);
    qs_json_karray(j, "durations_ns");
    for (size_t i = 0; i < t->n; i++)
        qs_json_int(j, t->total_ns[i]);
    qs_json_array_end(j);
}

static void put_numbers(struct qs_json *j, const struct qs_report_told *arm)
{
    qs_json_kdouble(j, "mean", arm->mean_ns / 1e9);
    qs_json_kdouble(j, "stddev", arm->sd_ns / 1e9);
    qs_json_kdouble(j, "median", arm->median_ns / 1e9);
    qs_json_kdouble(j, "user", arm->user_us / 1e6);
    qs_json_kdouble(j, "system", arm->system_us / 1e6);
    qs_json_kdouble(j, "min", arm->min_ns / 1e9);
    qs_json_kdouble(j, "max", arm->max_ns / 1e9);
}

static void put_times(struct qs_json *j, const struct times *t)
{
    qs_json_karray(j, "times");
    for (size_t i = 0; i < t->n; i++)
        qs_json_double(j, t->s[i]);
    qs_json_array_end(j);
    if (t->evals > 1)
        put_measured(j, t);
    qs_json_karray(j, "exit_codes");
    for (size_t i = 0; i < t->n; i++)
        qs_json_int(j, t->exits[i]);
    qs_json_array_end(j);
}

static bool put_arm(struct qs_store_reader *reader, const struct qs_report_told *arm, struct qs_json *j,
                    struct qs_err *err)
{
    struct times t = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < arm->run_count; i++)
        ok = add_run(reader, arm->runs[i], &t, err);
    qs_json_object(j);
    qs_json_kstring(j, "command", arm->command);
    qs_json_kstring(j, "name", arm->name);
    qs_json_kstring(j, "build", arm->build);
    qs_json_kstring(j, "point", arm->label);
    qs_json_kstring(j, "device", arm->device);
    put_numbers(j, arm);
    put_times(j, &t);
    qs_json_object_end(j);
    free(t.s);
    free(t.total_ns);
    free(t.exits);
    return ok;
}

static bool check_amount(const struct qs_measured_runs *measured, struct qs_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < measured->count; i++)
        n += measured->at[i].values.seen;
    return n <= ITERATIONS_MOST ||
           qs_fail(err, QS_E_LIMIT,
                   "%zu iterations are too many for one JSON document (at most %d); format=csv has no limit",
                   n, ITERATIONS_MOST);
}

static bool put_results(struct qs_store_reader *reader, int64_t job, struct export *e, struct qs_err *err)
{
    QS_FREED char *waits = NULL;
    bool ok = qs_shown_waits(reader, job, WAITS_MOST, &waits, err);
    struct qs_json j = qs_json_to(&e->out);
    qs_json_object(&j);
    qs_json_karray(&j, "results");
    for (size_t i = 0; ok && i < e->compared.told.count; i++)
        ok = put_arm(reader, &e->compared.told.at[i], &j, err);
    qs_json_array_end(&j);
    qs_json_kraw(&j, "quiesce", e->compared.document.data);
    if (waits)
        qs_json_kraw(&j, "waits", waits);
    qs_json_object_end(&j);
    return ok;
}

static bool read_export(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct export *e = ex->data;
    return qs_compare_read(reader, qs_store_path(ex->api->p.store), ex->match.id, &e->compared, err) &&
           check_amount(&e->compared.results.measured, err) && put_results(reader, ex->match.id, e, err);
}

static void say_export(struct qs_exchange *ex)
{
    struct export *e = ex->data;
    qs_reply_json(ex, 200, &e->out);
}

void qs_export_json(struct qs_exchange *ex)
{
    struct export *e = qs_exchange_data(ex, sizeof *e, done_export);
    qs_buf_init(&e->compared.document);
    qs_buf_init(&e->out);
    e->compared.progress = qs_steps_progress(ex);
    qs_exchange_read(ex, read_export, say_export);
}
