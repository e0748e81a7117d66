#include "proto/msg_control.h"

#include "proto/bind_command.h"
#include "proto/codec.h"

#include <string.h>

/* The smallest list that is whole must fit, and its message the shortest frame. */
_Static_assert(2 + QS_CONTROL_PATH_MAX_BYTES + 7 + QS_FOUND_MAX_BYTES <= QS_CONTROL_MAX_BYTES, "one file");
_Static_assert(QS_CONTROL_MAX_BYTES + 64 <= QS_FRAME_FLOOR_BYTES, "a list must fit the shortest frame");
_Static_assert(QS_TUNE_MAX *(9 + 2 * QS_TUNE_SAID_MAX_BYTES) <= QS_CONTROL_MAX_BYTES,
               "what became of all writes");

static bool is_path(struct qs_text t)
{
    return qs_codec_is_inside(t, QS_CONTROL_PATH_MAX_BYTES);
}

/* A text of more than one line. NUL is in no text. */
static bool is_command(struct qs_text t)
{
    return t.n <= QS_CONTROL_PATH_MAX_BYTES && t.n > 0 && memchr(t.p, '\n', t.n) != NULL;
}

static void check(struct qs_wire_reader *r, bool fits)
{
    if (r->err == QS_WIRE_OK && !fits)
        r->err = QS_WIRE_E_VALUE;
}

static bool survey_fits(const struct qs_msg_survey *m)
{
    return is_path(m->pattern) && (m->after.n == 0 || is_path(m->after));
}

bool qs_msg_encode_survey(struct qs_writer *w, const struct qs_msg_survey *m)
{
    qs_codec_allow(w, survey_fits(m));
    qs_put_u32(w, m->id);
    qs_put_text(w, m->pattern);
    qs_put_text(w, m->after);
    return w->ok;
}

int qs_msg_decode_survey(const uint8_t *p, size_t n, struct qs_msg_survey *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->pattern = qs_get_text(&r);
    m->after = qs_get_text(&r);
    return qs_codec_decoded(&r, survey_fits(m));
}

static struct qs_found read_found(struct qs_wire_reader *r)
{
    struct qs_found v = {.path = qs_get_text(r)};
    v.access = qs_get_u8(r);
    v.error = qs_get_i32(r);
    v.value = qs_get_blob(r);
    check(r, is_path(v.path) && (v.access & ~(unsigned)QS_FILE_ACCESS) == 0 && v.error >= 0 &&
                 v.value.n <= QS_FOUND_MAX_BYTES && (v.error == 0 || v.value.n == 0));
    return v;
}

static void walk_found(struct qs_wire_reader *r)
{
    (void)read_found(r);
}

bool qs_list_found(struct qs_iter *it, struct qs_found *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_found(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_found(struct qs_build *b, const struct qs_found *v)
{
    qs_put_text(&b->w, v->path);
    qs_put_u8(&b->w, v->access);
    qs_put_i32(&b->w, v->error);
    qs_put_blob(&b->w, v->value);
    return qs_build_counted(b);
}

bool qs_msg_encode_surveyed(struct qs_writer *w, const struct qs_msg_surveyed *m)
{
    qs_put_u32(w, m->id);
    qs_put_u8(w, m->more);
    qs_codec_put_list(w, &m->files, QS_FOUND_MAX, QS_CONTROL_MAX_BYTES, walk_found);
    return w->ok;
}

int qs_msg_decode_surveyed(const uint8_t *p, size_t n, struct qs_msg_surveyed *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    uint8_t more = qs_get_u8(&r);
    m->more = more == 1;
    m->files = qs_codec_get_list(&r, QS_FOUND_MAX, QS_CONTROL_MAX_BYTES, walk_found);
    return qs_codec_decoded(&r, more <= 1);
}

static bool is_scale(int64_t v)
{
    return v >= 1 && v <= QS_BIND_SCALE_MAX;
}

/* A table has its lo .. hi for the keys. */
static bool are_bind_flags(unsigned flags)
{
    const unsigned others = QS_BIND_HELD | QS_BIND_BITS;
    return (flags & ~(unsigned)QS_BIND_FLAGS) == 0 &&
           ((flags & QS_BIND_TABLE) == 0 || (flags & others) == 0) &&
           (flags & (QS_BIND_TABLE | QS_BIND_COMMAND)) != (QS_BIND_TABLE | QS_BIND_COMMAND);
}

static bool is_source(const struct qs_binding *v)
{
    struct qs_bind_command command;
    return v->flags & QS_BIND_COMMAND ? qs_bind_command_of(v->path, &command) : is_path(v->path);
}

static struct qs_binding read_binding(struct qs_wire_reader *r)
{
    struct qs_binding v = {.name = qs_get_text(r)};
    v.path = qs_get_text(r);
    v.mul = qs_get_i64(r);
    v.div = qs_get_i64(r);
    v.lo = qs_get_i64(r);
    v.hi = qs_get_i64(r);
    v.flags = qs_get_u8(r);
    check(r, qs_codec_is_name(v.name) && is_source(&v) && is_scale(v.mul) && is_scale(v.div) &&
                 v.lo <= v.hi && are_bind_flags(v.flags));
    return v;
}

static void walk_binding(struct qs_wire_reader *r)
{
    (void)read_binding(r);
}

bool qs_list_binding(struct qs_iter *it, struct qs_binding *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_binding(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_binding(struct qs_build *b, const struct qs_binding *v)
{
    qs_put_text(&b->w, v->name);
    qs_put_text(&b->w, v->path);
    qs_put_i64(&b->w, v->mul);
    qs_put_i64(&b->w, v->div);
    qs_put_i64(&b->w, v->lo);
    qs_put_i64(&b->w, v->hi);
    qs_put_u8(&b->w, v->flags);
    return qs_build_counted(b);
}

bool qs_msg_encode_bind(struct qs_writer *w, const struct qs_msg_bind *m)
{
    qs_put_u32(w, m->id);
    qs_codec_put_list(w, &m->sensors, QS_BIND_MAX, QS_CONTROL_MAX_BYTES, walk_binding);
    return w->ok;
}

int qs_msg_decode_bind(const uint8_t *p, size_t n, struct qs_msg_bind *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->sensors = qs_codec_get_list(&r, QS_BIND_MAX, QS_CONTROL_MAX_BYTES, walk_binding);
    return qs_codec_decoded(&r, true);
}

static struct qs_tune read_tune(struct qs_wire_reader *r)
{
    struct qs_tune v = {.path = qs_get_text(r)};
    v.value = qs_get_text(r);
    v.flags = qs_get_u8(r);
    check(r, (v.flags & QS_TUNE_COMMAND ? is_command(v.path) : is_path(v.path) && !is_command(v.path)) &&
                 v.value.n <= QS_TUNE_VALUE_MAX_BYTES && (v.flags & ~(unsigned)QS_TUNE_FLAGS) == 0);
    return v;
}

static void walk_tune(struct qs_wire_reader *r)
{
    (void)read_tune(r);
}

bool qs_list_tune(struct qs_iter *it, struct qs_tune *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_tune(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_tune(struct qs_build *b, const struct qs_tune *v)
{
    qs_put_text(&b->w, v->path);
    qs_put_text(&b->w, v->value);
    qs_put_u8(&b->w, v->flags);
    return qs_build_counted(b);
}

static bool tune_fits(const struct qs_msg_tune *m)
{
    return m->lease_ms >= QS_LEASE_MIN_MS && m->lease_ms <= QS_LEASE_MAX_MS &&
           m->settle_ms <= QS_SETTLE_MAX_MS && m->writes.count >= 1;
}

bool qs_msg_encode_tune(struct qs_writer *w, const struct qs_msg_tune *m)
{
    qs_codec_allow(w, tune_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u32(w, m->lease_ms);
    qs_put_u32(w, m->settle_ms);
    qs_codec_put_list(w, &m->writes, QS_TUNE_MAX, QS_CONTROL_MAX_BYTES, walk_tune);
    return w->ok;
}

int qs_msg_decode_tune(const uint8_t *p, size_t n, struct qs_msg_tune *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->lease_ms = qs_get_u32(&r);
    m->settle_ms = qs_get_u32(&r);
    m->writes = qs_codec_get_list(&r, QS_TUNE_MAX, QS_CONTROL_MAX_BYTES, walk_tune);
    return qs_codec_decoded(&r, tune_fits(m));
}

static struct qs_tuned read_tuned(struct qs_wire_reader *r)
{
    struct qs_tuned v = {.outcome = (enum qs_tune_outcome)qs_get_u8(r)};
    v.error = qs_get_i32(r);
    v.before = qs_get_text(r);
    v.now = qs_get_text(r);
    check(r, v.outcome >= QS_TUNE_SET && v.outcome <= QS_TUNE_UNJOURNALLED && v.error >= 0 &&
                 v.before.n <= QS_TUNE_SAID_MAX_BYTES && v.now.n <= QS_TUNE_SAID_MAX_BYTES);
    return v;
}

static void walk_tuned(struct qs_wire_reader *r)
{
    (void)read_tuned(r);
}

static void put_tuned(struct qs_writer *w, const struct qs_tuned *v)
{
    qs_put_u8(w, (uint8_t)v->outcome);
    qs_put_i32(w, v->error);
    qs_put_text(w, v->before);
    qs_put_text(w, v->now);
}

bool qs_list_tuned(struct qs_iter *it, struct qs_tuned *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_tuned(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_tuned(struct qs_build *b, const struct qs_tuned *v)
{
    put_tuned(&b->w, v);
    return qs_build_counted(b);
}

bool qs_msg_encode_tuned(struct qs_writer *w, const struct qs_msg_tuned *m)
{
    qs_put_u32(w, m->id);
    qs_codec_put_list(w, &m->writes, QS_TUNE_MAX, QS_CONTROL_MAX_BYTES, walk_tuned);
    return w->ok;
}

int qs_msg_decode_tuned(const uint8_t *p, size_t n, struct qs_msg_tuned *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->writes = qs_codec_get_list(&r, QS_TUNE_MAX, QS_CONTROL_MAX_BYTES, walk_tuned);
    return qs_codec_decoded(&r, true);
}

bool qs_msg_encode_restore(struct qs_writer *w, const struct qs_msg_restore *m)
{
    qs_put_u32(w, m->id);
    return w->ok;
}

int qs_msg_decode_restore(const uint8_t *p, size_t n, struct qs_msg_restore *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    return qs_codec_decoded(&r, true);
}

static struct qs_restored read_restored(struct qs_wire_reader *r)
{
    struct qs_restored v = {.path = qs_get_text(r)};
    v.result = read_tuned(r);
    check(r, is_path(v.path) || is_command(v.path));
    return v;
}

static void walk_restored(struct qs_wire_reader *r)
{
    (void)read_restored(r);
}

bool qs_list_restored(struct qs_iter *it, struct qs_restored *out)
{
    if (!qs_codec_next(it))
        return false;
    *out = read_restored(&it->r);
    return it->r.err == QS_WIRE_OK;
}

bool qs_build_restored(struct qs_build *b, const struct qs_restored *v)
{
    qs_put_text(&b->w, v->path);
    put_tuned(&b->w, &v->result);
    return qs_build_counted(b);
}

bool qs_msg_encode_restored(struct qs_writer *w, const struct qs_msg_restored *m)
{
    qs_put_u32(w, m->id);
    qs_put_u8(w, m->more);
    qs_codec_put_list(w, &m->files, QS_TUNE_MAX, QS_CONTROL_MAX_BYTES, walk_restored);
    return w->ok;
}

int qs_msg_decode_restored(const uint8_t *p, size_t n, struct qs_msg_restored *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    uint8_t more = qs_get_u8(&r);
    m->more = more == 1;
    m->files = qs_codec_get_list(&r, QS_TUNE_MAX, QS_CONTROL_MAX_BYTES, walk_restored);
    return qs_codec_decoded(&r, more <= 1);
}
