/* Piece by piece, each answered before the next is asked for, with the farm's token for a transfer. */
#include <stdlib.h>

#include "base/loop.h"
#include "base/mem.h"
#include "device/control_impl.h"

static void ask(struct qs_control *c);
static void on_pulled(const union qs_msg *reply, const struct qs_err *refused, void *user);

static void ask_again(void *user)
{
    struct qs_control *c = user;
    c->fetch.again = NULL;
    ask(c);
}

static void give_up(struct qs_control *c, const struct qs_err *why)
{
    qs_timer_stop(c->fetch.again);
    c->fetch.again = NULL;
    c->fetch.done(c, NULL, why);
}

/* Asks for the next piece. */
static void ask(struct qs_control *c)
{
    struct qs_control_fetch *f = &c->fetch;
    struct qs_err err = QS_ERR_INIT;
    if (!qs_control_has_token(c, &c->fetch.again, ask_again))
        return;
    size_t left = f->limit_bytes - f->bytes.len;
    const struct qs_msg_pull m = {.run = c->run.uid,
                                  .id = ++f->id,
                                  .source = f->source,
                                  .path = qs_text_of(f->path),
                                  .offset = f->bytes.len,
                                  .max_bytes = left < QS_PULL_MAX_BYTES ? (uint32_t)left : QS_PULL_MAX_BYTES};
    if (!qs_control_call(c, QS_MSG_PULL, &m, 0, on_pulled, &err) && err.code != QS_E_LINK)
        give_up(c, &err);
}

void qs_control_fetch_begin(struct qs_control *c, enum qs_pull_source source, const char *path,
                            size_t limit_bytes, qs_control_fetched *done)
{
    struct qs_control_fetch *f = &c->fetch;
    free(f->path);
    f->path = qs_strdup(path);
    f->source = source;
    f->limit_bytes = limit_bytes;
    f->done = done;
    qs_buf_clear(&f->bytes);
    ask(c);
}

static void on_pulled(const union qs_msg *reply, const struct qs_err *refused, void *user)
{
    struct qs_control *c = user;
    struct qs_control_fetch *f = &c->fetch;
    if (refused) {
        give_up(c, refused);
        return;
    }
    const struct qs_msg_pulled *m = &reply->pulled;
    size_t room = f->limit_bytes - f->bytes.len;
    qs_buf_add(&f->bytes, m->bytes.p ? m->bytes.p : "", m->bytes.n < room ? m->bytes.n : room);
    bool whole = m->status != QS_PULL_OK || m->bytes.n == 0 || f->bytes.len >= m->total_bytes ||
                 f->bytes.len == f->limit_bytes;
    if (!whole) {
        ask(c);
        return;
    }
    f->done(c, m, NULL);
}

void qs_control_fetch_stop(struct qs_control *c)
{
    qs_timer_stop(c->fetch.again);
    c->fetch.again = NULL;
    qs_buf_clear(&c->fetch.bytes);
}

void qs_control_fetch_done(struct qs_control *c)
{
    qs_control_fetch_stop(c);
    qs_buf_done(&c->fetch.bytes);
    free(c->fetch.path);
    c->fetch.path = NULL;
}
