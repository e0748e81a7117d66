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

static void on_read(void *user)
{
    struct reading r = *(struct reading *)user;
    struct qs_control *c = r.c;
    free(user);
    if (!qs_control_answered(c, r.epoch)) {
        qs_streamed_done(&r.streamed);
        return;
    }
    struct qs_assembler *made = &c->win.made;
    qs_streamed_done(&made->streamed);
    made->streamed = r.streamed;
    qs_assembler_documented(made);
    if (!made->streamed.ok)
        c->run.err = made->streamed.err;
    if (!made->streamed.ok && c->plan.block > 0)
        qs_control_news_warning(c, "%s: %s", c->p.spec->arms[qs_plan_arm(&c->plan)].name,
                                made->streamed.err.text);
    qs_control_window_whole(c);
}

void qs_control_stream_read(struct qs_control *c)
{
    struct qs_streamed *s = &c->win.made.streamed;
    struct reading *r = qs_calloc(1, sizeof *r);
    s->files = c->p.files;
    qs_job_form(c->p.spec, qs_plan_arm(&c->plan), c->plan.point, &s->form);
    *r = (struct reading){.c = c, .epoch = c->epoch, .streamed = *s};
    qs_streamed_init(s);
    c->outstanding++;
    qs_loop_work(c->p.loop, QS_LANE_QUICK, on_pool, on_read, r);
}
