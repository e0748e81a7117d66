#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/job/read_actions.h"
#include "config/document/scalar.h"
#include "config/farm/sensors.h"
#include "proto/limits.h"
#include "proto/names.h"

#define AMBIENT "ambient"

/* A bound in the unit of the sensor; false with a problem. */
static bool read_bound(struct qs_schema_reader *r, const struct qs_sensor_kind *sensor,
                       const struct qs_node *node, int64_t *ret)
{
    struct qs_scalar_why why = {0};
    QS_BUF(form);
    qs_buf_fmt(&form, "a value such as %s", qs_sensor_example(sensor));
    const char *text = qs_schema_text(r, node, form.data);
    bool ok = text != NULL && qs_sensor_value(sensor, text, ret, &why);
    if (text != NULL && !ok) {
        qs_buf_clear(&form);
        qs_buf_fmt(&form, "write it as %s", qs_sensor_example(sensor));
        qs_schema_problem(r, node, why.suggestion[0] != '\0' ? why.suggestion : form.data, "%s", why.text);
    }
    return ok;
}

/* "ambient+8C", or "ambient": what the ambient temperature is added to. False: it is something else. */
static bool is_relative(const struct qs_node *node)
{
    return node->kind == QS_NODE_TEXT && strncmp(node->text, AMBIENT, sizeof AMBIENT - 1) == 0;
}

static bool read_relative(struct qs_schema_reader *r, const struct qs_sensor_kind *sensor,
                          const struct qs_node *node, int64_t *ret)
{
    struct qs_scalar_why why = {0};
    const char *at = node->text + sizeof AMBIENT - 1;
    at += strspn(at, " ");
    const char sign = *at;
    at += sign == '+' || sign == '-';
    at += strspn(at, " ");
    *ret = 0;
    bool ok = sign == '\0' || ((sign == '+' || sign == '-') &&
                               qs_scalar_quantity(at, QS_QTY_TEMPERATURE, ret, &why) && *ret >= 0);
    if (sensor->unit != QS_UNIT_MC)
        qs_schema_problem(r, node, NULL, "only a temperature can be compared with the ambient one");
    else if (!ok)
        qs_schema_problem(r, node, "such as ambient+8C", "`%s` is not a temperature beside the ambient one",
                          qs_show(node->text).text);
    *ret = sign == '-' ? -*ret : *ret;
    return ok && sensor->unit == QS_UNIT_MC;
}

static bool read_gate_bound(struct qs_schema_reader *r, const struct qs_sensor_kind *sensor,
                            const struct qs_node *node, int64_t *ret, bool *ret_ambient)
{
    *ret_ambient = is_relative(node);
    return *ret_ambient ? read_relative(r, sensor, node, ret) : read_bound(r, sensor, node, ret);
}

static const struct qs_sensor_kind *find_sensor(struct qs_schema_reader *r, const struct qs_node *node,
                                                bool bound)
{
    QS_BUF(out);
    const struct qs_sensor_kind *sensor = qs_sensor_find(node->text, &out);
    if (sensor == NULL)
        qs_schema_problem(r, node, out.data, "no sensor has the name `%s`", qs_show(node->text).text);
    else if (bound && !sensor->rises)
        qs_schema_problem(r, node, "put it into the gate",
                          "`%s` goes up and down: a rise during a window says nothing",
                          qs_show(node->text).text);
    else if (!bound && !sensor->gauge)
        qs_schema_problem(r, node, "put it into `bounds`", "`%s` only rises: nothing to wait for",
                          qs_show(node->text).text);
    bool fits = sensor != NULL && (bound ? sensor->rises : sensor->gauge);
    if (strlen(node->text) > QS_NAME_MAX_BYTES)
        qs_schema_problem(r, node, NULL, "a sensor's name has at most %d bytes", QS_NAME_MAX_BYTES);
    return fits ? sensor : NULL;
}

static void read_band(struct qs_schema_reader *r, const struct qs_sensor_kind *sensor,
                      const struct qs_node *node, struct qs_job_expectation *e)
{
    size_t mark = qs_schema_enter(r, "band");
    if (qs_schema_is(r, node, QS_NODE_LIST, "a list of two bounds")) {
        if (node->count != 2)
            qs_schema_problem(r, node, NULL, "a band has two bounds, this has %zu", node->count);
        else if (read_gate_bound(r, sensor, &node->items[0], &e->lo, &e->lo_ambient) &&
                 read_gate_bound(r, sensor, &node->items[1], &e->hi, &e->hi_ambient) &&
                 (e->lo_ambient != e->hi_ambient || e->lo >= e->hi))
            qs_schema_problem(r, node,
                              e->lo_ambient == e->hi_ambient ? "write the lower bound first"
                                                             : "such as [ambient-2C, ambient+8C]",
                              e->lo_ambient == e->hi_ambient
                                  ? "the band is empty"
                                  : "both ends are relative to `ambient`, or none");
        e->has_lo = e->has_hi = true;
    }
    qs_schema_leave(r, mark);
}

static void read_end(struct qs_schema_reader *r, const struct qs_sensor_kind *sensor,
                     const struct qs_node *map, struct qs_job_expectation *e)
{
    const struct qs_node *end = qs_node_get(map, "end_below", NULL);
    size_t mark = qs_schema_enter(r, "end_below");
    if (end != NULL && sensor->unit != QS_UNIT_MC)
        qs_schema_problem(r, end, "leave `end_below` out", "`%s` is no temperature", qs_show(e->sensor).text);
    else if (end != NULL)
        e->has_end = read_bound(r, sensor, end, &e->end);
    qs_schema_leave(r, mark);
}

static void read_back(struct qs_schema_reader *r, const struct qs_sensor_kind *sensor,
                      const struct qs_node *map, struct qs_job_expectation *e)
{
    const struct qs_node *back = qs_node_get(map, "back_to", NULL);
    size_t mark = qs_schema_enter(r, "back_to");
    bool ambient = false;
    if (back != NULL && !e->has_hi)
        qs_schema_problem(r, back, "write `below`, or `band` with two bounds",
                          "`back_to` needs an upper bound");
    else if (back != NULL)
        e->has_back = read_gate_bound(r, sensor, back, &e->back, &ambient);
    if (e->has_back && ambient != e->hi_ambient) {
        qs_schema_problem(r, back, "write both as ambient+8C, or none",
                          "`back_to` and the upper bound are not of one kind");
        e->has_back = false;
    }
    if (e->has_back && (e->back > e->hi || (e->has_lo && e->back < e->lo)))
        qs_schema_problem(r, back, "write a value within the range", "`%s` is %s", qs_show(back->text).text,
                          e->back > e->hi ? "above the upper bound" : "below the lower bound");
    qs_schema_leave(r, mark);
}

const struct qs_sensor_kind *qs_job_read_when(struct qs_schema_reader *r, const struct qs_node *map,
                                              const char *what, struct qs_job_expectation *e)
{
    const struct qs_node *name = qs_node_get(map, "sensor", NULL);
    const struct qs_node *below = qs_node_get(map, "below", NULL);
    const struct qs_node *above = qs_node_get(map, "above", NULL);
    const struct qs_node *band = qs_node_get(map, "band", NULL);
    size_t mark = qs_schema_enter(r, "sensor");
    const struct qs_sensor_kind *sensor = find_sensor(r, name, false);
    qs_schema_leave(r, mark);
    if ((below != NULL) + (above != NULL) + (band != NULL) != 1)
        qs_schema_problem(r, NULL, NULL, "%s has one of `below`, `above` and `band`", what);
    if (sensor == NULL)
        return NULL;
    if (band != NULL)
        read_band(r, sensor, band, e);
    mark = qs_schema_enter(r, below != NULL ? "below" : "above");
    if (below != NULL)
        e->has_hi = read_gate_bound(r, sensor, below, &e->hi, &e->hi_ambient);
    else if (above != NULL)
        e->has_lo = read_gate_bound(r, sensor, above, &e->lo, &e->lo_ambient);
    qs_schema_leave(r, mark);
    return sensor;
}

static void check_expectation(struct qs_schema_reader *r, const struct qs_node *map, void *target)
{
    struct qs_job_expectation *e = target;
    const struct qs_node *name = qs_node_get(map, "sensor", NULL);
    const struct qs_sensor_kind *sensor =
        name != NULL && e->sensor != NULL ? qs_job_read_when(r, map, "an expectation", e) : NULL;
    if (sensor == NULL)
        return;
    size_t mark = qs_schema_enter(r, "heat");
    const struct qs_node *heat = qs_node_get(map, "heat", NULL);
    if (e->heat && sensor->unit != QS_UNIT_MC)
        qs_schema_problem(r, heat, "leave `heat` out", "`%s` is no temperature", qs_show(name->text).text);
    else if (e->heat && qs_node_get(map, "above", NULL) == NULL && qs_node_get(map, "band", NULL) == NULL)
        qs_schema_problem(r, heat, "write `above`, or `band` with two bounds", "`heat` needs a lower bound");
    qs_schema_leave(r, mark);
    read_end(r, sensor, map, e);
    read_back(r, sensor, map, e);
}

void qs_job_read_later(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at)
{
    (void)r;
    (void)key;
    (void)node;
    (void)at;
}

#define EXPECT(field) offsetof(struct qs_job_expectation, field)

static const struct qs_word timeout_words[] = {{"taint", QS_ON_TIMEOUT_TAINT},
                                               {"defer", QS_ON_TIMEOUT_DEFER},
                                               {"requeue", QS_ON_TIMEOUT_REQUEUE},
                                               {"fail", QS_ON_TIMEOUT_FAIL},
                                               {NULL, 0}};

static const struct qs_key gate_keys[] = {
    {.name = "sensor",
     .type = QS_KEY_TEXT,
     .offset = EXPECT(sensor),
     .min = 1,
     .max = QS_NAME_MAX_BYTES,
     .required = true,
     .help = "What is read on the device, such as `thermal:x86_pkg_temp`."},
    {.name = "below",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_later,
     .form = "a value with the sensor's unit",
     .help = "The reading is at most this. Of a temperature also `ambient+8C`: so much above the ambient one "
             "(`ambient` of farm.yaml), as the two that follow."},
    {.name = "above",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_later,
     .form = "a value with the sensor's unit",
     .help = "The reading is at least this."},
    {.name = "band",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_later,
     .form = "a list of two values",
     .help = "Both."},
    {.name = "end_below",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_later,
     .form = "a temperature",
     .help = "After the window the reading is at most this, or the window is tainted."},
    {.name = "back_to",
     .type = QS_KEY_CUSTOM,
     .read = qs_job_read_later,
     .form = "a value with the sensor's unit",
     .help = "A reading that was above the upper bound while the gate waits must come down to this before "
             "the gate opens; "
             "without it, to the bound. It counts as a second line of the gate."},
    {.name = "dwell",
     .type = QS_KEY_DURATION,
     .offset = EXPECT(dwell_ns),
     .min = 0,
     .max = 3600 * INT64_C(1000000000),
     .fallback = "0",
     .help = "How long it must have held."},
    {.name = "timeout",
     .type = QS_KEY_DURATION,
     .offset = EXPECT(timeout_ns),
     .min = 0,
     .max = 86400 * INT64_C(1000000000),
     .fallback = "5s",
     .help = "How long to wait for it."},
    {.name = "on_timeout",
     .type = QS_KEY_ENUM,
     .offset = EXPECT(on_timeout),
     .words = timeout_words,
     .fallback = "taint",
     .help = "What happens then: run and taint, give the device back and keep the place in the queue, go to "
             "the end of the queue, or fail."},
    {.name = "backoff",
     .type = QS_KEY_BOOL,
     .offset = EXPECT(backoff),
     .fallback = "true",
     .help = "Whether each window in a row that was tainted halves the wait of the next: a neighbour that "
             "stays then costs twice the timeout in all."},
    {.name = "unreadable_ok",
     .type = QS_KEY_BOOL,
     .offset = EXPECT(unreadable_ok),
     .fallback = "false",
     .help = "Whether a sensor that the device lacks counts as satisfied."},
    {.name = "heat",
     .type = QS_KEY_BOOL,
     .offset = EXPECT(heat),
     .fallback = "false",
     .help =
         "Whether the device is warmed while it is colder than the lower bound: its processors are kept busy "
         "until a quarter of the band (without an upper bound: one degree) is passed. Nothing else of the "
         "gate "
         "is looked at meanwhile."},
    {0}};
static const struct qs_table gate_table = {
    .keys = gate_keys, .size_bytes = sizeof(struct qs_job_expectation), .check = check_expectation};

const struct qs_table *qs_job_gate_table(void)
{
    return &gate_table;
}

/* Each line with `back_to` has another one behind it. */
static void add_returns(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_conditions *set)
{
    size_t more = 0, n = 0;
    for (size_t i = 0; i < set->gate_count; i++)
        more += set->gate[i].has_back;
    if (more == 0)
        return;
    if (set->gate_count + more > QS_GATE_OLD_MAX) {
        qs_schema_problem(r, node, NULL, "a gate has at most %d lines, and each `back_to` is one of them",
                          QS_GATE_OLD_MAX);
        return;
    }
    struct qs_job_expectation *all = qs_calloc(set->gate_count + more, sizeof *all);
    for (size_t i = 0; i < set->gate_count; i++) {
        const struct qs_job_expectation *e = &set->gate[i];
        all[n++] = *e;
        if (!e->has_back)
            continue;
        all[n] = *e;
        all[n].sensor = qs_strdup(e->sensor);
        all[n].has_lo = all[n].lo_ambient = all[n].has_end = all[n].has_back = all[n].heat =
            all[n].unreadable_ok = false;
        all[n].hi = e->back;
        all[n++].returns = true;
    }
    free(set->gate);
    set->gate = all;
    set->gate_count = n;
}

void qs_job_read_gate(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at)
{
    static const struct qs_key list = {.name = "gate",
                                       .type = QS_KEY_LIST,
                                       .offset = offsetof(struct qs_job_conditions, gate),
                                       .count_offset = offsetof(struct qs_job_conditions, gate_count),
                                       .min = 1,
                                       .max = QS_GATE_OLD_MAX,
                                       .table = &gate_table,
                                       .help = "`gate: none` switches it off"};
    (void)key;
    if (node->kind != QS_NODE_TEXT || strcmp(node->text, "none") != 0) {
        if (node->kind == QS_NODE_LIST) {
            qs_schema_value(r, &list, node, at);
            add_returns(r, node, at);
        } else {
            qs_schema_is(r, node, QS_NODE_LIST, "none, or a list of expectations");
        }
    }
}

static void read_bound_row(struct qs_schema_reader *r, const struct qs_node *kind,
                           const struct qs_node *value, struct qs_job_bound *out)
{
    size_t mark = qs_schema_enter(r, kind->text);
    const struct qs_sensor_kind *sensor = find_sensor(r, kind, true);
    out->kind = qs_strdup(kind->text);
    if (sensor != NULL && read_bound(r, sensor, value, &out->bound) && out->bound < 0)
        qs_schema_problem(r, value, NULL, "a bound is not negative");
    qs_schema_leave(r, mark);
}

void qs_job_read_bounds(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at)
{
    (void)key;
    struct qs_job_conditions *set = at;
    if (node->kind == QS_NODE_TEXT && strcmp(node->text, "none") == 0)
        return;
    if (!qs_schema_is(r, node, QS_NODE_MAP, "none, or a map of evidence to bound"))
        return;
    if (node->count == 0 || node->count > QS_BOUNDS_MAX) {
        qs_schema_problem(r, node, "`bounds: none` switches them off", "1 to %d bounds", QS_BOUNDS_MAX);
        return;
    }
    set->bounds = qs_calloc(node->count, sizeof(*set->bounds));
    for (size_t i = 0; i < node->count; i++)
        read_bound_row(r, &node->keys[i], &node->items[i], &set->bounds[set->bound_count++]);
}

/* The gate of this machine waits for a quiet processor, since averaged load waits for our own past. Bounds:
 * 20 ms of stolen time is one percent of the longest usual window and a half of the shortest; a process with
 * a processor for itself is preempted some tens of times a second, so a thousand times in a window means that
 * something else ran in its place (or that a job has more threads than processors, and then says so itself).
 * A harness program that has one process more after a window than before it measured two of them. A window of
 * modes stream and app is as long as its program: no bound of ours fits, all is recorded. */
void qs_job_default_conditions(struct qs_job_spec *spec, const struct qs_node *written)
{
    struct qs_job_conditions *own = &spec->conditions[0];
    if (qs_node_get(written, "gate", NULL) == NULL) {
        own->gate = qs_calloc(1, sizeof(*own->gate));
        own->gate_count = 1;
        own->gate[0] = (struct qs_job_expectation){.sensor = qs_strdup(QS_SENSOR_CPU_BUSY),
                                                   .has_hi = true,
                                                   .hi = 100000,
                                                   .timeout_ns = 5 * INT64_C(1000000000),
                                                   .on_timeout = QS_ON_TIMEOUT_TAINT,
                                                   .backoff = true};
    }
    size_t streams = 0;
    for (size_t i = 0; i < spec->benchmark_count; i++)
        streams += qs_job_is_streamed(&spec->benchmarks[i]) ? 1 : 0;
    if (qs_node_get(written, "bounds", NULL) == NULL && streams < spec->benchmark_count) {
        own->bounds = qs_calloc(3, sizeof(*own->bounds));
        own->bound_count = 2;
        own->bounds[0] = (struct qs_job_bound){qs_strdup(QS_SENSOR_CPU_STEAL), 2};
        own->bounds[1] = (struct qs_job_bound){qs_strdup(QS_SENSOR_INVOLUNTARY), 1000};
        for (size_t i = 0; i < spec->benchmark_count && own->bound_count < 3; i++)
            if (spec->benchmarks[i].mode == QS_MODE_HARNESS)
                own->bounds[own->bound_count++] =
                    (struct qs_job_bound){qs_strdup(QS_SENSOR_PROGRAM_CHILDREN), 0};
    }
    if (own->controls.cpus == NULL)
        own->controls.cpus = qs_strdup("");
}
