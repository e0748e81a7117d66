#include "device/window/assembler.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/window/closed.h"
#include "device/window/silence.h"
#include "proto/names.h"

void qs_assembler_init(struct qs_assembler *a)
{
    *a = (struct qs_assembler){.known = false};
    qs_streamed_init(&a->streamed);
}

void qs_assembler_done(struct qs_assembler *a)
{
    free(a->memory);
    free(a->rows);
    qs_streamed_done(&a->streamed);
    qs_assembler_init(a);
}

/* ---- what comes ---- */

/* What the message points to lies in the frame's buffer, which the next frame takes. */
static void keep_closed(struct qs_assembler *a, const struct qs_msg_closed *m)
{
    struct qs_msg_closed *to = &a->closed;
    *to = *m;
    struct qs_list *lists[] = {&to->gate.readings, &to->evidence, &to->taints, &to->declared};
    struct qs_text *texts[] = {&to->gate.busiest, &to->output, &to->failure, &to->errors};
    enum { LISTS = sizeof lists / sizeof *lists, TEXTS = sizeof texts / sizeof *texts };
    size_t bytes = 1;
    for (size_t i = 0; i < LISTS; i++)
        bytes += lists[i]->len;
    for (size_t i = 0; i < TEXTS; i++)
        bytes += texts[i]->n;
    uint8_t *at = a->memory = qs_malloc(bytes);
    for (size_t i = 0; i < LISTS; i++) {
        if (lists[i]->len > 0)
            memcpy(at, lists[i]->bytes, lists[i]->len);
        lists[i]->bytes = at;
        at += lists[i]->len;
    }
    for (size_t i = 0; i < TEXTS; i++) {
        if (texts[i]->n > 0)
            memcpy(at, texts[i]->p, texts[i]->n);
        texts[i]->p = (const char *)at;
        at += texts[i]->n;
    }
}

void qs_assembler_closed(struct qs_assembler *a, const struct qs_msg_closed *m,
                         const struct qs_assembler_about *about)
{
    qs_assembler_done(a);
    keep_closed(a, m);
    a->known = true;
    a->streams = about->streams;
    a->mark = about->mark;
    a->evals = m->evals > 0 ? m->evals : 1;
    if (m->iterations > 0)
        a->rows = qs_calloc(m->iterations, sizeof *a->rows);
    if (about->quiet) {
        a->quiet = *about->quiet;
        a->silence = qs_silence_claim(&a->closed, &a->quiet, about->local);
    }
    /* A gate that stayed shut had no silence to break. */
    bool began = about->quiet && (m->iterations > 0 || a->quiet.counted);
    a->taint = qs_closed_taint(m, began && a->silence == QS_SILENCE_NONE);
    a->ends.count = 0;
    if (about->set)
        qs_ends_judge(about->set, &a->closed, &a->ends);
    a->taint |= a->ends.count > 0 ? QS_TAINT_EVIDENCE : 0U;
    if (about->streams) /* QS_SILENCE_WHY_STREAM */
        a->silence = QS_SILENCE_NONE;
}

void qs_assembler_document(struct qs_assembler *a, const struct qs_msg_document *m)
{
    if (a->known && m->window == a->closed.window)
        qs_streamed_piece(&a->streamed, m);
}

static void take_metrics(struct qs_assembler *a, const struct qs_list *ids)
{
    struct qs_iter it = qs_list_iter(ids);
    uint16_t id;
    a->metric_count = 0;
    while (qs_list_u16(&it, &id) && a->metric_count < QS_ROW_METRICS_MAX)
        a->metric_ids[a->metric_count++] = id;
}

static void take_row(struct qs_assembler *a, const struct qs_row *row)
{
    struct qs_iteration_row *to = &a->rows[a->rows_n++];
    *to = (struct qs_iteration_row){.start_off_ns = row->start_off_ns,
                                    .duration_ns = row->duration_ns,
                                    .taint = qs_closed_iteration_taint(row->flags) | a->mark,
                                    .status = row->status};
    if (row->duration_ns < 0 || row->start_off_ns < 0)
        to->taint |= QS_TAINT_CLOCK;
    memcpy(to->values, row->values, a->metric_count * sizeof *to->values);
}

bool qs_assembler_take(struct qs_assembler *a, const struct qs_msg_iterations *m)
{
    struct qs_iter it = qs_list_iter(&m->rows);
    struct qs_row row = {.duration_ns = 0};
    if (!a->known || m->window != a->closed.window || m->first_index != a->rows_n ||
        m->rows.count > a->closed.iterations - a->rows_n)
        return false; /* a repeat of what is here already changes nothing */
    if (m->first_index == 0) {
        a->first_seq = m->first_seq;
        take_metrics(a, &m->metrics);
    }
    while (qs_list_row(&it, m->metrics.count, &row)) {
        if (a->streams)
            qs_streamed_process(&a->streamed, &row, &m->metrics);
        take_row(a, &row);
    }
    return a->rows_n == a->closed.iterations;
}

void qs_assembler_documented(struct qs_assembler *a)
{
    struct qs_streamed *s = &a->streamed;
    a->rows_n = s->ok ? s->row_count : 0;
    if (!s->ok) {
        a->closed.how = QS_CLOSED_FAILED;
        a->closed.failure = qs_text_of(s->err.text);
        return;
    }
    a->evals = s->document.evals;
    free(a->rows);
    a->rows = s->rows;
    s->rows = NULL;
    for (size_t i = 0; i < a->rows_n; i++)
        a->rows[i].taint |= a->mark;
}

/* ---- what is stored ---- */

/* Texts of CLOSED as C strings in one buffer: offsets first, because the buffer moves while it grows. */
struct texts {
    struct qs_buf buf;
    size_t readings[QS_GATE_MAX], evidence[QS_EVIDENCE_MAX], taints[QS_TAINTS_MAX], busiest, failure, output;
};

struct parts { /* heap: some 60 KiB */
    struct qs_reading_row readings[3 * QS_GATE_MAX];
    struct qs_evidence_row
        evidence[QS_EVIDENCE_MAX + QS_SILENCE_ROWS + QS_ASSEMBLER_OURS + QS_STREAMED_EVIDENCE];
    struct qs_taint_row taints[QS_TAINTS_MAX + QS_SILENCE_ROWS + QS_GATE_MAX];
    size_t reading_n, evidence_n, taint_n;
    struct qs_gate_row gate;
    struct qs_metric_names metrics;
    struct texts texts;
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

static void fill_lists(const struct qs_msg_closed *m, struct parts *p)
{
    struct qs_iter it = qs_list_iter(&m->gate.readings);
    struct qs_reading r;
    while (p->reading_n < QS_GATE_MAX && qs_list_reading(&it, &r)) {
        p->texts.readings[p->reading_n] = keep_text(&p->texts, r.sensor);
        p->readings[p->reading_n++] =
            (struct qs_reading_row){.status = (uint8_t)r.status, .value = r.value, .age_ns = r.age_ns};
    }
    it = qs_list_iter(&m->evidence);
    struct qs_evidence e;
    while (p->evidence_n < QS_EVIDENCE_MAX && qs_list_evidence(&it, &e)) {
        p->texts.evidence[p->evidence_n] = keep_text(&p->texts, e.kind);
        p->evidence[p->evidence_n++] = (struct qs_evidence_row){
            .present = e.status == QS_READING_OK, .before = e.before, .after = e.after};
    }
    it = qs_list_iter(&m->taints);
    struct qs_taint v;
    while (p->taint_n < QS_TAINTS_MAX && qs_list_taint(&it, &v)) {
        p->texts.taints[p->taint_n] = keep_text(&p->texts, v.code);
        p->taints[p->taint_n++] = (struct qs_taint_row){.i = v.iteration, .value = v.value, .bound = v.bound};
    }
    p->texts.busiest = keep_text(&p->texts, m->gate.busiest);
    p->texts.failure = keep_text(&p->texts, m->failure);
    p->texts.output = keep_text(&p->texts, m->output);
    for (size_t i = 0; i < p->reading_n; i++)
        p->readings[i].sensor = p->texts.buf.data + p->texts.readings[i];
    for (size_t i = 0; i < p->evidence_n; i++)
        p->evidence[i].kind = p->texts.buf.data + p->texts.evidence[i];
    for (size_t i = 0; i < p->taint_n; i++)
        p->taints[i].code = p->texts.buf.data + p->texts.taints[i];
}

/* Behind what the agent says, what this side knows. */
static void add_ours(const struct qs_assembler *a, const struct qs_assembler_place *place, struct parts *p)
{
    p->evidence_n += qs_silence_evidence(&a->closed, &a->quiet, p->evidence + p->evidence_n);
    p->taint_n += qs_silence_taints(&a->closed, &a->quiet, p->taints + p->taint_n);
    for (size_t i = 0; i < a->ends.count; i++)
        p->taints[p->taint_n++] = a->ends.rows[i];
    for (size_t i = 0; i < place->reading_count; i++)
        p->readings[p->reading_n++] = place->readings[i];
    for (size_t i = 0; i < place->evidence_count; i++)
        p->evidence[p->evidence_n++] = place->evidence[i];
}

static uint64_t all_output_bytes(const struct qs_msg_closed *m)
{
    return m->output_bytes > UINT64_MAX - m->errors_bytes ? UINT64_MAX : m->output_bytes + m->errors_bytes;
}

static struct qs_window_row row_of(const struct qs_assembler *a, const struct qs_assembler_place *place,
                                   struct parts *p)
{
    const struct qs_msg_closed *m = &a->closed;
    const char *texts = p->texts.buf.data;
    p->gate = (struct qs_gate_row){.began_ns = m->gate.began_ns,
                                   .decided_ns = m->gate.decided_ns,
                                   .outcome = qs_gate_outcome_name(m->gate.outcome),
                                   .polls = m->gate.polls,
                                   .deciding = p->readings,
                                   .deciding_count = p->reading_n,
                                   .busiest = texts + p->texts.busiest,
                                   .trace = place->gate_trace};
    struct qs_window_row row = {.ord = m->window,
                                .attempt = place->attempt,
                                .phase = m->phase,
                                .first_seq = place->first_seq,
                                .opened_ns = m->opened_ns,
                                .closed_ns = m->closed_ns,
                                .evals = a->evals,
                                .silence = a->silence,
                                .taint = a->taint | a->mark,
                                .how = qs_closed_how_word(m->how),
                                .failure = m->failure.n ? texts + p->texts.failure : NULL,
                                .output = m->output.n ? texts + p->texts.output : NULL,
                                .output_bytes = all_output_bytes(m),
                                .gate = &p->gate,
                                .metrics = p->metrics.names,
                                .kinds = p->metrics.kinds,
                                .metric_count = a->metric_count,
                                .iterations = a->rows,
                                .n = a->rows_n};
    memcpy(row.run_uid, place->run->b, sizeof row.run_uid);
    return row;
}

void qs_assembler_store(struct qs_assembler *a, const struct qs_assembler_place *place,
                        struct qs_store *store, qs_store_done_fn *done, void *user)
{
    struct parts *p = qs_calloc(1, sizeof *p);
    qs_buf_init(&p->texts.buf);
    fill_lists(&a->closed, p);
    add_ours(a, place, p);
    qs_metric_names_of(&a->closed.declared, a->metric_ids, a->metric_count, &p->metrics);
    struct qs_window_row row = row_of(a, place, p);
    if (a->streams && a->closed.iterations > 0) {
        qs_streamed_fill(&a->streamed, &row);
        p->evidence_n += qs_streamed_evidence(&a->streamed, p->evidence + p->evidence_n);
    }
    row.evidence = p->evidence;
    row.evidence_count = p->evidence_n;
    row.taints = p->taints;
    row.taint_count = p->taint_n;
    qs_store_window(store, &row, done, user);
    qs_buf_done(&p->texts.buf);
    free(p);
}
