#include "device/control_stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/control_impl.h"
#include "device/control_news.h"

static const struct qs_job_benchmark *benchmark(const struct qs_control *c)
{
    return &c->p.spec->benchmarks[c->p.spec->points[c->plan.point].benchmark];
}

bool qs_control_is_stream(const struct qs_control *c)
{
    return benchmark(c)->mode == QS_MODE_STREAM;
}

void qs_control_stream_fill(const struct qs_control *c, struct qs_msg_run_begin *m)
{
    const struct qs_job_benchmark *b = benchmark(c);
    m->mode = QS_RUN_STREAM;
    m->output_kind = QS_OUTPUT_KIND_CAPTURE;
    m->output_path = qs_text_of(NULL);
    m->stream = (struct qs_stream){.source = b->output_file ? QS_STREAM_FILE : QS_STREAM_STDOUT,
                                   .path = qs_text_of(b->output_file),
                                   .document_max_bytes = (uint32_t)b->stream.document_max_bytes};
}

void qs_control_stream_reset(struct qs_control *c)
{
    qs_streamed_done(&c->streamed);
    qs_streamed_init(&c->streamed);
}

void qs_control_on_document(struct qs_control *c, const struct qs_msg_document *m)
{
    if (qs_control_owns(c, &m->run) && m->window == c->run.window && c->win.closed &&
        c->state == QS_CS_EVIDENCE)
        qs_streamed_piece(&c->streamed, m);
}

/* Reading takes as long as the document is: what it is about may be over when it is done. */
struct reading {
    struct qs_control *c;
    uint64_t epoch;
    struct qs_streamed streamed; /* owned while it is read */
};

static void on_pool(void *user)
{
    struct reading *r = user;
    qs_streamed_read(&r->streamed);
}

/* The values are the window's iterations; without them the window has failed. */
static void give_back(struct qs_control *c, struct reading *r)
{
    struct qs_control_window *w = &c->win;
    struct qs_streamed *s = &c->streamed;
    qs_streamed_done(s);
    *s = r->streamed;
    r->streamed = (struct qs_streamed){0};
    w->rows_n = s->ok ? s->row_count : 0;
    if (!s->ok) {
        w->how = QS_CLOSED_FAILED;
        w->msg.failure = qs_text_of(s->err.text);
        c->run.err = s->err;
        return;
    }
    w->evals = s->document.evals;
    w->rows = qs_realloc(w->rows, (w->rows_n + 1) * sizeof *w->rows);
    memcpy(w->rows, s->rows, w->rows_n * sizeof *w->rows);
}

static void on_read(void *user)
{
    struct reading *r = user;
    struct qs_control *c = r->c;
    bool wanted = qs_control_answered(c, r->epoch);
    if (wanted)
        give_back(c, r);
    qs_streamed_done(&r->streamed);
    free(r);
    if (!wanted)
        return;
    if (!c->streamed.ok && c->plan.block > 0)
        qs_control_news_warning(c, "%s: %s", c->p.spec->arms[qs_plan_arm(&c->plan)].name,
                                c->streamed.err.text);
    qs_control_window_whole(c);
}

void qs_control_stream_read(struct qs_control *c, const struct qs_row *row, const struct qs_list *metrics)
{
    struct qs_streamed *s = &c->streamed;
    struct reading *r = qs_calloc(1, sizeof *r);
    s->files = c->p.files;
    qs_job_form(c->p.spec, qs_plan_arm(&c->plan), c->plan.point, &s->form);
    qs_streamed_process(s, row, metrics);
    *r = (struct reading){.c = c, .epoch = c->epoch, .streamed = *s};
    qs_streamed_init(s);
    c->outstanding++;
    qs_loop_work(c->p.loop, QS_LANE_QUICK, on_pool, on_read, r);
}

void qs_control_stream_rows(struct qs_control *c, struct qs_window_row *row)
{
    qs_streamed_fill(&c->streamed, row);
    c->run.documents += row->document ? 1 : 0;
}

int64_t qs_control_stream_took_ns(const struct qs_control *c)
{
    return c->streamed.process.duration_ns;
}
