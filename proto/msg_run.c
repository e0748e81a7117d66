#include "proto/msg_run.h"

#include "proto/codec.h"

static void put_argv(struct qs_writer *w, const struct qs_list *argv)
{
    qs_codec_put_list(w, argv, QS_ARGV_MAX, QS_ARGV_MAX_BYTES, qs_codec_walk_text);
}

static struct qs_list get_argv(struct qs_wire_reader *r)
{
    return qs_codec_get_list(r, QS_ARGV_MAX, QS_ARGV_MAX_BYTES, qs_codec_walk_text);
}

static void put_env(struct qs_writer *w, const struct qs_list *env)
{
    qs_codec_put_list(w, env, QS_ENV_MAX, QS_ENV_MAX_BYTES, qs_codec_walk_text);
}

static struct qs_list get_env(struct qs_wire_reader *r)
{
    return qs_codec_get_list(r, QS_ENV_MAX, QS_ENV_MAX_BYTES, qs_codec_walk_text);
}

static bool stdin_fits(const struct qs_msg_run_begin *m)
{
    return (unsigned)m->stdin_kind <= QS_STDIN_FILE && qs_codec_is_path(m->stdin_path) &&
           (m->stdin_path.n > 0) == (m->stdin_kind == QS_STDIN_FILE);
}

static bool output_fits(const struct qs_msg_run_begin *m)
{
    return (unsigned)m->output_kind <= QS_OUTPUT_KIND_FILE && m->output_max_bytes <= QS_OUTPUT_MAX_BYTES &&
           qs_codec_is_path(m->output_path) &&
           (m->output_path.n > 0) == (m->output_kind == QS_OUTPUT_KIND_FILE) &&
           (m->output_kind != QS_OUTPUT_KIND_FILE || m->mode != QS_RUN_STREAM);
}

static bool hooks_fit(const struct qs_msg_run_begin *m)
{
    bool any = m->prepare.count > 0 || m->conclude.count > 0;
    if (m->mode == QS_RUN_HARNESS)
        return !any && qs_codec_is_deadline(m->hook_limit_ns) && qs_harness_fits(&m->harness);
    return any ? qs_codec_is_deadline(m->hook_limit_ns) : qs_codec_is_span(m->hook_limit_ns);
}

static bool run_begin_fits(const struct qs_msg_run_begin *m)
{
    return !qs_uid_is_zero(&m->run) && m->argv.count > 0 && qs_codec_is_path(m->cwd) && stdin_fits(m) &&
           output_fits(m) && qs_codec_is_deadline(m->iteration_limit_ns) &&
           (unsigned)m->exit_rule <= QS_EXIT_RULE_LIST &&
           (m->exit_rule != QS_EXIT_RULE_LIST || m->exit_codes.count > 0) && qs_codec_is_note(m->cpus) &&
           m->user.n <= QS_NAME_MAX_BYTES && (unsigned)m->mode <= QS_RUN_STREAM && hooks_fit(m) &&
           (m->mode != QS_RUN_STREAM || qs_stream_fits(&m->stream)) && qs_start_fits(&m->start);
}

bool qs_msg_encode_run_begin(struct qs_writer *w, const struct qs_msg_run_begin *m)
{
    qs_codec_allow(w, run_begin_fits(m));
    qs_put_uid(w, &m->run);
    put_argv(w, &m->argv);
    put_env(w, &m->env);
    qs_put_text(w, m->cwd);
    qs_put_u8(w, (uint8_t)m->stdin_kind);
    qs_put_text(w, m->stdin_path);
    qs_put_u8(w, (uint8_t)m->output_kind);
    if (m->output_kind == QS_OUTPUT_KIND_FILE)
        qs_put_text(w, m->output_path);
    qs_put_u32(w, m->output_max_bytes);
    qs_put_i64(w, m->iteration_limit_ns);
    qs_put_u8(w, (uint8_t)m->exit_rule);
    qs_codec_put_list(w, &m->exit_codes, QS_EXIT_CODES_MAX, QS_FRAME_MAX_BYTES, qs_codec_walk_i32);
    qs_put_text(w, m->cpus);
    put_argv(w, &m->prepare);
    put_argv(w, &m->conclude);
    qs_put_i64(w, m->hook_limit_ns);
    qs_put_text(w, m->user);
    if (m->mode == QS_RUN_HARNESS) {
        qs_put_u8(w, QS_RUN_HARNESS);
        qs_harness_put(w, &m->harness);
    }
    if (m->mode == QS_RUN_STREAM) {
        qs_put_u8(w, QS_RUN_STREAM);
        qs_stream_put(w, &m->stream);
    }
    if (qs_start_given(&m->start)) {
        if (m->mode == QS_RUN_COMMAND)
            qs_put_u8(w, QS_RUN_COMMAND);
        qs_start_put(w, &m->start);
    }
    return w->ok;
}

static void get_mode(struct qs_wire_reader *r, struct qs_msg_run_begin *m)
{
    m->mode = (enum qs_run_mode)qs_get_u8(r);
    if (m->mode == QS_RUN_HARNESS)
        qs_harness_get(r, &m->harness);
    else if (m->mode == QS_RUN_STREAM)
        qs_stream_get(r, &m->stream);
    else if (m->mode != QS_RUN_COMMAND || r->left == 0) /* that is said where something follows alone */
        r->err = r->err == QS_WIRE_OK ? QS_WIRE_E_VALUE : r->err;
    if (r->err == QS_WIRE_OK && r->left > 0)
        qs_start_get(r, &m->start);
}

int qs_msg_decode_run_begin(const uint8_t *p, size_t n, struct qs_msg_run_begin *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->argv = get_argv(&r);
    m->env = get_env(&r);
    m->cwd = qs_get_text(&r);
    m->stdin_kind = (enum qs_stdin_kind)qs_get_u8(&r);
    m->stdin_path = qs_get_text(&r);
    m->output_kind = (enum qs_output_kind)qs_get_u8(&r);
    m->output_path = m->output_kind == QS_OUTPUT_KIND_FILE ? qs_get_text(&r) : (struct qs_text){.n = 0};
    m->output_max_bytes = qs_get_u32(&r);
    m->iteration_limit_ns = qs_get_i64(&r);
    m->exit_rule = (enum qs_exit_rule)qs_get_u8(&r);
    m->exit_codes = qs_codec_get_list(&r, QS_EXIT_CODES_MAX, QS_FRAME_MAX_BYTES, qs_codec_walk_i32);
    m->cpus = qs_get_text(&r);
    m->prepare = get_argv(&r);
    m->conclude = get_argv(&r);
    m->hook_limit_ns = qs_get_i64(&r);
    m->user = qs_get_text(&r);
    m->mode = QS_RUN_COMMAND;
    m->harness = (struct qs_harness){.capacity = 0};
    m->stream = (struct qs_stream){.document_max_bytes = 0};
    m->start = (struct qs_start){.value = 0};
    if (r.err == QS_WIRE_OK && r.left > 0)
        get_mode(&r, m);
    return qs_codec_decoded(&r, run_begin_fits(m));
}

static bool run_ready_fits(const struct qs_msg_run_ready *m)
{
    return !qs_uid_is_zero(&m->run) && qs_codec_is_path(m->executable) && qs_codec_is_note(m->cpus) &&
           (m->flags & ~(uint32_t)QS_READY_FLAGS) == 0 &&
           (m->header_version > 0 || (m->flags == 0 && m->declared.count == 0 && m->evals_max == 0));
}

bool qs_msg_encode_run_ready(struct qs_writer *w, const struct qs_msg_run_ready *m)
{
    qs_codec_allow(w, run_ready_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_text(w, m->executable);
    qs_put_bytes(w, m->sha256, sizeof m->sha256);
    qs_put_text(w, m->cpus);
    if (m->header_version > 0) {
        qs_put_u32(w, m->header_version);
        qs_put_u32(w, m->flags);
        qs_declared_put(w, &m->declared);
    }
    if (m->evals_max > 0)
        qs_put_u32(w, m->evals_max);
    return w->ok;
}

int qs_msg_decode_run_ready(const uint8_t *p, size_t n, struct qs_msg_run_ready *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->executable = qs_get_text(&r);
    qs_get_bytes(&r, m->sha256, sizeof m->sha256);
    m->cpus = qs_get_text(&r);
    bool harness = r.err == QS_WIRE_OK && r.left > 0;
    m->header_version = harness ? qs_get_u32(&r) : 0;
    m->flags = harness ? qs_get_u32(&r) : 0;
    m->declared = harness ? qs_declared_get(&r) : (struct qs_list){.count = 0};
    bool said = r.err == QS_WIRE_OK && r.left > 0;
    m->evals_max = said ? qs_get_u32(&r) : 0;
    if ((harness && m->header_version == 0) || (said && m->evals_max == 0))
        return qs_codec_decoded(&r, false);
    return qs_codec_decoded(&r, run_ready_fits(m));
}

static bool hook_fits(const struct qs_msg_hook *m)
{
    return m->argv.count > 0 && qs_codec_is_path(m->cwd) && qs_codec_is_deadline(m->limit_ns) &&
           m->output_max_bytes <= QS_OUTPUT_MAX_BYTES && m->user.n <= QS_NAME_MAX_BYTES;
}

bool qs_msg_encode_hook(struct qs_writer *w, const struct qs_msg_hook *m)
{
    qs_codec_allow(w, hook_fits(m));
    qs_put_u32(w, m->id);
    put_argv(w, &m->argv);
    put_env(w, &m->env);
    qs_put_text(w, m->cwd);
    qs_put_i64(w, m->limit_ns);
    qs_put_u32(w, m->output_max_bytes);
    qs_put_text(w, m->user);
    return w->ok;
}

int qs_msg_decode_hook(const uint8_t *p, size_t n, struct qs_msg_hook *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->argv = get_argv(&r);
    m->env = get_env(&r);
    m->cwd = qs_get_text(&r);
    m->limit_ns = qs_get_i64(&r);
    m->output_max_bytes = qs_get_u32(&r);
    m->user = qs_get_text(&r);
    return qs_codec_decoded(&r, hook_fits(m));
}

static bool hook_done_fits(const struct qs_msg_hook_done *m)
{
    return (unsigned)m->how <= QS_HOOK_NOT_STARTED && m->duration_ns >= 0;
}

bool qs_msg_encode_hook_done(struct qs_writer *w, const struct qs_msg_hook_done *m)
{
    qs_codec_allow(w, hook_done_fits(m));
    qs_put_u32(w, m->id);
    qs_put_u8(w, (uint8_t)m->how);
    qs_put_i32(w, m->code);
    qs_put_i64(w, m->duration_ns);
    qs_put_blob(w, m->output);
    return w->ok;
}

int qs_msg_decode_hook_done(const uint8_t *p, size_t n, struct qs_msg_hook_done *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->id = qs_get_u32(&r);
    m->how = (enum qs_hook_how)qs_get_u8(&r);
    m->code = qs_get_i32(&r);
    m->duration_ns = qs_get_i64(&r);
    m->output = qs_get_blob(&r);
    return qs_codec_decoded(&r, hook_done_fits(m));
}

bool qs_msg_encode_run(struct qs_writer *w, const struct qs_msg_run *m)
{
    qs_codec_allow(w, !qs_uid_is_zero(&m->run));
    qs_put_uid(w, &m->run);
    return w->ok;
}

int qs_msg_decode_run(const uint8_t *p, size_t n, struct qs_msg_run *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    return qs_codec_decoded(&r, !qs_uid_is_zero(&m->run));
}

static bool run_seq_fits(const struct qs_msg_run_seq *m)
{
    return !qs_uid_is_zero(&m->run) && m->seq <= QS_SEQ_MAX;
}

bool qs_msg_encode_run_seq(struct qs_writer *w, const struct qs_msg_run_seq *m)
{
    qs_codec_allow(w, run_seq_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u64(w, m->seq);
    return w->ok;
}

int qs_msg_decode_run_seq(const uint8_t *p, size_t n, struct qs_msg_run_seq *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->seq = qs_get_u64(&r);
    return qs_codec_decoded(&r, run_seq_fits(m));
}

static bool run_ended_fits(const struct qs_msg_run_ended *m)
{
    return !qs_uid_is_zero(&m->run) && m->seq <= QS_SEQ_MAX && (unsigned)m->how <= QS_ENDED_LOST &&
           (m->flags & ~(uint32_t)QS_ENDED_FLAGS) == 0 &&
           (m->how != QS_ENDED_COMMAND || (m->code == 0 && m->flags == 0));
}

bool qs_msg_encode_run_ended(struct qs_writer *w, const struct qs_msg_run_ended *m)
{
    qs_codec_allow(w, run_ended_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_u64(w, m->seq);
    if (m->how != QS_ENDED_COMMAND) {
        qs_put_u8(w, (uint8_t)m->how);
        qs_put_i32(w, m->code);
        qs_put_u32(w, m->flags);
    }
    return w->ok;
}

int qs_msg_decode_run_ended(const uint8_t *p, size_t n, struct qs_msg_run_ended *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->seq = qs_get_u64(&r);
    bool harness = r.err == QS_WIRE_OK && r.left > 0;
    m->how = harness ? (enum qs_ended_how)qs_get_u8(&r) : QS_ENDED_COMMAND;
    m->code = harness ? qs_get_i32(&r) : 0;
    m->flags = harness ? qs_get_u32(&r) : 0;
    return qs_codec_decoded(&r, run_ended_fits(m) && (m->how != QS_ENDED_COMMAND || !harness));
}

static bool run_why_fits(const struct qs_msg_run_why *m)
{
    return !qs_uid_is_zero(&m->run) && qs_codec_is_note(m->why);
}

bool qs_msg_encode_run_why(struct qs_writer *w, const struct qs_msg_run_why *m)
{
    qs_codec_allow(w, run_why_fits(m));
    qs_put_uid(w, &m->run);
    qs_put_text(w, m->why);
    return w->ok;
}

int qs_msg_decode_run_why(const uint8_t *p, size_t n, struct qs_msg_run_why *m)
{
    struct qs_wire_reader r;
    qs_reader_init(&r, p, n);
    m->run = qs_get_uid(&r);
    m->why = qs_get_text(&r);
    return qs_codec_decoded(&r, run_why_fits(m));
}
