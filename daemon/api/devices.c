/* The devices as they are now; and of one what was found, and what its last session changed. */
#include <stdlib.h>
#include <string.h>

#include "api/handlers.h"
#include "api/recent.h"
#include "api/reply.h"
#include "api/say.h"
#include "base/json.h"
#include "base/text.h"
#include "device/ambient.h"
#include "device/device.h"
#include "farm/farm.h"
#include "report/model.h"
#include "report/refits.h"
#include "store/control.h"
#include "store/knob.h"

static void put_fields(const struct qs_farm *farm, const struct qs_device_info *d, struct qs_json *j)
{
    qs_json_kstring(j, "name", d->config->name);
    qs_json_kstring(j, "link", qs_link_kind_name(d->config->link));
    qs_json_kstring(j, "state", d->state);
    qs_json_kbool(j, "local", d->config->local);
    qs_json_kbool(j, "simulated", d->simulated);
    qs_json_kstring(j, "agent", d->software);
    qs_json_kstring(j, "boot_id", d->boot);
    qs_json_karray(j, "labels");
    for (size_t i = 0; i < d->config->labels.count; i++)
        qs_json_string(j, d->config->labels.at[i]);
    qs_json_array_end(j);
    qs_put_words(farm, d->config->name, j);
    if (d->has_cache) {
        qs_json_kobject(j, "cache");
        qs_json_kcount(j, "bytes", d->cache.bytes);
        qs_json_kcount(j, "most_bytes", d->cache.most_bytes);
        qs_json_kcount(j, "free_bytes", d->cache.free_bytes);
        qs_json_object_end(j);
    } else {
        qs_json_kraw(j, "cache", "null");
    }
    qs_json_kint(j, "clock_rtt_ns", d->rtt_ns);
    qs_json_kraw(j, "facts", d->facts_json ? d->facts_json : "null");
    qs_json_kstring(j, "why", d->why);
}

struct list {
    const struct qs_farm *farm;
    struct qs_json j;
};

static void put_device(const struct qs_device_info *d, void *user)
{
    struct list *list = user;
    qs_json_object(&list->j);
    put_fields(list->farm, d, &list->j);
    qs_json_object_end(&list->j);
}

static void put_notice(const struct qs_exchange *ex, struct qs_json *j)
{
    const char *alone = "no daemon answers: the devices are shown as configured, their state is not known";
    QS_FREED char *notice = ex->api->p.reading ? qs_about_owner(ex) : qs_store_notice(ex->api->p.store);
    qs_json_kstring(j, "notice", ex->api->p.reading && !notice ? alone : notice);
}

void qs_handle_devices(struct qs_exchange *ex)
{
    QS_BUF(out);
    struct list list = {.farm = ex->api->p.farm, .j = qs_json_to(&out)};
    qs_json_object(&list.j);
    qs_json_karray(&list.j, "devices");
    qs_farm_devices(list.farm, put_device, &list);
    qs_json_array_end(&list.j);
    qs_json_kstring(&list.j, "disk", qs_farm_waits_for_disk(list.farm, 0));
    put_notice(ex, &list.j);
    qs_json_object_end(&list.j);
    qs_reply_json(ex, 200, &out);
}

/* ---- one of them ---- */

struct one {
    struct qs_board_info board;
    struct qs_buf control; /* JSON: an object, or null */
    struct qs_buf models;  /* JSON: a list, as the next one */
    struct qs_buf refits;
    struct qs_buf knobs; /* JSON: an object, or null, as the next two */
    struct qs_buf session;
    struct qs_buf recent;
    struct qs_json j; /* of the document, while the farm is asked */
    const struct qs_farm *farm;
    const char *name; /* borrowed, whose fields are wanted */
    bool found;
};

static void done_one(void *data)
{
    struct one *d = data;
    qs_board_info_free(&d->board);
    qs_buf_done(&d->control);
    qs_buf_done(&d->models);
    qs_buf_done(&d->refits);
    qs_buf_done(&d->knobs);
    qs_buf_done(&d->session);
    qs_buf_done(&d->recent);
}

static void put_change(const struct qs_control_info *c, void *user)
{
    struct qs_json *j = user;
    char run[33];
    qs_hex(c->run_uid, sizeof c->run_uid, run);
    qs_json_object(j);
    qs_json_kint(j, "seq", c->seq);
    qs_json_kstring(j, "run", c->of_run ? run : NULL);
    qs_json_kstring(j, "kind", c->row.restore ? "restore" : "set");
    qs_json_kstring(j, "path", c->row.path);
    qs_json_kstring(j, "wanted", c->row.wanted);
    qs_json_kstring(j, "before", c->row.before);
    qs_json_kstring(j, "now", c->row.after);
    qs_json_kstring(j, "outcome", c->row.outcome);
    qs_json_kint(j, "error", c->row.error);
    qs_json_kint(j, "at_wall_ns", c->row.at_wall_ns);
    qs_json_object_end(j);
}

static bool read_changes(struct qs_store_reader *reader, const char *device, struct qs_buf *out,
                         struct qs_err *err)
{
    struct qs_control_session session;
    struct qs_json j = qs_json_to(out);
    char uid[33];
    bool found = false;
    if (!qs_read_control_session(reader, device, &session, &found, err))
        return false;
    if (!found) {
        qs_buf_str(out, "null");
        return true;
    }
    qs_hex(session.uid, sizeof session.uid, uid);
    qs_json_object(&j);
    qs_json_kstring(&j, "session", uid);
    qs_json_kint(&j, "job", session.job);
    qs_json_kint(&j, "started_wall_ns", session.started_wall_ns);
    qs_json_kmaybe(&j, "ended_wall_ns", session.ended_wall_ns > 0, session.ended_wall_ns);
    qs_json_karray(&j, "changes");
    bool ok = qs_read_control(reader, session.uid, put_change, &j, err);
    qs_json_array_end(&j);
    qs_json_object_end(&j);
    return ok;
}

static void put_model(const struct qs_model_info *m, void *user)
{
    struct qs_json *j = user;
    qs_json_object(j);
    qs_json_kstring(j, "kind", m->row.kind);
    qs_model_json(&m->row, j);
    qs_json_kint(j, "job", m->job);
    qs_json_kint(j, "found_wall_ns", m->found_wall_ns);
    qs_json_kraw(j, "trace", m->row.trace ? m->row.trace : "null");
    qs_json_object_end(j);
}

/* Those of the system that the board was found on. */
static bool read_models(struct qs_store_reader *reader, const char *device, const char *fingerprint,
                        struct qs_buf *out, struct qs_err *err)
{
    struct qs_json j = qs_json_to(out);
    qs_json_array(&j);
    bool ok = !fingerprint || qs_read_models(reader, device, fingerprint, true, put_model, &j, err);
    qs_json_array_end(&j);
    return ok;
}

static void put_refit(const struct qs_refit *refit, struct qs_json *j)
{
    const struct qs_cooling *c = &refit->fit;
    QS_BUF(off);
    if (qs_refit_no_longer_holds(refit))
        qs_refit_say(refit, &off);
    qs_json_object(j);
    qs_json_kstring(j, "sensor", refit->sensor);
    qs_json_kint(j, "waits", (int64_t)refit->waits);
    qs_json_kint(j, "newest_wall_ns", refit->newest_wall_ns);
    qs_json_kstring(j, "says", qs_cooling_says_name(c->says));
    if (c->says == QS_COOLING_FITS) {
        qs_json_kdouble(j, "tau_s", c->tau);
        qs_json_kdouble(j, "tau_lo_s", c->tau_ci.lo);
        qs_json_kdouble(j, "tau_hi_s", c->tau_ci.hi);
        qs_json_kdouble(j, "end_mc", c->end);
        qs_json_kdouble(j, "end_lo_mc", c->end_ci.lo);
        qs_json_kdouble(j, "end_hi_mc", c->end_ci.hi);
    }
    qs_json_kstring(j, "characterized", off.len > 0 ? off.data : NULL);
    qs_json_object_end(j);
}

/* Those of which a gate has waited. */
static bool read_refits(struct qs_store_reader *reader, const char *device, const char *fingerprint,
                        struct qs_buf *out, struct qs_err *err)
{
    struct qs_json j = qs_json_to(out);
    struct qs_refits refits = {NULL, 0};
    bool ok = !fingerprint || qs_refits_read(reader, device, fingerprint, &refits, err);
    qs_json_array(&j);
    for (size_t i = 0; i < refits.count; i++)
        if (refits.at[i].waits > 0)
            put_refit(&refits.at[i], &j);
    qs_json_array_end(&j);
    qs_refits_done(&refits);
    return ok;
}

static void put_khz(struct qs_json *j, const char *key, int64_t khz)
{
    qs_json_kmaybe(j, key, khz > 0, khz);
}

static void put_knob(const struct qs_knob_info *k, void *user)
{
    struct qs_json *j = user;
    if (j->out->len == 0) {
        qs_json_object(j);
        qs_json_kstring(j, "fingerprint", k->fingerprint);
        qs_json_kint(j, "job", k->job);
        qs_json_kint(j, "found_wall_ns", k->found_wall_ns);
        qs_json_karray(j, "rows");
    }
    qs_json_object(j);
    qs_json_kstring(j, "name", k->row.name);
    qs_json_kstring(j, "kind", k->row.kind);
    qs_json_kstring(j, "path", k->row.path);
    qs_json_kstring(j, "sticks", k->row.sticks);
    qs_json_kstring(j, "effect", k->row.effect);
    qs_json_kstring(j, "why", k->row.why);
    qs_json_kint(j, "after_ms", k->row.after_ms);
    put_khz(j, "low_khz", k->row.low_khz);
    put_khz(j, "high_khz", k->row.high_khz);
    put_khz(j, "seen_low_khz", k->row.seen_low_khz);
    put_khz(j, "seen_high_khz", k->row.seen_high_khz);
    qs_json_kdouble(j, "loop_ratio", k->row.loop_ratio);
    qs_json_object_end(j);
}

static bool read_knobs(struct qs_store_reader *reader, const char *device, struct qs_buf *out,
                       struct qs_err *err)
{
    struct qs_json j = qs_json_to(out);
    bool ok = qs_read_knobs(reader, device, put_knob, &j, err);
    if (out->len == 0) {
        qs_buf_str(out, "null");
    } else {
        qs_json_array_end(&j);
        qs_json_object_end(&j);
    }
    return ok;
}

static bool read_one(struct qs_store_reader *reader, struct qs_exchange *ex, struct qs_err *err)
{
    struct one *d = ex->data;
    return qs_read_board(reader, ex->match.device, &d->board, err) &&
           read_changes(reader, ex->match.device, &d->control, err) &&
           read_models(reader, ex->match.device, d->board.fingerprint, &d->models, err) &&
           read_refits(reader, ex->match.device, d->board.fingerprint, &d->refits, err) &&
           read_knobs(reader, ex->match.device, &d->knobs, err) &&
           qs_read_session_json(reader, ex->match.device, &d->session, err) &&
           qs_read_recent_json(reader, ex->match.device, &d->recent, err);
}

static void put_if_named(const struct qs_device_info *device, void *user)
{
    struct one *d = user;
    if (d->found || strcmp(device->config->name, d->name) != 0)
        return;
    d->found = true;
    put_fields(d->farm, device, &d->j);
}

/* How warm it is around the device, where the farm has a sensor for that. */
static void put_ambient(const struct qs_exchange *ex, struct qs_json *j)
{
    const char *name;
    int64_t age_ns;
    const struct qs_ambient_reading *last =
        qs_farm_ambient_last(ex->api->p.farm, ex->match.device, &name, &age_ns);
    if (!last)
        return;
    qs_json_kobject(j, "ambient");
    qs_json_kstring(j, "name", name);
    qs_json_kmaybe(j, "mc", last->known, last->mc);
    qs_json_kmaybe(j, "age_ns", last->known, age_ns);
    qs_json_kstring(j, "why", last->why[0] ? last->why : NULL);
    qs_json_object_end(j);
}

static void say_one(struct qs_exchange *ex)
{
    struct one *d = ex->data;
    struct qs_err err;
    QS_BUF(out);
    d->j = qs_json_to(&out);
    d->farm = ex->api->p.farm;
    d->name = ex->match.device;
    qs_json_object(&d->j);
    qs_farm_devices(d->farm, put_if_named, d);
    if (!d->found) {
        qs_fail(&err, QS_E_NOT_FOUND, "this farm has no device `%s`", d->name);
        qs_reply_error(ex, &err);
        return;
    }
    qs_json_kstring(&d->j, "fingerprint", d->board.fingerprint);
    qs_json_kmaybe(&d->j, "probed_wall_ns", d->board.json != NULL, d->board.probed_wall_ns);
    qs_json_kraw(&d->j, "board", d->board.json ? d->board.json : "null");
    qs_json_kraw(&d->j, "control", d->control.data);
    qs_json_kraw(&d->j, "models", d->models.data);
    qs_json_kraw(&d->j, "refits", d->refits.data);
    qs_json_kraw(&d->j, "knobs", d->knobs.data);
    qs_json_kraw(&d->j, "session", d->session.data);
    qs_json_kraw(&d->j, "recent", d->recent.data);
    put_ambient(ex, &d->j);
    put_notice(ex, &d->j);
    qs_json_object_end(&d->j);
    qs_reply_json(ex, 200, &out);
}

void qs_handle_device(struct qs_exchange *ex)
{
    struct one *d = qs_exchange_data(ex, sizeof *d, done_one);
    qs_buf_init(&d->control);
    qs_buf_init(&d->models);
    qs_buf_init(&d->refits);
    qs_buf_init(&d->knobs);
    qs_buf_init(&d->session);
    qs_buf_init(&d->recent);
    qs_exchange_read(ex, read_one, say_one);
}
