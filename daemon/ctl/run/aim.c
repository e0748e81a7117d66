#include "ctl/run/aim.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client/api.h"
#include "ctl/run/run.h"

/* A bound that a device hardly ever meets taints what it is there to protect: only real heat is waited out,
 * and its own rising under load is not. */
enum { WARM_C = 60, ABOVE_NOW_C = 15, PLAUSIBLE_LO_MC = 5000, PLAUSIBLE_HI_MC = 120000 };

static const json_t *row_of(const json_t *rows, const char *name)
{
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (strcmp(qs_json_get_text(row, "name", ""), name) == 0)
            return row;
    }
    return NULL;
}

/* ---- clocks ---- */

/* Ranges of processors ("0-3,6") with one in common. */
static bool overlap(const char *a, const char *b)
{
    for (; *a != '\0'; a += strcspn(a, ","), a += *a == ',') {
        unsigned a_lo = 0, a_hi = 0, b_lo = 0, b_hi = 0;
        if (sscanf(a, "%u-%u", &a_lo, &a_hi) < 2)
            a_hi = a_lo;
        for (const char *s = b; *s != '\0'; s += strcspn(s, ","), s += *s == ',') {
            if (sscanf(s, "%u-%u", &b_lo, &b_hi) < 2)
                b_hi = b_lo;
            if (a_lo <= b_hi && b_lo <= a_hi)
                return true;
        }
    }
    return false;
}

/* The processors of the job, or NULL: any. */
static const char *cpus_of(const json_t *job, const json_t *board)
{
    const char *word = qs_json_get_text(json_object_get(job, "conditions"), "affinity", "all");
    const json_t *cluster = row_of(json_object_get(board, "clusters"), word);
    if (word[0] >= '0' && word[0] <= '9')
        return word;
    return cluster != NULL ? qs_json_get_text(cluster, "cpus", NULL) : NULL;
}

struct clocks {
    size_t count, held, readable; /* of those that the job's processors have */
    bool all_held;                /* of all processors: `max` writes them all */
    struct qs_buf names;
    const char *why; /* of the first that cannot be held; borrowed */
};

/* An earlier trial may have found that what is written does not stay. */
static const char *trial_of(const json_t *device, const char *name)
{
    const json_t *row = row_of(json_object_get(json_object_get(device, "knobs"), "rows"), name);
    const char *sticks = qs_json_get_text(row, "sticks", "yes");
    bool well = strcmp(sticks, "yes") == 0 || strcmp(sticks, "late") == 0 || strcmp(sticks, "untried") == 0;
    return well ? NULL : qs_json_get_text(row, "why", sticks);
}

static bool is_readable(const json_t *domain)
{
    return json_array_size(json_object_get(domain, "steps_khz")) > 0 &&
           strcmp(qs_json_get_text(domain, "unit", ""), "raw") != 0 &&
           (qs_json_get_int(domain, "current_khz", 0) > 0 ||
            json_is_string(json_object_get(domain, "residency_file")));
}

static void look(const json_t *job, const json_t *device, struct clocks *c)
{
    size_t i;
    const json_t *d, *board = json_object_get(device, "board");
    const char *cpus = cpus_of(job, board);
    c->all_held = true;
    json_array_foreach(json_object_get(board, "domains"), i, d)
    {
        const char *name = qs_json_get_text(d, "name", "");
        const char *own = qs_json_get_text(d, "cpus", NULL), *trial = trial_of(device, name);
        if (strcmp(qs_json_get_text(d, "kind", ""), "cpu") != 0)
            continue;
        bool held = strcmp(qs_json_get_text(d, "hold", ""), "ok") == 0 && trial == NULL;
        c->all_held = c->all_held && held;
        if (!held && c->why == NULL)
            c->why = trial != NULL ? trial : qs_json_get_text(d, "why", NULL);
        if (cpus != NULL && own != NULL && !overlap(cpus, own))
            continue;
        qs_buf_fmt(&c->names, "%s%s", c->count > 0 ? ", " : "", name);
        c->count++;
        c->held += held;
        c->readable += is_readable(d);
    }
}

static void aim_clocks(json_t *job, const json_t *device, struct qs_buf *said)
{
    json_t *conditions = json_object_get(job, "conditions");
    struct clocks c = {.count = 0};
    qs_buf_init(&c.names);
    look(job, device, &c);
    const char *why = c.why != NULL ? c.why : "its files do not say how";
    if (!json_is_object(json_object_get(device, "board"))) {
        qs_buf_str(said, "nobody has looked at it yet, so nothing of it is held");
    } else if (c.count == 0) {
        qs_buf_str(said, "it shows no clocks of its processors: nothing is held");
    } else if (c.all_held) {
        json_object_set_new(conditions, "frequency", json_string("max"));
        qs_buf_fmt(said, "holds %s at the highest frequency", c.names.data);
    } else if (c.count == 1 && c.readable == 1) {
        json_object_set_new(conditions, "frequency", json_string("hold"));
        qs_buf_fmt(said,
                   "brings %s to its highest frequency by load before each window, and writes nothing: %s",
                   c.names.data, why);
    } else {
        qs_buf_fmt(said, "does not hold %s: %s", c.names.data, why);
        if (c.readable == c.count)
            qs_buf_str(said,
                       " (with --affinity to processors of one clock it is brought to its highest by load)");
    }
    qs_buf_done(&c.names);
}

/* ---- the gate ---- */

static bool is_plausible(int64_t mc)
{
    return mc >= PLAUSIBLE_LO_MC && mc <= PLAUSIBLE_HI_MC;
}

/* As it is now, or was when the device was looked at. */
static int64_t degrees_of(const json_t *sensor, const json_t *readings)
{
    const char *name = qs_json_get_text(sensor, "name", "");
    int64_t then_mc = qs_json_get_int(sensor, "value", 0);
    size_t i;
    const json_t *r;
    json_array_foreach(json_object_get(readings, "readings"), i, r)
    {
        if (strcmp(qs_json_get_text(r, "sensor", ""), name) == 0 &&
            is_plausible(qs_json_get_int(r, "value", 0)))
            return qs_json_get_int(r, "value", 0);
    }
    return then_mc;
}

/* The warmest that is near its processors. */
static const char *warmest(const json_t *device, const json_t *readings, int64_t *ret_mc)
{
    static const char *const degrees[] = {"auto", "mC", "dC", "C"};
    const char *found = NULL;
    size_t i;
    const json_t *s;
    json_array_foreach(json_object_get(json_object_get(device, "board"), "sensors"), i, s)
    {
        const char *unit = qs_json_get_text(s, "unit", "");
        int64_t mc = degrees_of(s, readings);
        bool warm = strcmp(qs_json_get_text(s, "role", ""), "cpu") == 0 &&
                    strcmp(qs_json_get_text(s, "status", ""), "ok") == 0 && is_plausible(mc);
        bool is_degrees = false;
        for (size_t k = 0; k < sizeof degrees / sizeof degrees[0]; k++)
            is_degrees = is_degrees || strcmp(unit, degrees[k]) == 0;
        if (warm && is_degrees && (found == NULL || mc > *ret_mc)) {
            found = qs_json_get_text(s, "name", "");
            *ret_mc = mc;
        }
    }
    return found;
}

static void aim_gate(json_t *job, const json_t *device, const json_t *readings, struct qs_buf *said)
{
    json_t *conditions = json_object_get(job, "conditions");
    json_t *gate = json_pack("[o]", qs_run_gate_line("cpu.busy_ratio_ppm", "10%", "1s"));
    int64_t now_mc = 0;
    const char *sensor = warmest(device, readings, &now_mc);
    qs_buf_str(said, "; windows begin when it is at most 10 % busy");
    if (sensor != NULL) {
        char bound[24];
        int64_t above_c = now_mc / 1000 + ABOVE_NOW_C;
        int64_t bound_c = above_c > WARM_C ? above_c : WARM_C;
        snprintf(bound, sizeof bound, "%" PRId64 "C", bound_c);
        json_array_append_new(gate, qs_run_gate_line(sensor, bound, "3s"));
        qs_buf_fmt(said, " and %s at most %" PRId64 " °C", sensor, bound_c);
    }
    json_object_set_new(conditions, "gate", gate);
    json_object_set_new(conditions, "patience", json_string("15s"));
}

void qs_run_aim(json_t *job, const json_t *device, const json_t *readings, struct qs_buf *said)
{
    const char *name = qs_json_get_text(device, "name", "");
    QS_BUF(where);
    qs_buf_fmt(&where, "name == \"%s\"", name);
    json_object_set_new(json_object_get(job, "devices"), "where", json_string(where.data));
    qs_buf_fmt(said, "%s: ", name);
    aim_clocks(job, device, said);
    aim_gate(job, device, readings, said);
    qs_buf_fmt(said, "; `quiesce devices show %s` tells more", name);
}
