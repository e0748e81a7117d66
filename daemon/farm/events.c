/* Events: first on disk, then to whoever listens. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "farm/farm_impl.h"

struct told {
    struct qs_farm *farm;
    struct qs_farm_event event;
    char *kind, *device, *body;
    qs_store_done_fn *done; /* or NULL */
    void *user;
};

static void on_stored(const struct qs_err *err, int64_t id, void *user)
{
    struct told *t = user;
    t->farm->outstanding--;
    if (!err && t->farm->events.on_event) {
        t->event.id = id;
        t->farm->events.on_event(&t->event, t->farm->events.user);
    }
    if (t->done)
        t->done(err, 0, t->user);
    free(t->kind);
    free(t->device);
    free(t->body);
    struct qs_farm *farm = t->farm;
    free(t);
    qs_farm_answered(farm);
}

/* words: of the device, with the event in one commit; none where count is 0. */
static void tell(struct qs_farm *farm, const struct qs_event_row *event, const struct qs_word *words,
                 size_t count, qs_store_done_fn *done, void *user)
{
    struct told *t = qs_calloc(1, sizeof *t);
    struct qs_event_row row = *event;
    t->farm = farm;
    t->done = done;
    t->user = user;
    t->kind = qs_strdup(event->kind);
    t->device = qs_strdup(event->device);
    t->body = qs_strdup(event->body_json);
    t->event = (struct qs_farm_event){.wall_ns = qs_loop_wall_ns(farm->p.loop),
                                      .job = event->job,
                                      .kind = t->kind,
                                      .device = t->device,
                                      .body_json = t->body};
    row.wall_ns = t->event.wall_ns;
    farm->outstanding++;
    if (count > 0)
        qs_store_words(farm->p.store, words, count, &row, on_stored, t);
    else
        qs_store_event(farm->p.store, &row, on_stored, t);
}

void qs_farm_emit(struct qs_farm *farm, const char *kind, int64_t job, const char *device,
                  const uint8_t *run_uid, const char *body_json)
{
    const struct qs_event_row event = {
        .kind = kind, .device = device, .job = job, .run_uid = run_uid, .body_json = body_json};
    tell(farm, &event, NULL, 0, NULL, NULL);
}

void qs_farm_emit_words(struct qs_farm *farm, const struct qs_word *words, size_t count, const char *kind,
                        const char *body_json, qs_store_done_fn *done, void *user)
{
    const struct qs_event_row event = {.kind = kind, .device = words[0].device, .body_json = body_json};
    tell(farm, &event, words, count, done, user);
}

void qs_farm_emit_cancel(struct qs_farm *farm, int64_t job, const char *why, qs_store_done_fn *done,
                         void *user)
{
    QS_BUF(body);
    qs_json_one(&body, "why", why);
    const struct qs_event_row event = {.kind = QS_EVENT_CANCEL, .job = job, .body_json = body.data};
    tell(farm, &event, NULL, 0, done, user);
}

static void on_state_stored(const struct qs_err *err, int64_t id, void *user)
{
    (void)err; /* a store in trouble tells main */
    (void)id;
    (void)user;
}

void qs_farm_emit_state(struct qs_farm *farm, int64_t job, enum qs_job_state state, const char *reason)
{
    QS_BUF(body);
    struct qs_json j = qs_json_to(&body);
    qs_json_object(&j);
    qs_json_kstring(&j, "state", qs_job_state_name(state));
    qs_json_kstring(&j, "reason", reason);
    qs_json_object_end(&j);
    qs_store_job_state(farm->p.store, job, state, reason, qs_loop_wall_ns(farm->p.loop), on_state_stored,
                       NULL);
    qs_farm_emit(farm, "job.state", job, NULL, NULL, body.data);
}
