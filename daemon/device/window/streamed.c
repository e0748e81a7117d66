#include "device/window/streamed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "device/window/closed.h"
#include "proto/names.h"
#include "stats/describe.h"

void qs_streamed_init(struct qs_streamed *s)
{
    *s = (struct qs_streamed){.status = QS_PULL_MISSING};
    qs_buf_init(&s->bytes);
}

void qs_streamed_done(struct qs_streamed *s)
{
    qs_form_done(&s->form);
    qs_buf_done(&s->bytes);
    qs_document_done(&s->document);
    free(s->rows);
    s->rows = NULL;
}

void qs_streamed_piece(struct qs_streamed *s, const struct qs_msg_document *m)
{
    QS_BUF(why);
    if (m->offset == 0)
        qs_buf_clear(&s->bytes);
    if (m->offset != s->bytes.len)
        return;
    s->status = m->status;
    s->total_bytes = m->total_bytes;
    qs_buf_add(&s->bytes, m->bytes.p ? m->bytes.p : "", m->bytes.n);
    qs_text_escape(&why, m->why.p ? m->why.p : "", m->why.n);
    snprintf(s->why, sizeof s->why, "%s", why.data);
}

void qs_streamed_process(struct qs_streamed *s, const struct qs_row *row, const struct qs_list *metrics)
{
    struct qs_iter ids = qs_list_iter(metrics);
    s->metric_count = 0;
    while (s->metric_count < QS_ROW_METRICS_MAX && qs_list_u16(&ids, &s->metric_ids[s->metric_count]))
        s->metric_count++;
    s->process = (struct qs_iteration_row){.start_off_ns = row->start_off_ns,
                                           .duration_ns = row->duration_ns,
                                           .taint = qs_closed_iteration_taint(row->flags),
                                           .status = row->status};
    memcpy(s->process.values, row->values, s->metric_count * sizeof *s->process.values);
}

static bool has_all(const struct qs_streamed *s, struct qs_err *err)
{
    const char *source = qs_form_source(&s->form);
    if (s->status == QS_PULL_MISSING)
        return qs_fail(err, QS_E_DATA, "%s: the program did not write it: %.200s", source, s->why);
    if (s->status != QS_PULL_OK)
        return qs_fail(err, QS_E_DATA, "%s: it cannot be read: %.200s", source, s->why);
    if (s->total_bytes > s->bytes.len)
        return qs_fail(err, QS_E_DATA,
                       "%s: the program wrote more than the %zu bytes that `limits.document` allows", source,
                       s->bytes.len);
    return true;
}

/* A program that failed says so first: what it wrote is seldom whole then. */
static void blame_program(struct qs_streamed *s)
{
    const struct qs_iteration_row *p = &s->process;
    if (p->taint & QS_TAINT_TIMEOUT)
        qs_fail_prefix(&s->err, "the program did not end within its limit");
    else if ((p->taint & QS_TAINT_EXIT) && p->status < 0)
        qs_fail_prefix(&s->err, "the program was ended by signal %d", (int)-p->status);
    else if (p->taint & QS_TAINT_EXIT)
        qs_fail_prefix(&s->err, "the program exited with code %d", (int)p->status);
}

/* Values that are no times: the iteration is the process, as the device measured it, and has their median. */
static void make_row(struct qs_streamed *s)
{
    const struct qs_document *d = &s->document;
    double median = 0;
    QS_FREED double *values = qs_calloc(d->n, sizeof *values);
    for (size_t i = 0; i < d->n; i++)
        values[i] = (double)d->values[i];
    (void)qs_median(values, d->n, &median);
    s->rows = qs_calloc(1, sizeof *s->rows);
    s->rows[0] = s->process;
    if (s->process.start_off_ns < 0 || s->process.duration_ns < 0)
        s->rows[0].taint |= QS_TAINT_CLOCK;
    s->rows[0].values[0] = llround(median);
    s->row_count = 1;
}

/* Each value is marked by what is known of its process. */
static void make_rows(struct qs_streamed *s)
{
    const struct qs_document *d = &s->document;
    if (!d->durations_ns) {
        make_row(s);
        return;
    }
    s->row_count = d->n;
    s->rows = qs_calloc(d->n + 1, sizeof *s->rows);
    for (size_t i = 0; i < d->n; i++) {
        s->rows[i] = (struct qs_iteration_row){.start_off_ns = -1,
                                               .duration_ns = d->durations_ns[i],
                                               .taint = s->process.taint |
                                                        (d->off && d->off[i] ? QS_TAINT_LAUNCH : 0U),
                                               .status = s->process.status};
        if (d->metric_count > 0)
            memcpy(s->rows[i].values, &d->values[i * d->metric_count], d->metric_count * sizeof *d->values);
    }
}

void qs_streamed_read(struct qs_streamed *s)
{
    s->ok = has_all(s, &s->err) && qs_document_read(&s->form, s->bytes.data ? s->bytes.data : "",
                                                    s->bytes.len, &s->document, &s->err);
    if (s->ok)
        make_rows(s);
    else
        blame_program(s);
}

static void fill_metrics(struct qs_streamed *s, struct qs_window_row *row)
{
    const struct qs_document *d = &s->document;
    for (size_t m = 0; m < d->metric_count; m++) {
        s->names[m] = d->metrics[m].name;
        s->kinds[m] = (struct qs_metric_kind){.unit = d->metrics[m].unit,
                                              .higher_is_better = d->metrics[m].higher_is_better};
    }
    row->metrics = s->names;
    row->kinds = s->kinds;
    row->metric_count = s->ok ? d->metric_count : 0;
}

static void fill_document(struct qs_streamed *s, struct qs_window_row *row)
{
    bool cut = s->total_bytes > s->bytes.len;
    size_t from = s->ok ? s->document.body_at : 0;
    s->kept = (struct qs_document_row){.name = from > 0 ? "benchmarkData.json" : s->form.file,
                                       .files = s->files,
                                       .bytes = s->bytes.data ? s->bytes.data + from : NULL,
                                       .n = s->bytes.len - from,
                                       .total_bytes = (int64_t)(s->total_bytes - from)};
    s->kept.why = s->status != QS_PULL_OK ? s->why
                  : s->bytes.len == 0     ? "it is empty"
                  : cut                   ? "its beginning"
                                          : NULL;
    if (s->kept.why && s->kept.why[0] == '\0')
        s->kept.why = NULL;
    row->document = s->files ? &s->kept : NULL;
}

void qs_streamed_fill(struct qs_streamed *s, struct qs_window_row *row)
{
    row->device_n = 1;
    fill_metrics(s, row);
    fill_document(s, row);
}

size_t qs_streamed_evidence(const struct qs_streamed *s, struct qs_evidence_row *out)
{
    static const char *const kinds[] = {"process.user_time_us",
                                        "process.system_time_us",
                                        "process.max_rss_bytes",
                                        "process.minor_faults",
                                        "process.major_faults",
                                        "process.voluntary_switches",
                                        "process.involuntary_switches",
                                        "process.block_in",
                                        "process.block_out"}; /* metric ids 1 to 9 */
    size_t n = 0;
    out[n++] =
        (struct qs_evidence_row){.kind = "process.wall_ns", .present = true, .after = s->process.duration_ns};
    if (s->ok)
        out[n++] = (struct qs_evidence_row){
            .kind = "process.values", .present = true, .after = (int64_t)s->document.n};
    for (size_t i = 0; i < s->metric_count; i++) {
        uint16_t id = s->metric_ids[i];
        if (id >= 1 && id <= sizeof kinds / sizeof *kinds)
            out[n++] = (struct qs_evidence_row){
                .kind = kinds[id - 1], .present = true, .after = s->process.values[i]};
    }
    return n;
}
