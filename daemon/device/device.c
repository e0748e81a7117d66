#include "device/device.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/loop.h"
#include "base/mem.h"
#include "device/window/held.h"
#include "device/session/session.h"
#include "proto/request.h"
#include "store/store.h"

#define QS_DEVICE_ASK_NS INT64_C(100000000)

struct qs_device {
    struct qs_device_parts p;
    struct qs_device_events events;
    struct qs_session *session; /* owned */
    struct qs_held_runs *held;  /* owned */
    struct qs_job_run *job;     /* borrowed: who uses the device, or NULL */
    struct qs_timer *asking;    /* owned: to ask again for the right to transfer */
    enum qs_device_state link;  /* CONNECTING, READY or DOWN */
    bool simulated;
    char *boot, *clock, *facts, *environment, *software, *why; /* owned, NULL until known */
    int64_t host_ns, device_ns, rtt_ns;                        /* the last clock mapping; rtt 0 = none */
    qs_device_reply_fn *asking_fn; /* who waits for the answer to qs_device_ask; NULL: nobody */
    void *asking_user;
};

static void set_text(char **to, const char *text)
{
    char *copy = qs_strdup(text);
    free(*to);
    *to = copy;
}

static void changed(struct qs_device *d, enum qs_device_state link)
{
    d->link = link;
    if (d->events.on_change)
        d->events.on_change(d, d->events.user);
}

static void on_row_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)err; /* trouble of the store has its own way up (on_trouble) */
    (void)id;
    (void)user;
}

static void store_clock(struct qs_device *d)
{
    if (d->rtt_ns == 0 || !d->boot)
        return;
    struct qs_clock_row row = {.device = d->p.config->name,
                               .boot_uuid = d->boot,
                               .host_ns = d->host_ns,
                               .device_ns = d->device_ns,
                               .rtt_ns = d->rtt_ns,
                               .wall_ns = qs_loop_wall_ns(d->p.loop)};
    qs_store_clock_pair(d->p.store, &row, on_row_stored, NULL);
}

static void store_identity(struct qs_device *d)
{
    const struct qs_farm_device *config = d->p.config;
    struct qs_device_row device = {
        .name = config->name, .serial = config->name, .port_path = "", .simulated = d->simulated};
    struct qs_boot_row boot = {.device = config->name,
                               .boot_uuid = d->boot,
                               .fingerprint_json = d->facts,
                               .clock = d->clock,
                               .seen_wall_ns = qs_loop_wall_ns(d->p.loop)};
    qs_store_device(d->p.store, &device, on_row_stored, NULL);
    qs_store_boot(d->p.store, &boot, on_row_stored, NULL);
    store_clock(d);
}

static void make_environment(struct qs_device *d)
{
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kstring(&j, "agent", d->software);
    qs_json_kraw(&j, "device", d->facts);
    qs_json_kraw(&j, "host", d->p.host_json);
    qs_json_kbool(&j, "simulated", d->simulated);
    qs_json_object_end(&j);
    free(d->environment);
    d->environment = qs_buf_take(&out);
}

static void ask_to_transfer(void *user)
{
    struct qs_device *d = user;
    d->asking = NULL;
    if (qs_held_any(d->held) && d->events.may_transfer && !d->events.may_transfer(d, d->events.user))
        d->asking = qs_timer_start(d->p.loop, QS_DEVICE_ASK_NS, ask_to_transfer, d);
    else
        qs_held_start(d->held);
}

static void end_transfer(struct qs_device *d)
{
    qs_timer_stop(d->asking);
    d->asking = NULL;
    if (d->events.transfer_over)
        d->events.transfer_over(d, d->events.user);
}

static void on_ready(const struct qs_session_agent *agent, const char *facts_json, void *user)
{
    struct qs_device *d = user;
    set_text(&d->boot, agent->boot_id);
    set_text(&d->facts, facts_json);
    set_text(&d->software, agent->software);
    set_text(&d->why, NULL);
    d->simulated = agent->simulated;
    set_text(&d->clock, agent->clock);
    store_identity(d);
    make_environment(d);
    ask_to_transfer(d);
}

static void be_ready(struct qs_device *d)
{
    changed(d, QS_DEVICE_READY);
    if (d->job)
        qs_job_run_on_ready(d->job, d->boot, d->environment);
}

static void on_having(const union qs_msg *m, const struct qs_err *refused, void *user)
{
    (void)m; /* the session keeps it */
    (void)refused;
    be_ready(user);
}

/* What the agent kept comes first: while it is sent again, no run can begin. Then, how full is its cache? */
static void on_held_done(void *user)
{
    struct qs_device *d = user;
    const struct qs_msg_have none = {.id = qs_session_next_file_id(d->session)};
    const struct qs_call call = {.type = QS_MSG_HAVE, .m = &none, .on_reply = on_having, .user = d};
    end_transfer(d);
    if (!qs_session_has(d->session, QS_FEATURE_FILES) || !qs_session_call(d->session, &call, NULL))
        be_ready(d);
}

static void end_ask(struct qs_device *d, const union qs_msg *reply, const struct qs_err *err)
{
    qs_device_reply_fn *done = d->asking_fn;
    if (!done)
        return;
    d->asking_fn = NULL;
    end_transfer(d);
    done(err, reply, d->asking_user);
}

static void on_down(const struct qs_err *why, void *user)
{
    struct qs_device *d = user;
    bool news = !d->why || strcmp(d->why, why->text) != 0;
    set_text(&d->why, why->text);
    qs_held_reset(d->held);
    end_transfer(d);
    end_ask(d, NULL, why);
    d->rtt_ns = 0;
    if (news && d->events.on_note)
        d->events.on_note(d, true, why->text, d->events.user);
    changed(d, QS_DEVICE_DOWN);
    if (d->job)
        qs_job_run_on_down(d->job, why);
}

static void on_held(const struct qs_uid *run, uint64_t first_seq, uint64_t next_seq, void *user)
{
    struct qs_device *d = user;
    qs_held_add(d->held, run, first_seq, next_seq);
}

static void on_clock(int64_t host_ns, int64_t device_ns, int64_t rtt_ns, void *user)
{
    struct qs_device *d = user;
    d->host_ns = host_ns;
    d->device_ns = device_ns;
    d->rtt_ns = rtt_ns;
    if (d->link == QS_DEVICE_READY)
        store_clock(d);
}

static void on_note(bool warning, const char *text, void *user)
{
    struct qs_device *d = user;
    if (d->events.on_note)
        d->events.on_note(d, warning, text, d->events.user);
}

static void on_error(const struct qs_uid *run, const struct qs_err *err, void *user)
{
    (void)run;
    on_note(true, err->text, user);
}

struct qs_device *qs_device_new(const struct qs_device_parts *parts, const struct qs_device_events *events)
{
    struct qs_device *d = qs_calloc(1, sizeof *d);
    d->p = *parts;
    d->events = *events;
    d->link = QS_DEVICE_DOWN; /* until it is started */
    d->simulated = parts->config->link == QS_LINK_SIM;
    const struct qs_session_events session = {.on_ready = on_ready,
                                              .on_down = on_down,
                                              .on_held = on_held,
                                              .on_clock = on_clock,
                                              .on_error = on_error,
                                              .on_note = on_note,
                                              .user = d};
    d->session = qs_session_new(parts->loop, parts->config, parts->farm_uid, parts->heartbeat_ns, &session);
    const struct qs_held_events held = {.on_note = on_note, .on_done = on_held_done, .user = d};
    d->held = qs_held_new(&(struct qs_held_parts){.device = parts->config->name,
                                                  .loop = parts->loop,
                                                  .store = parts->store,
                                                  .files = parts->files,
                                                  .session = d->session},
                          &held);
    return d;
}

void qs_device_free(struct qs_device *d)
{
    if (!d)
        return;
    qs_timer_stop(d->asking);
    qs_session_free(d->session);
    qs_held_free(d->held);
    free(d->boot);
    free(d->clock);
    free(d->facts);
    free(d->environment);
    free(d->software);
    free(d->why);
    free(d);
}

void qs_device_start(struct qs_device *d)
{
    d->link = QS_DEVICE_CONNECTING;
    qs_session_start(d->session);
}

void qs_device_stop(struct qs_device *d)
{
    struct qs_err err;
    qs_session_stop(d->session);
    qs_fail(&err, QS_E_LINK, "%s: the daemon ends", d->p.config->name);
    end_ask(d, NULL, &err);
    end_transfer(d);
    d->link = QS_DEVICE_DOWN;
}

enum qs_device_state qs_device_state(const struct qs_device *d)
{
    return (d->job || d->asking_fn) && d->link == QS_DEVICE_READY ? QS_DEVICE_BUSY : d->link;
}

static void on_asked(const union qs_msg *m, const struct qs_err *refused, void *user)
{
    struct qs_device *d = user;
    (void)refused; /* what people ask is about no run: it cannot be */
    end_ask(d, m, NULL);
    changed(d, QS_DEVICE_READY); /* a job may have waited */
}

bool qs_device_ask(struct qs_device *d, enum qs_msg_type type, union qs_msg *m, qs_device_reply_fn *done,
                   void *user, struct qs_err *err)
{
    const char *name = d->p.config->name;
    const uint32_t id = qs_session_next_file_id(d->session);
    if (qs_device_state(d) != QS_DEVICE_READY)
        return qs_fail(err, QS_E_CONFLICT, "%s is %s: it can be asked only while it is ready", name,
                       qs_device_state_name(qs_device_state(d)));
    if (d->events.may_transfer && !d->events.may_transfer(d, d->events.user)) {
        end_transfer(d); /* nobody asks again */
        return qs_fail(err, QS_E_CONFLICT, "%s: something else is in use on its hub or this machine", name);
    }
    memcpy((char *)m + qs_request_of((uint8_t)type)->key_at, &id, sizeof id);
    const struct qs_call call = {.type = type, .m = m, .on_reply = on_asked, .user = d};
    if (!qs_session_call(d->session, &call, err)) {
        end_transfer(d);
        return false;
    }
    d->asking_fn = done;
    d->asking_user = user;
    return true;
}

const char *qs_device_state_name(enum qs_device_state state)
{
    static const char *const names[] = {"connecting", "ready", "busy", "down"};
    return (unsigned)state < sizeof names / sizeof *names ? names[state] : "?";
}

bool qs_device_is_simulated(const struct qs_device *d)
{
    return d->simulated;
}

struct qs_session *qs_device_session(struct qs_device *d)
{
    return d->session;
}

void qs_device_assign(struct qs_device *d, struct qs_job_run *job)
{
    if (d->job)
        qs_session_disown(d->session, d->job);
    d->job = job;
    if (!job)
        return;
    store_identity(d); /* the disk may have refused it when the device came */
    qs_job_run_start(job, d->boot, d->environment);
}

struct qs_device_info qs_device_info(const struct qs_device *d)
{
    struct qs_device_info info = {.config = d->p.config,
                                  .state = qs_device_state_name(qs_device_state(d)),
                                  .simulated = d->simulated,
                                  .software = d->software,
                                  .boot = d->boot,
                                  .facts_json = d->facts,
                                  .why = d->why,
                                  .rtt_ns = d->rtt_ns};
    info.has_cache = qs_session_cache(d->session, &info.cache);
    return info;
}
