#include "proto/msg_harness.h"

#include "proto/codec.h"

bool qs_harness_fits(const struct qs_harness *h)
{
    return h->benchmark.n <= QS_NAME_MAX_BYTES && h->capacity >= 1 && h->capacity <= QS_ITERATIONS_MAX &&
           h->environment_bytes <= QS_LAYOUT_ENVIRONMENT_MAX_BYTES &&
           h->stack_bytes <= QS_LAYOUT_STACK_MAX_BYTES && h->heap_bytes <= QS_LAYOUT_HEAP_MAX_BYTES;
}

void qs_harness_put(struct qs_writer *w, const struct qs_harness *h)
{
    qs_put_text(w, h->benchmark);
    qs_codec_put_list(w, &h->params, QS_PARAMS_MAX, QS_PARAMS_MAX_BYTES, qs_codec_walk_text);
    qs_put_u32(w, h->capacity);
    qs_put_u64(w, h->seed);
    qs_put_u32(w, h->environment_bytes);
    qs_put_u32(w, h->stack_bytes);
    qs_put_u32(w, h->heap_bytes);
}

void qs_harness_get(struct qs_wire_reader *r, struct qs_harness *h)
{
    h->benchmark = qs_get_text(r);
    h->params = qs_codec_get_list(r, QS_PARAMS_MAX, QS_PARAMS_MAX_BYTES, qs_codec_walk_text);
    h->capacity = qs_get_u32(r);
    h->seed = qs_get_u64(r);
    h->environment_bytes = qs_get_u32(r);
    h->stack_bytes = qs_get_u32(r);
    h->heap_bytes = qs_get_u32(r);
}

static struct qs_declared read_declared(struct qs_wire_reader *r)
{
    struct qs_declared v = {.name = qs_get_text(r)};
    v.unit = qs_get_text(r);
    v.flags = qs_get_u8(r);
    bool valid = qs_codec_is_name(v.name) && qs_codec_is_name(v.unit) && (v.flags & ~QS_DECLARED_FLAGS) == 0;
    if (r->err == QS_WIRE_OK && !valid)
        r->err = QS_WIRE_E_VALUE;
    return v;
}

static void walk_declared(struct qs_wire_reader *r)
{
    (void)read_declared(r);
}

bool qs_list_declared(struct qs_iter *it, struct qs_declared *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_declared(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_declared(struct qs_build *b, const struct qs_declared *v)
{
    qs_put_text(&b->w, v->name);
    qs_put_text(&b->w, v->unit);
    qs_put_u8(&b->w, v->flags);
    return qs_build_counted(b);
}

void qs_declared_put(struct qs_writer *w, const struct qs_list *declared)
{
    qs_codec_put_list(w, declared, QS_DECLARED_MAX, QS_FRAME_MAX_BYTES, walk_declared);
}

struct qs_list qs_declared_get(struct qs_wire_reader *r)
{
    return qs_codec_get_list(r, QS_DECLARED_MAX, QS_FRAME_MAX_BYTES, walk_declared);
}
