#include "device/window/held.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/window/held_impl.h"
#include "device/session/session.h"
#include "store/store.h"

static void next_run(struct qs_held_runs *h);
static bool resend(struct qs_held_runs *h, struct qs_err *err);

struct qs_held_runs *qs_held_new(const struct qs_held_parts *parts, const struct qs_held_events *events)
{
    struct qs_held_runs *h = qs_calloc(1, sizeof *h);
    h->p = *parts;
    qs_assembler_init(&h->made);
    h->events = *events;
    return h;
}

static void release(struct qs_held_runs *h)
{
    qs_held_stream_end(h);
    free(h->list);
    qs_assembler_done(&h->made);
    free(h);
}

void qs_held_free(struct qs_held_runs *h)
{
    if (!h)
        return;
    qs_held_stream_end(h); /* what waits for the pool has nobody to come back to */
    h->dead = true;
    if (h->outstanding == 0)
        release(h);
}

void qs_held_reset(struct qs_held_runs *h)
{
    h->epoch++;
    h->started = false;
    qs_held_stream_end(h);
    h->count = 0;
    qs_assembler_done(&h->made);
    memset(&h->spoiled, 0, sizeof h->spoiled);
}

void qs_held_add(struct qs_held_runs *h, const struct qs_uid *run, uint64_t first_seq, uint64_t next_seq)
{
    if (h->count >= QS_HELD_MAX || next_seq <= first_seq)
        return;
    h->list = qs_grow(h->list, h->count, sizeof *h->list);
    h->list[h->count++] = (struct qs_held_run){.run = *run, .first_seq = first_seq, .next_seq = next_seq};
}

void qs_held_note(struct qs_held_runs *h, bool warning, const struct qs_uid *run, const char *text)
{
    char hex[QS_UID_HEX_BYTES], line[256];
    qs_uid_hex(run, hex);
    snprintf(line, sizeof line, "run %s: %.200s", hex, text);
    h->events.on_note(warning, line, h->events.user);
}

bool qs_held_answered(struct qs_held_runs *h, uint64_t epoch)
{
    h->outstanding--;
    if (h->dead) {
        if (h->outstanding == 0)
            release(h);
        return false;
    }
    return epoch == h->epoch;
}

static void drop_first(struct qs_held_runs *h)
{
    if (h->count > 0)
        memmove(h->list, h->list + 1, --h->count * sizeof *h->list);
    qs_assembler_done(&h->made);
    next_run(h);
}

/* What the first run was asked for may still come when a failed commit has dropped it. */
static bool in_hand(const struct qs_held_runs *h, const struct qs_uid *run)
{
    return h->count > 0 && qs_uid_equal(&h->list[0].run, run);
}

static bool find_run(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct qs_held_ask *a = user;
    return qs_read_run(reader, a->run.b, &a->found, err);
}

static void free_ask(struct qs_held_ask **a)
{
    qs_runs_free(&(*a)->found);
    free(*a);
}

/* An agent has what its own device has measured: what it says of another's run is not believed. */
static bool is_anothers(struct qs_held_runs *h, const struct qs_run_info *run)
{
    char text[200];
    if (!h->p.device || !run->device || strcmp(run->device, h->p.device) == 0)
        return false;
    snprintf(text, sizeof text, "kept by the agent of %.60s, but it is a run of %.60s: left where it is",
             h->p.device, run->device);
    qs_held_note(h, true, &h->list[0].run, text);
    return true;
}

/* Numbers of a run follow each other on disk, so that nothing behind a hole can be stored. */
static void note_hole(struct qs_held_runs *h, uint64_t stored)
{
    const struct qs_held_run *r = &h->list[0];
    char text[160];
    snprintf(text, sizeof text,
             "the agent kept iterations from %" PRIu64 " on, but %" PRIu64 " is the next one here: what lies "
             "between is lost, the rest is left where it is",
             r->first_seq, stored);
    qs_held_note(h, true, &r->run, text);
}

static void on_found(const struct qs_err *err, void *user)
{
    QS_SCOPED(free_ask) struct qs_held_ask *a = user;
    if (!qs_held_answered(a->h, a->epoch))
        return;
    struct qs_held_runs *h = a->h;
    struct qs_err why = QS_ERR_INIT;
    uint64_t stored = a->found.count == 1 ? a->found.at[0].device_seq : 0;
    if (err || a->found.count != 1) {
        qs_held_note(h, true, &a->run, "kept by the agent, unknown here, left where it is");
        drop_first(h);
    } else if (is_anothers(h, &a->found.at[0])) {
        drop_first(h);
    } else if (stored >= h->list[0].next_seq) {
        (void)qs_session_ack(h->p.session, &a->run, h->list[0].next_seq, &why);
        drop_first(h);
    } else if (stored < h->list[0].first_seq) {
        note_hole(h, stored);
        drop_first(h);
    } else {
        h->want = stored;
        qs_held_stream_begin(h, &a->found.at[0]);
        if (!resend(h, &why))
            drop_first(h);
    }
}

static void next_run(struct qs_held_runs *h)
{
    if (h->count == 0) {
        if (h->started)
            h->events.on_done(h->events.user);
        h->started = false;
        return;
    }
    struct qs_held_ask *a = qs_calloc(1, sizeof *a);
    a->h = h;
    a->epoch = h->epoch;
    a->run = h->list[0].run;
    h->outstanding++;
    qs_store_read(h->p.store, find_run, on_found, a);
}

bool qs_held_any(const struct qs_held_runs *h)
{
    return h->count > 0;
}

void qs_held_start(struct qs_held_runs *h)
{
    h->started = true;
    next_run(h);
}

void qs_held_committed(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    QS_FREED struct qs_held_ask *a = user;
    if (qs_held_answered(a->h, a->epoch)) {
        struct qs_held_runs *h = a->h;
        struct qs_err why = QS_ERR_INIT;
        if (err) {
            h->spoiled = a->run;
            qs_held_note(h, true, &a->run, err->text);
        } else if (!qs_uid_equal(&h->spoiled, &a->run)) {
            (void)qs_session_ack(h->p.session, &a->run, a->acknowledge, &why);
            qs_held_note(h, false, &a->run, "iterations kept by the agent are stored");
        }
        if ((a->last || err) && in_hand(h, &a->run))
            drop_first(h);
    }
}

static void store_window(struct qs_held_runs *h, bool last)
{
    struct qs_held_ask *a = qs_calloc(1, sizeof *a);
    a->h = h;
    a->epoch = h->epoch;
    a->run = h->list[0].run;
    a->acknowledge = h->made.first_seq + h->made.closed.iterations;
    a->last = last;
    h->outstanding++;
    if (h->stream.on) {
        qs_held_stream_window(h, a);
        return;
    }
    const struct qs_assembler_place place = {.run = &a->run, .first_seq = h->made.first_seq};
    qs_assembler_store(&h->made, &place, h->p.store, qs_held_committed, a);
    qs_assembler_done(&h->made);
}

/* The window is tainted as interrupted, whatever its CLOSED says: nobody watched the link's silence. */
static void on_closed(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet, void *user)
{
    struct qs_held_runs *h = user;
    const struct qs_assembler_about about = {
        .quiet = quiet, .streams = h->stream.on, .mark = QS_TAINT_INTERRUPTED};
    if (in_hand(h, &m->run))
        qs_assembler_closed(&h->made, m, &about);
}

static void on_document(const struct qs_msg_document *m, void *user)
{
    struct qs_held_runs *h = user;
    if (in_hand(h, &m->run))
        qs_assembler_document(&h->made, m);
}

static void on_iterations(const struct qs_msg_iterations *m, void *user)
{
    struct qs_held_runs *h = user;
    if (!in_hand(h, &m->run) || !qs_assembler_take(&h->made, m))
        return;
    uint64_t next = h->made.first_seq + h->made.closed.iterations;
    bool last = next >= h->list[0].next_seq;
    if (next > h->want)
        store_window(h, last);
    else if (last) /* all of it was stored before */
        drop_first(h);
}

static void on_refused(const union qs_msg *reply, const struct qs_err *why, void *user)
{
    struct qs_held_runs *h = user;
    (void)reply; /* windows are told of otherwise */
    qs_held_note(h, true, &h->asked, why->text);
    if (in_hand(h, &h->asked))
        drop_first(h);
}

/* From what is stored on, of the run in hand. */
static bool resend(struct qs_held_runs *h, struct qs_err *err)
{
    const struct qs_run_events events = {
        .on_closed = on_closed, .on_document = on_document, .on_iterations = on_iterations, .user = h};
    const struct qs_msg_run_seq m = {.run = h->list[0].run, .seq = h->want};
    const struct qs_call call = {
        .type = QS_MSG_RESEND, .m = &m, .on_reply = on_refused, .user = h, .events = &events};
    h->asked = m.run;
    return qs_session_call(h->p.session, &call, err);
}
