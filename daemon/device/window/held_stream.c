/* Held windows of mode stream: their documents come with them and are read in the pool, one after the other,
 * so that the windows are stored in their order. */
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/window/held_impl.h"
#include "store/store.h"

struct qs_held_waiting {
    struct qs_held_runs *h;
    uint64_t epoch;
    struct qs_held_waiting *next;
    struct qs_assembler made;
    struct qs_held_ask *ask; /* owned until it is the store's */
};

void qs_held_stream_begin(struct qs_held_runs *h, const struct qs_run_info *run)
{
    free(h->stream.form_json);
    h->stream.on = run->stream_json != NULL;
    h->stream.form_json = run->stream_json ? qs_strdup(run->stream_json) : NULL;
    h->stream.next_seq = (uint64_t)(run->acked_seq + 1);
}

static void drop(struct qs_held_waiting *w)
{
    qs_assembler_done(&w->made);
    free(w->ask);
    free(w);
}

/* What is in the pool is dropped when it comes back. */
void qs_held_stream_end(struct qs_held_runs *h)
{
    struct qs_held_waiting *w = h->stream.first;
    if (h->stream.busy && w)
        w = w->next;
    while (w) {
        struct qs_held_waiting *next = w->next;
        h->outstanding--; /* its ask is nobody's any more */
        drop(w);
        w = next;
    }
    if (!h->stream.busy)
        h->stream.first = NULL;
    else
        h->stream.first->next = NULL;
    free(h->stream.form_json);
    h->stream.form_json = NULL;
    h->stream.on = false;
}

static void on_pool(void *user)
{
    struct qs_held_waiting *w = user;
    qs_streamed_read(&w->made.streamed);
}

static void read_next(struct qs_held_runs *h);

static void store(struct qs_held_runs *h, struct qs_held_waiting *w)
{
    struct qs_held_ask *ask = w->ask;
    const struct qs_assembler_place place = {.run = &ask->run, .first_seq = h->stream.next_seq};
    qs_assembler_documented(&w->made);
    h->stream.next_seq += w->made.rows_n;
    if (!w->made.streamed.ok)
        qs_held_note(h, true, &ask->run, w->made.streamed.err.text);
    w->ask = NULL;
    qs_assembler_store(&w->made, &place, h->p.store, qs_held_committed, ask);
}

static void on_read(void *user)
{
    struct qs_held_waiting *w = user;
    struct qs_held_runs *h = w->h;
    h->stream.first = w->next;
    h->stream.busy = false;
    bool dead = h->dead, wanted = w->epoch == h->epoch && !dead;
    if (wanted)
        store(h, w);
    else
        (void)qs_held_answered(h, w->epoch);
    drop(w);
    if (!dead) /* else it may be gone */
        read_next(h);
}

static void read_next(struct qs_held_runs *h)
{
    if (!h->stream.first || h->stream.busy)
        return;
    h->stream.busy = true;
    qs_loop_work(h->p.loop, QS_LANE_QUICK, on_pool, on_read, h->stream.first);
}

void qs_held_stream_window(struct qs_held_runs *h, struct qs_held_ask *ask)
{
    struct qs_held_waiting *w = qs_calloc(1, sizeof *w), **end = &h->stream.first;
    struct qs_err err = QS_ERR_INIT;
    *w = (struct qs_held_waiting){.h = h, .epoch = h->epoch, .made = h->made, .ask = ask};
    qs_assembler_init(&h->made);
    w->made.streamed.files = h->p.files;
    if (!qs_form_from_json(h->stream.form_json, &w->made.streamed.form, &err))
        qs_held_note(h, true, &ask->run, err.text);
    while (*end)
        end = &(*end)->next;
    *end = w;
    read_next(h);
}
