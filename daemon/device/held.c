#include "device/held.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/closed.h"
#include "device/held_impl.h"
#include "device/metrics.h"
#include "device/session.h"
#include "store/store.h"

static void next_run(struct qs_held_runs *h);

struct qs_held_runs *qs_held_new(const struct qs_held_parts *parts, const struct qs_held_events *events)
{
    struct qs_held_runs *h = qs_calloc(1, sizeof *h);
    h->p = *parts;
    qs_streamed_init(&h->stream.hand);
    h->events = *events;
    return h;
}

static void release(struct qs_held_runs *h)
{
    qs_held_stream_end(h);
    free(h->list);
    free(h->rows);
    free(h->declared);
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
    h->rows_n = 0;
    h->told.known = false;
    memset(&h->spoiled, 0, sizeof h->spoiled);
}

void qs_held_add(struct qs_held_runs *h, const struct qs_uid *run, uint64_t first_seq, uint64_t next_seq)
{
    if (h->count >= QS_HELD_MAX || next_seq <= first_seq)
        return;
    h->list = qs_realloc(h->list, (h->count + 1) * sizeof *h->list);
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
    h->rows_n = 0;
    h->told.known = false;
    next_run(h);
}

static bool find_run(struct qs_store_reader *reader, void *user, struct qs_err *err)
{
    struct qs_held_ask *a = user;
    return qs_read_run(reader, a->run.b, &a->found, err);
}

static void on_found(const struct qs_err *err, void *user)
{
    struct qs_held_ask *a = user;
    if (!qs_held_answered(a->h, a->epoch)) {
        qs_runs_free(&a->found);
        free(a);
        return;
    }
    struct qs_held_runs *h = a->h;
    struct qs_err why = QS_ERR_INIT;
    uint64_t stored = a->found.count == 1 ? a->found.at[0].device_seq : 0;
    if (err || a->found.count != 1) {
        qs_held_note(h, true, &a->run, "kept by the agent, unknown here, left where it is");
        drop_first(h);
    } else if (stored >= h->list[0].next_seq) {
        (void)qs_session_ack(h->p.session, &a->run, h->list[0].next_seq, &why);
        drop_first(h);
    } else {
        h->want = stored;
        h->rows_n = 0;
        qs_held_stream_begin(h, &a->found.at[0]);
        if (!qs_session_resend(h->p.session, &a->run, stored, &why))
            drop_first(h);
    }
    qs_runs_free(&a->found);
    free(a);
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

static bool in_hand(const struct qs_held_runs *h, const struct qs_uid *run)
{
    return h->count > 0 && qs_uid_equal(&h->list[0].run, run);
}

bool qs_held_refused(struct qs_held_runs *h, const struct qs_uid *run, const struct qs_err *err)
{
    if (!h->started || !in_hand(h, run))
        return false;
    qs_held_note(h, true, run, err->text);
    drop_first(h);
    return true;
}

void qs_held_committed(const struct qs_err *err, int64_t id, void *user)
{
    (void)id;
    struct qs_held_ask *a = user;
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
    free(a);
}

/* The window is tainted as interrupted, whatever its CLOSED said: nobody watched the link's silence. The gate
 * and the evidence of it are not kept. */
static void flush_window(struct qs_held_runs *h, bool last)
{
    if (h->rows_n == 0)
        return;
    struct qs_metric_names metrics;
    qs_metric_names_of(&h->names, h->metric_ids, h->metric_count, &metrics);
    bool told = h->told.known && h->told.window == h->window;
    struct qs_window_row row = {.ord = h->window,
                                .phase = told ? h->told.phase : QS_PHASE_MEASURE,
                                .first_seq = h->window_first,
                                .opened_ns = told ? h->told.opened_ns : 0,
                                .closed_ns = told ? h->told.closed_ns : 0,
                                .output_bytes = told ? h->told.output_bytes : 0,
                                .evals = told && h->told.evals > 0 ? h->told.evals : 1,
                                .silence = QS_SILENCE_NONE,
                                .taint = QS_TAINT_INTERRUPTED | (told ? h->told.taint : 0),
                                .how = told ? qs_closed_how_word(h->told.how) : "resent",
                                .metrics = metrics.names,
                                .kinds = metrics.kinds,
                                .metric_count = h->metric_count,
                                .iterations = h->rows,
                                .n = h->rows_n};
    memcpy(row.run_uid, h->list[0].run.b, sizeof row.run_uid);
    struct qs_held_ask *a = qs_calloc(1, sizeof *a);
    a->h = h;
    a->epoch = h->epoch;
    a->run = h->list[0].run;
    a->acknowledge = h->window_first + h->rows_n;
    a->last = last;
    h->outstanding++;
    h->rows_n = 0;
    if (h->stream.on)
        qs_held_stream_window(h, &row, a);
    else
        qs_store_window(h->p.store, &row, qs_held_committed, a);
}

static void append_rows(struct qs_held_runs *h, const struct qs_msg_iterations *m)
{
    if (h->rows_n == 0) {
        struct qs_iter ids = qs_list_iter(&m->metrics);
        h->window = m->window;
        h->window_first = m->first_seq;
        h->metric_count = 0;
        while (h->metric_count < QS_ROW_METRICS_MAX && qs_list_u16(&ids, &h->metric_ids[h->metric_count]))
            h->metric_count++;
    }
    struct qs_iter it = qs_list_iter(&m->rows);
    struct qs_row row = {.duration_ns = 0};
    h->rows = qs_realloc(h->rows, (h->rows_n + m->rows.count) * sizeof *h->rows);
    while (qs_list_row(&it, m->metrics.count, &row)) {
        if (h->stream.on)
            qs_streamed_process(&h->stream.hand, &row, &m->metrics);
        struct qs_iteration_row *to = &h->rows[h->rows_n++];
        *to = (struct qs_iteration_row){.start_off_ns = row.start_off_ns,
                                        .duration_ns = row.duration_ns,
                                        .taint = QS_TAINT_INTERRUPTED | qs_closed_iteration_taint(row.flags),
                                        .status = row.status};
        memcpy(to->values, row.values, h->metric_count * sizeof *to->values);
    }
}

bool qs_held_closed(struct qs_held_runs *h, const struct qs_msg_closed *m)
{
    if (!h->started || !in_hand(h, &m->run))
        return false;
    if (h->rows_n > 0 && m->window != h->window)
        flush_window(h, false);
    h->told.known = true;
    h->told.window = m->window;
    h->told.taint = qs_closed_taint(m, false);
    h->told.phase = m->phase;
    h->told.how = m->how;
    h->told.opened_ns = m->opened_ns;
    h->told.closed_ns = m->closed_ns;
    h->told.output_bytes = m->output_bytes;
    h->told.evals = m->evals;
    h->declared = qs_realloc(h->declared, m->declared.len + 1);
    if (m->declared.len > 0)
        memcpy(h->declared, m->declared.bytes, m->declared.len);
    h->names = m->declared;
    h->names.bytes = h->declared;
    return true;
}

bool qs_held_take(struct qs_held_runs *h, const struct qs_msg_iterations *m)
{
    if (!in_hand(h, &m->run))
        return false;
    bool last = m->first_seq + m->rows.count >= h->list[0].next_seq;
    if (h->rows_n > 0 && (m->window != h->window || h->rows_n + m->rows.count > QS_ITERATIONS_MAX))
        flush_window(h, false);
    if (m->rows.count > 0 && m->first_seq >= h->want) { /* what lies below was stored before */
        append_rows(h, m);
        h->want = m->first_seq + m->rows.count;
    }
    if (last && h->rows_n > 0)
        flush_window(h, true);
    else if (last)
        drop_first(h);
    return true;
}
