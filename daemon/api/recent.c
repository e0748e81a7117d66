#include "api/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/scope.h"
#include "base/text.h"
#include "store/read/recent.h"

#define SPAN_NS (15 * 60 * INT64_C(1000000000))
enum { SENSORS_MOST = 128, POINTS_MOST = 60 };

/* ---- the last session ---- */

struct session {
    struct qs_json j;
    uint8_t uid[16];
    bool found;
};

static void put_session(const struct qs_last_session *e, void *user)
{
    struct session *s = user;
    char uid[33];
    s->found = true;
    memcpy(s->uid, e->uid, sizeof s->uid);
    qs_hex(e->uid, sizeof e->uid, uid);
    qs_json_object(&s->j);
    qs_json_kstring(&s->j, "session", uid);
    qs_json_kint(&s->j, "job", e->job);
    qs_json_kstring(&s->j, "name", e->job_name);
    qs_json_kstring(&s->j, "job_state", e->job_state);
    qs_json_kint(&s->j, "started_wall_ns", e->started_wall_ns);
    qs_json_kmaybe(&s->j, "ended_wall_ns", e->ended_wall_ns > 0, e->ended_wall_ns);
    qs_json_kstring(&s->j, "reason", e->end_reason);
    qs_json_kint(&s->j, "runs", e->runs);
    qs_json_kint(&s->j, "windows", e->windows);
    qs_json_kint(&s->j, "tainted", e->tainted);
    qs_json_kint(&s->j, "iterations", e->iterations);
}

static void put_taint(const char *code, int64_t windows, void *user)
{
    struct qs_json *j = user;
    qs_json_object(j);
    qs_json_kstring(j, "code", code);
    qs_json_kint(j, "windows", windows);
    qs_json_object_end(j);
}

bool qs_read_session_json(struct qs_store_reader *reader, const char *device, struct qs_buf *out,
                          struct qs_err *err)
{
    struct session s = {.j = qs_json_to(out)};
    if (!qs_read_last_session(reader, device, put_session, &s, err))
        return false;
    if (!s.found) {
        qs_buf_str(out, "null");
        return true;
    }
    qs_json_karray(&s.j, "taints");
    bool ok = qs_read_session_taints(reader, s.uid, put_taint, &s.j, err);
    qs_json_array_end(&s.j);
    qs_json_object_end(&s.j);
    return ok;
}

/* ---- the last readings ---- */

struct point {
    int64_t wall_ns, value;
};
struct series {
    char *sensor; /* owned, as the next one */
    struct point *at;
    size_t count;
};
struct recent {
    struct series sensors[SENSORS_MOST];
    size_t count;
    int64_t newest_ns;
};

static void done(struct recent *r)
{
    for (size_t i = 0; i < r->count; i++) {
        free(r->sensors[i].sensor);
        free(r->sensors[i].at);
    }
    free(r);
}

static void take(const struct qs_recent_reading *reading, void *user)
{
    struct recent *r = user;
    struct series *s = r->count > 0 ? &r->sensors[r->count - 1] : NULL;
    if (s == NULL || strcmp(s->sensor, reading->sensor) != 0) {
        if (r->count == SENSORS_MOST)
            return;
        s = &r->sensors[r->count++];
        *s = (struct series){.sensor = qs_strdup(reading->sensor)};
    }
    s->at = qs_grow(s->at, s->count, sizeof *s->at);
    s->at[s->count++] = (struct point){reading->wall_ns, reading->value};
    r->newest_ns = reading->wall_ns > r->newest_ns ? reading->wall_ns : r->newest_ns;
}

/* Every so many, and always the last one. */
static void put_series(const struct series *s, int64_t from_ns, struct qs_json *j)
{
    size_t first = 0;
    while (first < s->count && s->at[first].wall_ns < from_ns)
        first++;
    size_t n = s->count - first, step = 1 + (n > 0 ? (n - 1) / POINTS_MOST : 0);
    if (n == 0)
        return;
    qs_json_object(j);
    qs_json_kstring(j, "sensor", s->sensor);
    qs_json_karray(j, "points");
    for (size_t i = (n - 1) % step; i < n; i += step) {
        const struct point *p = &s->at[first + i];
        qs_json_array(j);
        qs_json_int(j, (p->wall_ns - from_ns) / 1000000);
        qs_json_int(j, p->value);
        qs_json_array_end(j);
    }
    qs_json_array_end(j);
    qs_json_object_end(j);
}

bool qs_read_recent_json(struct qs_store_reader *reader, const char *device, struct qs_buf *out,
                         struct qs_err *err)
{
    struct recent *r = qs_calloc(1, sizeof *r);
    struct qs_json j = qs_json_to(out);
    bool ok = qs_read_recent(reader, device, take, r, err);
    int64_t from_ns = r->newest_ns - SPAN_NS;
    if (r->count == 0) {
        qs_buf_str(out, "null");
    } else {
        qs_json_object(&j);
        qs_json_kint(&j, "from_wall_ns", from_ns);
        qs_json_kint(&j, "newest_wall_ns", r->newest_ns);
        qs_json_karray(&j, "sensors");
        for (size_t i = 0; i < r->count; i++)
            put_series(&r->sensors[i], from_ns, &j);
        qs_json_array_end(&j);
        qs_json_object_end(&j);
    }
    done(r);
    return ok;
}
