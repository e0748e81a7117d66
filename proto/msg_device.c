/* What the device says of itself: facts, and the iterations it holds. */
#include "proto/codec.h"
#include "proto/msg_session.h"

/* An element as it was read: out of range becomes the reader's error, so that lists and builders check alike.
 */
static struct qs_fact read_fact(struct qs_wire_reader *r)
{
    struct qs_fact f = {.key = qs_get_text(r)};
    f.value = qs_get_text(r);
    if (r->err == QS_WIRE_OK && (!qs_codec_is_name(f.key) || f.value.n > QS_FACT_VALUE_MAX_BYTES))
        r->err = QS_WIRE_E_VALUE;
    return f;
}

static void walk_fact(struct qs_wire_reader *r)
{
    (void)read_fact(r);
}

bool qs_list_fact(struct qs_iter *it, struct qs_fact *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_fact(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_fact(struct qs_build *b, const struct qs_fact *f)
{
    qs_put_text(&b->w, f->key);
    qs_put_text(&b->w, f->value);
    return qs_build_counted(b);
}

bool qs_msg_encode_facts(struct qs_writer *w, const struct qs_msg_facts *m)
{
    qs_codec_put_list(w, &m->facts, QS_FACTS_MAX, QS_FRAME_MAX_BYTES, walk_fact);
    return w->ok;
}

int qs_msg_decode_facts(const uint8_t *p, size_t n, struct qs_msg_facts *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->facts = qs_codec_get_list(&r, QS_FACTS_MAX, QS_FRAME_MAX_BYTES, walk_fact);
    return qs_codec_decoded(&r, true);
}

static struct qs_held read_held(struct qs_wire_reader *r)
{
    struct qs_held h = {.run = qs_get_uid(r)};
    h.first_seq = qs_get_u64(r);
    h.next_seq = qs_get_u64(r);
    bool valid = !qs_uid_is_zero(&h.run) && h.first_seq <= h.next_seq && h.next_seq <= QS_SEQ_MAX;
    if (r->err == QS_WIRE_OK && !valid)
        r->err = QS_WIRE_E_VALUE;
    return h;
}

static void walk_held(struct qs_wire_reader *r)
{
    (void)read_held(r);
}

bool qs_list_held(struct qs_iter *it, struct qs_held *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_held(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_held(struct qs_build *b, const struct qs_held *h)
{
    qs_put_uid(&b->w, &h->run);
    qs_put_u64(&b->w, h->first_seq);
    qs_put_u64(&b->w, h->next_seq);
    return qs_build_counted(b);
}

bool qs_msg_encode_held(struct qs_writer *w, const struct qs_msg_held *m)
{
    qs_codec_put_list(w, &m->held, QS_HELD_MAX, QS_FRAME_MAX_BYTES, walk_held);
    return w->ok;
}

int qs_msg_decode_held(const uint8_t *p, size_t n, struct qs_msg_held *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->held = qs_codec_get_list(&r, QS_HELD_MAX, QS_FRAME_MAX_BYTES, walk_held);
    return qs_codec_decoded(&r, true);
}
