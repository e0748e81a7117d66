/* benchmarkData.json of Jetpack's benchmarks, as a run of mode app has it: the iterations of one benchmark.
 * One of its times is their duration. Where that is one of `metrics`, each value is an iteration; where it is
 * one of `sampledMetrics` (the frames of each iteration) each sample is one, and what was measured once an
 * iteration stands at the first of its samples. */
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "formats/androidx.h"
#include "formats/document_impl.h"

#define MICRO 1e6
#define MOST  9e18

static const char file_mark[] = "quiesce: file ";
static const char groups[][16] = {"metrics", "sampledMetrics"};

struct chosen {
    const json_t *row;
    struct qs_json_at at; /* of the benchmark */
    const char *time;     /* the metric that is the duration */
    size_t group;         /* of `groups`: where it stands */
    double unit_ns;
};

static const char *name_of(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    return name ? name : "";
}

static bool choose_row(struct qs_document_build *b, const json_t *list, struct qs_json_at *at,
                       struct chosen *ret)
{
    size_t found = 0, n = json_array_size(list);
    QS_BUF(names);
    for (size_t i = 0; i < n; i++) {
        const json_t *row = json_array_get(list, i);
        qs_buf_fmt(&names, "%s%.60s", i > 0 ? ", " : "", i < 5 ? name_of(row) : "");
        if (b->form->benchmark && strcmp(b->form->benchmark, name_of(row)) != 0)
            continue;
        ret->row = row;
        ret->at = qs_json_at_index(at, i);
        found++;
    }
    if (n == 0)
        return qs_json_fail(at, NULL, "there is no benchmark in it: the test measured nothing");
    if (found == 0)
        return qs_json_fail(at, NULL, "no benchmark is called `%.100s`: there are %.300s", b->form->benchmark,
                            names.data);
    return found == 1 || qs_json_fail(at,
                                      b->form->benchmark ? "let `arguments: {class: ...}` choose one test"
                                                         : "say which in the job: benchmark: NAME",
                                      "several benchmarks: %.300s", names.data);
}

static const json_t *metric_at(const struct chosen *c, size_t group, const char *name)
{
    return json_object_get(json_object_get(c->row, groups[group]), name);
}

static bool is_time(const char *metric, double *ret_ns)
{
    enum qs_form_unit unit = qs_form_unit_of(qs_androidx_unit(metric));
    if (unit == QS_FORM_OTHER)
        return false;
    *ret_ns = qs_form_unit_ns(unit);
    return true;
}

/* The one that the job names, or the first of the usual ones, or the only time that there is. */
static bool choose_time(struct qs_document_build *b, struct chosen *c)
{
    static const char *const usual[] = {"timeToInitialDisplayMs", "timeNs", "frameDurationCpuMs"};
    enum { USUAL = sizeof usual / sizeof *usual };
    size_t times = 0, best = USUAL;
    QS_BUF(names);
    for (size_t g = 0; g < 2; g++) {
        const char *key;
        json_t *value;
        double unit_ns = 0;
        json_object_foreach(json_object_get(c->row, groups[g]), key, value)
        {
            qs_buf_fmt(&names, "%s%.60s", names.len > 0 ? ", " : "", key);
            if (!is_time(key, &unit_ns) || (b->form->metric && strcmp(key, b->form->metric) != 0))
                continue;
            size_t rank = 0;
            while (rank < USUAL && strcmp(usual[rank], key) != 0)
                rank++;
            times++;
            if (c->time && rank >= best)
                continue;
            best = rank;
            c->time = key;
            c->group = g;
            c->unit_ns = unit_ns;
        }
    }
    if (b->form->metric && !c->time)
        return qs_json_fail(&c->at, NULL, "no time is called `%.100s`: there are %.300s", b->form->metric,
                            names.len ? names.data : "no metrics");
    if (!c->time)
        return qs_json_fail(&c->at, NULL, "there is no time among its metrics: %.300s",
                            names.len ? names.data : "there are none");
    return times == 1 || best < USUAL ||
           qs_json_fail(&c->at, "say which in the job: metric: NAME", "several times: %.300s", names.data);
}

/* ---- values ---- */

static bool number_at(const struct qs_json_at *at, const json_t *v, double *ret)
{
    if (!json_is_real(v))
        return qs_json_fail(at, NULL, "expected a number");
    *ret = json_real_value(v);
    return true;
}

static bool add_time(struct qs_document_build *b, const struct qs_json_at *at, const json_t *v,
                     double unit_ns)
{
    double value = 0;
    b->r->where = at;
    bool ok = number_at(at, v, &value) && qs_document_add(b, value * unit_ns, NULL);
    b->r->where = NULL;
    return ok;
}

static struct qs_json_at at_runs(const struct chosen *c, size_t group, const char *metric)
{
    struct qs_json_at at = qs_json_at_key(&c->at, groups[group]);
    at = qs_json_at_key(&at, metric);
    return qs_json_at_key(&at, "runs");
}

/* The durations; *lengths: how many samples each iteration has. */
static bool take_times(struct qs_document_build *b, const struct chosen *c, const json_t *runs)
{
    const struct qs_json_at at = at_runs(c, c->group, c->time);
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *one = json_array_get(runs, i);
        const struct qs_json_at here = qs_json_at_index(&at, i);
        if (c->group == 0) {
            if (!add_time(b, &here, one, c->unit_ns))
                return false;
            continue;
        }
        if (!json_is_array(one))
            return qs_json_fail(&here, NULL, "expected a list, the samples of one iteration");
        for (size_t k = 0; k < json_array_size(one); k++) {
            const struct qs_json_at deeper = qs_json_at_index(&here, k);
            if (!add_time(b, &deeper, json_array_get(one, k), c->unit_ns))
                return false;
        }
    }
    return b->to->n > 0 || qs_json_fail(&at, NULL, "there is no value in it");
}

/* ---- metrics ---- */

static size_t add_metric(struct qs_document *d, const char *key)
{
    double unit_ns = 0;
    bool time = is_time(key, &unit_ns);
    const char *unit = qs_androidx_unit(key);
    d->metrics[d->metric_count] = (struct qs_document_metric){
        .name = qs_asprintf("%s_%s", key, time ? "ns" : "micro"),
        .unit = time ? qs_strdup("ns") : qs_asprintf(unit[0] ? "1e-6 %s" : "1e-6%s", unit)};
    return d->metric_count++;
}

static int64_t whole_of(const char *key, const json_t *v)
{
    double unit_ns = MICRO, value = json_is_real(v) ? json_real_value(v) : NAN;
    (void)is_time(key, &unit_ns);
    value = nearbyint(value * unit_ns);
    return fabs(value) < MOST ? (int64_t)value : INT64_MIN;
}

/* As many samples in each iteration as the times have? */
static bool has_shape(const json_t *runs, const json_t *times)
{
    bool same = json_array_size(runs) == json_array_size(times);
    for (size_t i = 0; same && i < json_array_size(times); i++)
        same = json_array_size(json_array_get(runs, i)) == json_array_size(json_array_get(times, i));
    return same;
}

struct column {
    const char *key;
    const json_t *runs;
    bool sampled;
};

/* What stands beside the times, iteration by iteration. */
static size_t find_columns(struct qs_document *d, const struct chosen *c, const json_t *times,
                           struct column columns[QS_DOCUMENT_METRICS])
{
    size_t n = 0;
    for (size_t g = 0; g <= c->group; g++) {
        const char *key;
        json_t *value;
        json_object_foreach(json_object_get(c->row, groups[g]), key, value)
        {
            const json_t *runs = json_object_get(value, "runs");
            bool fits = g == 1 ? has_shape(runs, times) : json_array_size(runs) == json_array_size(times);
            if (d->metric_count == QS_DOCUMENT_METRICS || !fits ||
                (g == c->group && strcmp(key, c->time) == 0) ||
                strlen(key) + strlen("_micro") > QS_DOCUMENT_METRIC_BYTES)
                continue;
            (void)add_metric(d, key);
            columns[n++] = (struct column){key, runs, g == 1};
        }
    }
    return n;
}

static void take_metrics(struct qs_document *d, const struct chosen *c, const json_t *times)
{
    struct column columns[QS_DOCUMENT_METRICS];
    size_t at = 0;
    if (c->group == 1)
        d->metrics[d->metric_count++] =
            (struct qs_document_metric){.name = qs_strdup("repeat"), .unit = qs_strdup("")};
    size_t first = d->metric_count, n = find_columns(d, c, times, columns);
    d->values = qs_calloc(d->n * d->metric_count + 1, sizeof *d->values);
    for (size_t i = 0; i < json_array_size(times); i++) {
        size_t samples = c->group == 1 ? json_array_size(json_array_get(times, i)) : 1;
        for (size_t k = 0; k < samples; k++, at++) {
            int64_t *to = &d->values[at * d->metric_count];
            if (c->group == 1)
                to[0] = (int64_t)i;
            for (size_t m = 0; m < n; m++) {
                const json_t *v = json_array_get(columns[m].runs, i);
                v = columns[m].sampled ? json_array_get(v, k) : k == 0 ? v : NULL;
                to[first + m] = whole_of(columns[m].key, v);
            }
        }
    }
}

bool qs_document_androidx(struct qs_document_build *b)
{
    json_auto_t *doc = qs_json_load(b->r);
    const struct qs_json_at top = {.r = b->r};
    struct chosen c = {.row = NULL};
    if (!doc)
        return false;
    const json_t *list = qs_json_want(&top, doc, "benchmarks", JSON_ARRAY);
    struct qs_json_at at = qs_json_at_key(&top, "benchmarks");
    if (!list || !choose_row(b, list, &at, &c) || !choose_time(b, &c))
        return false;
    struct qs_json_at of_metric = qs_json_at_key(&c.at, groups[c.group]);
    of_metric = qs_json_at_key(&of_metric, c.time);
    const json_t *runs = qs_json_want(&of_metric, metric_at(&c, c.group, c.time), "runs", JSON_ARRAY);
    if (!runs || !take_times(b, &c, runs))
        return false;
    take_metrics(b->to, &c, runs);
    return true;
}

const char *qs_document_androidx_body(const char *text)
{
    const char *at = text;
    while (*at != '\0' && strncmp(at, file_mark, sizeof file_mark - 1) != 0) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    at += strcspn(at, "\n");
    return at + (*at == '\n');
}
