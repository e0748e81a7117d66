/* The form of hyperfine's --export-json, so that tools that read it read this: seconds, one result an arm, a
 * point and a device. `times` are the accepted iterations, as the comparison counts them, of one evaluation
 * each; the comparison itself stands beside them as "quiesce". */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/compare.h"
#include "api/export.h"
#include "api/reply.h"
#include "api/steps.h"
#include "base/json.h"
#include "base/mem.h"
#include "stats/describe.h"

enum { PAGE = 2000, ITERATIONS_MOST = 2000000, SOFT = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK };

struct times {         /* of one arm */
    double *s;         /* of one evaluation */
    int64_t *total_ns; /* as measured */
    int32_t *exits;
    uint32_t evals; /* of each; 0: there are none */
    size_t n;
    double user_us, system_us; /* sums */
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

static int64_t value_of(const struct qs_iterations *it, const struct qs_iteration_info *i, const char *metric)
{
    for (size_t m = 0; m < it->metric_count; m++) {
        if (strcmp(it->metrics[m], metric) == 0)
            return i->values[m];
    }
    return INT64_MIN;
}

static double microseconds(int64_t v)
{
    return v == INT64_MIN ? NAN : (double)v;
}

static void add_page(struct times *t, const struct qs_iterations *it, uint32_t allowed)
{
    t->s = qs_realloc(t->s, (t->n + it->count + 1) * sizeof *t->s);
    t->total_ns = qs_realloc(t->total_ns, (t->n + it->count + 1) * sizeof *t->total_ns);
    t->exits = qs_realloc(t->exits, (t->n + it->count + 1) * sizeof *t->exits);
    for (size_t k = 0; k < it->count; k++) {
        const struct qs_iteration_info *i = &it->at[k];
        if (i->phase != QS_PHASE_MEASURE || (i->taint & ~allowed))
            continue;
        t->s[t->n] = (double)i->duration_ns / i->evals / 1e9;
        t->total_ns[t->n] = i->duration_ns;
        t->evals = i->evals;
        t->exits[t->n++] = i->status;
        t->user_us += microseconds(value_of(it, i, "user_time_us"));
        t->system_us += microseconds(value_of(it, i, "system_time_us"));
    }
}

static bool add_run(struct qs_store_reader *reader, const struct qs_sample *sample, struct times *t,
                    struct qs_err *err)
{
    uint64_t from = 0;
    if (sample->state != QS_RUN_DONE || (sample->taint & QS_TAINT_INTERRUPTED))
        return true;
    for (size_t count = PAGE; count == PAGE;) {
        struct qs_iterations it = {0};
        if (!qs_read_iterations(reader, sample->run_uid, from, PAGE, &it, err))
            return false;
        count = it.count;
        from = count ? it.at[count - 1].seq + 1 : from;
        add_page(t, &it, sample->n > 0 ? 0 : SOFT);
        qs_iterations_free(&it);
    }
    return true;
}

/* What stands behind `times` where each is a part of what was measured. */
static void put_measured(struct qs_json *j, const struct times *t)
{
    qs_json_kint(j, "evals", t->evals);
    qs_json_key(j, "durations_ns");
    qs_json_array(j);
    for (size_t i = 0; i < t->n; i++)
        qs_json_int(j, t->total_ns[i]);
    qs_json_array_end(j);
}

static void put_numbers(struct qs_json *j, const struct times *t)
{
    struct qs_summary s;
    double n = (double)t->n;
    (void)qs_describe(t->s, t->n, &s); /* without data every field is NaN: null */
    qs_json_kdouble(j, "mean", s.mean);
    qs_json_kdouble(j, "stddev", s.sd);
    qs_json_kdouble(j, "median", s.median);
    qs_json_kdouble(j, "user", t->n ? t->user_us / n / 1e6 : NAN);
    qs_json_kdouble(j, "system", t->n ? t->system_us / n / 1e6 : NAN);
    qs_json_kdouble(j, "min", s.min);
    qs_json_kdouble(j, "max", s.max);
    qs_json_key(j, "times");
    qs_json_array(j);
    for (size_t i = 0; i < t->n; i++)
        qs_json_double(j, t->s[i]);
    qs_json_array_end(j);
    if (t->evals > 1)
        put_measured(j, t);
    qs_json_key(j, "exit_codes");
    qs_json_array(j);
    for (size_t i = 0; i < t->n; i++)
        qs_json_int(j, t->exits[i]);
    qs_json_array_end(j);
}

static bool put_arm(struct qs_store_reader *reader, struct export *e, const json_t *result, const json_t *arm,
                    struct qs_json *j, struct qs_err *err)
{
    const struct qs_samples *samples = &e->compared.samples;
    const char *device = json_string_value(json_object_get(result, "device"));
    json_int_t point = json_integer_value(json_object_get(result, "point"));
    json_int_t index = json_integer_value(json_object_get(arm, "arm"));
    struct times t = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < samples->count; i++) {
        const struct qs_sample *s = &samples->at[i];
        if (s->point == point && s->arm == index && s->device && device && strcmp(s->device, device) == 0)
            ok = add_run(reader, s, &t, err);
    }
    qs_json_object(j);
    qs_json_kstring(j, "command", json_string_value(json_object_get(arm, "command")));
    qs_json_kstring(j, "name", json_string_value(json_object_get(arm, "name")));
    qs_json_kstring(j, "build", json_string_value(json_object_get(arm, "build")));
    qs_json_kstring(j, "point", json_string_value(json_object_get(result, "label")));
    qs_json_kstring(j, "device", device);
    put_numbers(j, &t);
    qs_json_object_end(j);
    free(t.s);
    free(t.total_ns);
    free(t.exits);
    return ok;
}

static bool check_amount(const struct qs_samples *samples, struct qs_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < samples->count; i++)
        n += samples->at[i].n + samples->at[i].n_tainted;
    return n <= ITERATIONS_MOST || qs_fail(err, QS_E_LIMIT,
                                           "%zu iterations are too many for one JSON document (%d): "
                                           "format=csv has no bound",
                                           n, ITERATIONS_MOST);
}

static bool put_results(struct qs_store_reader *reader, struct export *e, const json_t *document,
                        struct qs_err *err)
{
    struct qs_json j;
    size_t r, a;
    const json_t *result, *arm;
    bool ok = true;
    qs_json_init(&j, &e->out);
    qs_json_object(&j);
    qs_json_key(&j, "results");
    qs_json_array(&j);
    json_array_foreach(json_object_get(document, "results"), r, result)
    {
        json_array_foreach(json_object_get(result, "arms"), a, arm) ok =
            ok && put_arm(reader, e, result, arm, &j, err);
    }
    qs_json_array_end(&j);
    qs_json_kraw(&j, "quiesce", e->compared.document.data);
    qs_json_object_end(&j);
    return ok;
}

static bool read_export(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct export *e = ex->data;
    if (!qs_compare_read(reader, qs_store_path(ex->api->p.store), ex->match.id, &e->compared, err) ||
        !check_amount(&e->compared.samples, err))
        return false;
    json_t *document = json_loadb(e->compared.document.data, e->compared.document.len, 0, NULL);
    bool ok = document ? put_results(reader, e, document, err)
                       : qs_fail(err, QS_E_INTERNAL, "the comparison is no JSON");
    json_decref(document);
    return ok;
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
