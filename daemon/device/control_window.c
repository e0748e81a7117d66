/* From the agent's CLOSED and ITERATIONS to one window's rows, and from there to the run's accepted
 * durations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/closed.h"
#include "device/control_impl.h"
#include "device/metrics.h"
#include "proto/names.h"
#include "report/median.h"

enum { SOFT = QS_TAINT_GATE | QS_TAINT_EVIDENCE | QS_TAINT_LINK };

void qs_control_window_reset(struct qs_control *c)
{
    c->win.closed = false;
    c->win.waits_for[0] = '\0';
    c->win.expected = 0;
    c->win.rows_n = 0;
    c->win.metric_count = 0;
    c->win.held_ns = 0;
    c->win.held_told = false;
    c->win.taint = 0;
    qs_control_stream_reset(c);
}

/* What CLOSED says lives in the frame's buffer: a re-encoded copy lives as long as the window. */
static bool keep_closed(struct qs_control *c, const struct qs_msg_closed *m)
{
    uint8_t *bytes = qs_malloc(QS_FRAME_MAX_BYTES);
    struct qs_writer w;
    qs_writer_init(&w, bytes, QS_FRAME_MAX_BYTES);
    bool ok = qs_msg_encode_closed(&w, m);
    if (ok) {
        qs_buf_clear(&c->win.blob);
        qs_buf_add(&c->win.blob, bytes, w.len);
        ok = qs_msg_decode_closed((const uint8_t *)c->win.blob.data, c->win.blob.len, &c->win.msg) == 0;
    }
    free(bytes);
    return ok;
}

void qs_control_on_closed(struct qs_control *c, const struct qs_msg_closed *m,
                          const struct qs_session_quiet *quiet)
{
    if (!qs_control_owns(c, &m->run) || m->window != c->run.window || !keep_closed(c, m))
        return;
    c->win.closed = true;
    c->win.phase = m->phase;
    c->win.how = m->how;
    c->win.expected = m->iterations;
    c->win.evals = m->evals > 0 ? m->evals : 1;
    c->win.quiet = *quiet;
    qs_control_left_output(c);
    qs_control_judge_silence(c);
    bool began = m->iterations > 0 || quiet->counted; /* a gate that stayed shut had no silence to break */
    c->win.taint = qs_closed_taint(m, began && c->win.claim == QS_SILENCE_NONE);
    if (qs_control_is_stream(c)) /* QS_SILENCE_WHY_STREAM */
        c->win.claim = QS_SILENCE_NONE;
    qs_control_patience_book(c);
    if (m->iterations > 0)
        c->win.rows = qs_realloc(c->win.rows, m->iterations * sizeof *c->win.rows);
    qs_control_feed(c, QS_CE_CLOSED);
}

static void take_metrics(struct qs_control *c, const struct qs_list *ids)
{
    struct qs_iter it = qs_list_iter(ids);
    uint16_t id;
    c->win.metric_count = 0;
    while (qs_list_u16(&it, &id) && c->win.metric_count < QS_ROW_METRICS_MAX)
        c->win.metric_ids[c->win.metric_count++] = id;
}

void qs_control_on_iterations(struct qs_control *c, const struct qs_msg_iterations *m)
{
    if (!qs_control_owns(c, &m->run) || m->window != c->run.window || !c->win.closed ||
        c->state != QS_CS_EVIDENCE)
        return;
    if (m->first_index != c->win.rows_n || m->rows.count > c->win.expected - c->win.rows_n)
        return; /* the session has checked the order; a repeat of what is here already changes nothing */
    struct qs_iter it = qs_list_iter(&m->rows);
    struct qs_row row = {.duration_ns = 0};
    if (qs_control_is_stream(c)) {
        if (qs_list_row(&it, m->metrics.count, &row))
            qs_control_stream_read(c, &row, &m->metrics);
        return;
    }
    take_metrics(c, &m->metrics);
    while (qs_list_row(&it, m->metrics.count, &row)) {
        struct qs_iteration_row *to = &c->win.rows[c->win.rows_n++];
        *to = (struct qs_iteration_row){.start_off_ns = row.start_off_ns,
                                        .duration_ns = row.duration_ns,
                                        .taint = qs_closed_iteration_taint(row.flags),
                                        .status = row.status};
        if (row.duration_ns < 0 || row.start_off_ns < 0)
            to->taint |= QS_TAINT_CLOCK;
        memcpy(to->values, row.values, c->win.metric_count * sizeof *to->values);
    }
    if (c->win.rows_n == c->win.expected)
        qs_control_window_whole(c);
}

/* Texts of CLOSED as C strings in one buffer: offsets first, because the buffer moves while it grows. */
struct texts {
    struct qs_buf buf;
};

static size_t keep_text(struct texts *t, struct qs_text text)
{
    size_t at = t->buf.len;
    qs_buf_add(&t->buf, text.p ? text.p : "", text.n);
    for (size_t i = at; i < t->buf.len; i++) {
        if (t->buf.data[i] == '\0')
            t->buf.data[i] = '?'; /* outputs are any bytes; the store keeps text */
    }
    qs_buf_char(&t->buf, '\0');
    return at;
}

static size_t fill_readings(const struct qs_msg_closed *m, struct texts *t, struct qs_reading_row *out,
                            size_t *at)
{
    struct qs_iter it = qs_list_iter(&m->gate.readings);
    struct qs_reading r;
    size_t n = 0;
    while (n < QS_GATE_MAX && qs_list_reading(&it, &r)) {
        at[n] = keep_text(t, r.sensor);
        out[n++] = (struct qs_reading_row){.status = (uint8_t)r.status, .value = r.value, .age_ns = r.age_ns};
    }
    return n;
}

static size_t fill_evidence(const struct qs_msg_closed *m, struct texts *t, struct qs_evidence_row *out,
                            size_t *at)
{
    struct qs_iter it = qs_list_iter(&m->evidence);
    struct qs_evidence e;
    size_t n = 0;
    while (n < QS_EVIDENCE_MAX && qs_list_evidence(&it, &e)) {
        at[n] = keep_text(t, e.kind);
        out[n++] = (struct qs_evidence_row){
            .present = e.status == QS_READING_OK, .before = e.before, .after = e.after};
    }
    return n;
}

static size_t fill_taints(const struct qs_msg_closed *m, struct texts *t, struct qs_taint_row *out,
                          size_t *at)
{
    struct qs_iter it = qs_list_iter(&m->taints);
    struct qs_taint v;
    size_t n = 0;
    while (n < QS_TAINTS_MAX && qs_list_taint(&it, &v)) {
        at[n] = keep_text(t, v.code);
        out[n++] = (struct qs_taint_row){.i = v.iteration, .value = v.value, .bound = v.bound};
    }
    return n;
}

struct window_rows { /* heap: some 60 KiB */
    struct qs_reading_row readings[QS_GATE_MAX];
    struct qs_evidence_row
        evidence[QS_EVIDENCE_MAX + QS_CONTROL_SILENCE_ROWS + QS_JOB_HOOKS_MAX + QS_STREAMED_EVIDENCE];
    struct qs_taint_row taints[QS_TAINTS_MAX + QS_CONTROL_SILENCE_ROWS];
    size_t readings_at[QS_GATE_MAX], evidence_at[QS_EVIDENCE_MAX], taints_at[QS_TAINTS_MAX];
    struct qs_metric_names metrics;
    struct texts texts;
};

static uint64_t all_output_bytes(const struct qs_msg_closed *m)
{
    return m->output_bytes > UINT64_MAX - m->errors_bytes ? UINT64_MAX : m->output_bytes + m->errors_bytes;
}

static void submit(struct qs_control *c, struct window_rows *r, size_t readings, size_t evidence,
                   size_t taints)
{
    const struct qs_msg_closed *m = &c->win.msg;
    bool streams = qs_control_is_stream(c) && c->win.expected > 0;
    size_t failure_at = keep_text(&r->texts, m->failure), output_at = keep_text(&r->texts, m->output);
    size_t busiest_at = keep_text(&r->texts, m->gate.busiest);
    const char *base = r->texts.buf.data;
    for (size_t i = 0; i < readings; i++)
        r->readings[i].sensor = base + r->readings_at[i];
    for (size_t i = 0; i < evidence; i++)
        r->evidence[i].kind = base + r->evidence_at[i];
    for (size_t i = 0; i < taints; i++)
        r->taints[i].code = base + r->taints_at[i];
    evidence += qs_control_silence_evidence(c, r->evidence + evidence);
    evidence += qs_control_host_evidence(c, r->evidence + evidence);
    if (streams)
        evidence += qs_streamed_evidence(&c->streamed, r->evidence + evidence);
    taints += qs_control_silence_taints(c, r->taints + taints);
    qs_metric_names_of(&m->declared, c->win.metric_ids, c->win.metric_count, &r->metrics);
    struct qs_gate_row gate = {.began_ns = m->gate.began_ns,
                               .decided_ns = m->gate.decided_ns,
                               .outcome = qs_gate_outcome_name(m->gate.outcome),
                               .polls = m->gate.polls,
                               .deciding = r->readings,
                               .deciding_count = readings,
                               .busiest = base + busiest_at};
    struct qs_window_row row = {.ord = c->run.window,
                                .attempt = c->run.attempt,
                                .phase = c->win.phase,
                                .first_seq = c->run.stored_n,
                                .opened_ns = m->opened_ns,
                                .closed_ns = m->closed_ns,
                                .evals = c->win.evals,
                                .silence = c->win.claim,
                                .taint = c->win.taint,
                                .how = qs_closed_how_word(c->win.how),
                                .failure = m->failure.n ? base + failure_at : NULL,
                                .output = m->output.n ? base + output_at : NULL,
                                .output_bytes = all_output_bytes(m),
                                .gate = &gate,
                                .evidence = r->evidence,
                                .evidence_count = evidence,
                                .taints = r->taints,
                                .taint_count = taints,
                                .metrics = r->metrics.names,
                                .metric_count = c->win.metric_count,
                                .kinds = r->metrics.kinds,
                                .iterations = c->win.rows,
                                .n = c->win.rows_n};
    memcpy(row.run_uid, c->run.uid.b, sizeof row.run_uid);
    if (streams)
        qs_control_stream_rows(c, &row);
    qs_store_done_fn *fn;
    void *user;
    qs_control_store_request(c, QS_CE_COMMITTED, &fn, &user);
    qs_store_window(c->p.store, &row, fn, user);
}

void qs_control_window_whole(struct qs_control *c)
{
    qs_control_give_token(c); /* all rows have come */
    c->host.metric_count = 0;
    if (c->win.rows_n > 0 && c->win.phase == QS_PHASE_MEASURE && !c->trace.runs &&
        c->p.spec->plan.metrics.count > 0)
        qs_control_host_begin(c, true);
    else
        qs_control_window_store(c);
}

void qs_control_window_store(struct qs_control *c)
{
    struct window_rows *r = qs_calloc(1, sizeof *r);
    qs_buf_init(&r->texts.buf);
    size_t readings = fill_readings(&c->win.msg, &r->texts, r->readings, r->readings_at);
    size_t evidence = fill_evidence(&c->win.msg, &r->texts, r->evidence, r->evidence_at);
    size_t taints = fill_taints(&c->win.msg, &r->texts, r->taints, r->taints_at);
    submit(c, r, readings, evidence, taints);
    qs_buf_done(&r->texts.buf);
    free(r);
}

static void push(double **list, size_t *n, double v)
{
    *list = qs_realloc(*list, (*n + 1) * sizeof **list);
    (*list)[(*n)++] = v;
}

void qs_control_window_count(struct qs_control *c)
{
    struct qs_control_run *run = &c->run;
    run->next_seq += c->win.expected;
    run->stored_n += c->win.rows_n;
    run->taint |= c->win.taint;
    if (c->win.msg.closed_ns > c->win.msg.opened_ns)
        run->windows_ns += c->win.msg.closed_ns - c->win.msg.opened_ns;
    double evals = c->win.evals;
    for (size_t i = 0; i < c->win.rows_n; i++) {
        const struct qs_iteration_row *row = &c->win.rows[i];
        uint32_t taint = row->taint | c->win.taint;
        run->taint |= row->taint;
        run->last_ns = row->duration_ns;
        if (row->taint & (QS_TAINT_EXIT | QS_TAINT_TIMEOUT))
            run->failures++;
        if (row->duration_ns > 0 && run->measured_ns <= INT64_MAX - row->duration_ns)
            run->measured_ns += row->duration_ns;
        qs_control_stop_push(c, row->duration_ns, taint == 0);
        if (taint == 0)
            push(&run->clean_ns, &run->clean_n, (double)row->duration_ns / evals);
        else if ((taint & ~(uint32_t)SOFT) == 0)
            push(&run->soft_ns, &run->soft_n, (double)row->duration_ns / evals);
    }
    if (qs_control_is_stream(c))
        run->last_ns = qs_control_stream_took_ns(c);
}

double qs_control_run_median(const struct qs_control *c)
{
    if (c->run.clean_n > 0)
        return qs_median_ns(c->run.clean_ns + c->run.warmup_n, c->run.clean_n - c->run.warmup_n);
    return c->run.soft_n > 0 ? qs_median_ns(c->run.soft_ns, c->run.soft_n) : NAN;
}
