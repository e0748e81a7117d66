#include "proto/codec.h"
#include "proto/msg_result.h"

_Static_assert(16 + 4 + 8 + 4 + 2 + 2 * QS_METRICS_MAX + 2 +
                       QS_ROWS_MAX * (QS_ROW_FIXED_BYTES + 8 * QS_METRICS_MAX) <=
                   QS_FRAME_MAX_BYTES,
               "a full ITERATIONS must fit a frame");

/* metrics <= QS_METRICS_MAX */
static uint32_t row_bytes(uint16_t metrics)
{
    return QS_ROW_FIXED_BYTES + 8U * metrics;
}

bool qs_list_row(struct qs_iter *it, uint16_t metrics, struct qs_row *out)
{
    if (metrics > QS_METRICS_MAX || !qs_codec_next(it))
        return false;
    out->start_off_ns = qs_get_i64(&it->r);
    out->duration_ns = qs_get_i64(&it->r);
    out->flags = qs_get_u32(&it->r);
    out->status = qs_get_i32(&it->r);
    for (uint16_t i = 0; i < metrics; i++)
        out->values[i] = qs_get_i64(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_row(struct qs_build *b, uint16_t metrics, const struct qs_row *v)
{
    qs_codec_allow(&b->w, metrics <= QS_METRICS_MAX);
    qs_put_i64(&b->w, v->start_off_ns);
    qs_put_i64(&b->w, v->duration_ns);
    qs_put_u32(&b->w, v->flags);
    qs_put_i32(&b->w, v->status);
    for (uint16_t i = 0; i < metrics && b->w.ok; i++)
        qs_put_i64(&b->w, v->values[i]);
    return qs_build_counted(b);
}

/* Each id once, so that a row has one value per metric. The list is at most QS_METRICS_MAX long. */
static bool ids_differ(const struct qs_list *metrics)
{
    uint16_t seen[QS_METRICS_MAX];
    uint16_t count = 0;
    uint16_t id;
    struct qs_iter it = qs_list_iter(metrics);
    while (count < QS_METRICS_MAX && qs_list_u16(&it, &id)) {
        for (uint16_t i = 0; i < count; i++) {
            if (seen[i] == id)
                return false;
        }
        seen[count++] = id;
    }
    return true;
}

static bool iterations_fit(const struct qs_msg_iterations *m)
{
    return !qs_uid_is_zero(&m->run) && m->metrics.count <= QS_METRICS_MAX && ids_differ(&m->metrics) &&
           m->rows.count <= QS_ROWS_MAX && m->first_seq <= QS_SEQ_MAX - m->rows.count &&
           m->first_index <= (uint32_t)QS_ITERATIONS_MAX - m->rows.count;
}

static struct qs_list get_rows(struct qs_wire_reader *r, uint16_t metrics)
{
    const struct qs_list none = {.bytes = NULL, .len = 0, .count = 0};
    uint16_t count = qs_get_u16(r);
    if (r->err == QS_WIRE_OK && count > QS_ROWS_MAX)
        r->err = QS_WIRE_E_LIMIT;
    if (r->err != QS_WIRE_OK)
        return none;
    uint32_t len = count * row_bytes(metrics);
    const uint8_t *bytes = qs_get_view(r, len);
    return r->err == QS_WIRE_OK ? (struct qs_list){.bytes = bytes, .len = len, .count = count} : none;
}

bool qs_msg_encode_iterations(struct qs_writer *w, const struct qs_msg_iterations *m)
{
    bool fits = iterations_fit(m);
    qs_codec_allow(w, fits && m->rows.len == m->rows.count * row_bytes(m->metrics.count));
    qs_put_uid(w, &m->run);
    qs_put_u32(w, m->window);
    qs_put_u64(w, m->first_seq);
    qs_put_u32(w, m->first_index);
    qs_codec_put_list(w, &m->metrics, QS_METRICS_MAX, QS_FRAME_MAX_BYTES, qs_codec_walk_u16);
    qs_put_u16(w, m->rows.count);
    qs_put_bytes(w, m->rows.bytes, m->rows.len);
    return w->ok;
}

int qs_msg_decode_iterations(const uint8_t *p, size_t n, struct qs_msg_iterations *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->window = qs_get_u32(&r);
    m->first_seq = qs_get_u64(&r);
    m->first_index = qs_get_u32(&r);
    m->metrics = qs_codec_get_list(&r, QS_METRICS_MAX, QS_FRAME_MAX_BYTES, qs_codec_walk_u16);
    m->rows = get_rows(&r, m->metrics.count);
    return qs_codec_decoded(&r, iterations_fit(m));
}
