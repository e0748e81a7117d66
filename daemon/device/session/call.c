/* Requests (proto/request.h): one is outstanding at a time, in ready or run_open; its answer, its refusal. */
#include <string.h>

#include "device/session/impl.h"

bool qs_session_is_asking(const struct qs_session *s, uint8_t request)
{
    return s->call.row && s->call.row->type == request;
}

bool qs_session_is_owed(const struct qs_session *s)
{
    const struct qs_session_files *f = &s->files;
    bool ours = qs_session_is_asking(s, QS_MSG_PUT) && f->sent > 0 && f->sent < f->bytes &&
                f->sent - f->taken < QS_PUT_TOLD_BYTES;
    return s->call.row && !ours;
}

static uint8_t phase_of(const struct qs_session *s)
{
    return s->state == QS_SESSION_READY      ? QS_REQUEST_IDLE
           : s->state == QS_SESSION_RUN_OPEN ? QS_REQUEST_RUN
                                             : 0;
}

static bool may_ask(const struct qs_session *s, const struct qs_request *row, struct qs_err *err)
{
    const char *name = qs_msg_name(row->type);
    if (!qs_session_is_ready(s))
        return qs_fail(err, QS_E_LINK, "%s is not connected (%s)", s->name, qs_session_state_name(s));
    if ((row->phases & phase_of(s)) == 0)
        return qs_fail(err, QS_E_CONFLICT, "%s: no %s in state %s", s->name, name, qs_session_state_name(s));
    if (s->call.row && s->call.row->type != row->within)
        return qs_fail(err, QS_E_CONFLICT, "%s: no %s before the answer to %s", s->name, name,
                       qs_msg_name(s->call.row->type));
    if (row->feature && (s->agreed.features & row->feature) == 0)
        return qs_fail(err, QS_E_AGENT, "%s: the agent (%s) %s: it is too old", s->name, s->software,
                       row->lacks);
    if (row->amid && phase_of(s) == QS_REQUEST_RUN && (s->agreed.features & row->amid) == 0)
        return qs_fail(err, QS_E_AGENT, "%s: the agent (%s) takes no %s while a run is open: it is too old",
                       s->name, s->software, name);
    return true;
}

/* What the run needs and an old agent lacks. */
static bool has_what_it_takes(const struct qs_session *s, const struct qs_msg_run_begin *m,
                              struct qs_err *err)
{
    const struct {
        bool wanted;
        uint32_t feature;
        const char *what;
    } rows[] = {
        {m->mode == QS_RUN_HARNESS, QS_FEATURE_HARNESS, "has no harness mode"},
        {m->mode == QS_RUN_STREAM, QS_FEATURE_STREAM, "has no stream mode"},
        {m->output_kind == QS_OUTPUT_KIND_FILE, QS_FEATURE_OUTPUT_FILE, "writes no output to a file"},
        {qs_start_given(&m->start), QS_FEATURE_PRIORITY,
         "starts no process with another priority, or without ASLR"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].wanted && (s->agreed.features & rows[i].feature) == 0)
            return qs_fail(err, QS_E_AGENT, "%s: the agent (%s) %s: it is too old", s->name, s->software,
                           rows[i].what);
    return true;
}

static bool is_kept(struct qs_session *s, const struct qs_msg_run_seq *m, struct qs_err *err)
{
    const struct qs_held *held = qs_session_recall(s, &m->run);
    if (!held)
        return qs_fail(err, QS_E_NOT_FOUND, "%s: the agent keeps no iterations of this run", s->name);
    if (m->seq < held->first_seq || m->seq >= held->next_seq)
        return qs_fail(err, QS_E_CONFLICT,
                       "%s: the agent keeps iterations %llu to %llu of this run, not %llu", s->name,
                       (unsigned long long)held->first_seq, (unsigned long long)held->next_seq,
                       (unsigned long long)m->seq);
    return true;
}

/* What a request asks of the session beside its row. */
static bool check(struct qs_session *s, const struct qs_request *row, const void *m, struct qs_err *err)
{
    if (row->type == QS_MSG_RUN_BEGIN)
        return has_what_it_takes(s, m, err);
    if (row->type == QS_MSG_RESEND)
        return is_kept(s, m, err);
    return !row->in_run || qs_session_is_open_run(s, m, err);
}

static struct qs_run_events events_of(const struct qs_call *call)
{
    return call->events ? *call->events : (struct qs_run_events){.user = NULL};
}

/* What the session remembers of a request to judge what follows, and to tell it. */
static void note(struct qs_session *s, const struct qs_call *call)
{
    const struct qs_msg_run_begin *begin = call->m;
    const struct qs_msg_run_seq *resend = call->m;
    const struct qs_msg_pull *pull = call->m;
    const struct qs_msg_put *put = call->m;
    switch ((int)call->type) {
    case QS_MSG_RUN_BEGIN:
        s->run = (struct qs_session_run){
            .uid = begin->run, .streams = begin->mode == QS_RUN_STREAM, .to = events_of(call)};
        break;
    case QS_MSG_RESEND:
        s->resend = (struct qs_held){.run = resend->run,
                                     .first_seq = resend->seq,
                                     .next_seq = qs_session_recall(s, &resend->run)->next_seq};
        s->again = (struct qs_session_again){.to = events_of(call)};
        break;
    case QS_MSG_PULL:
        s->run.pull_offset = pull->offset;
        s->run.pull_max_bytes = pull->max_bytes;
        break;
    case QS_MSG_PUT:
        s->files.bytes = put->file.bytes;
        s->files.sent = s->files.taken = 0;
        break;
    default:
        break;
    }
}

bool qs_session_call(struct qs_session *s, const struct qs_call *call, struct qs_err *err)
{
    const struct qs_request *row = qs_request_of((uint8_t)call->type);
    if (!may_ask(s, row, err) || !check(s, row, call->m, err) ||
        !qs_session_send(s, call->type, call->m, err))
        return false;
    s->call = (struct qs_session_call){.row = row,
                                       .limit_ns = row->reply_ns + call->allow_ns,
                                       .on_reply = call->on_reply,
                                       .user = call->user};
    qs_request_key(row, false, call->m, s->call.key);
    if (row->feature == QS_FEATURE_FILES)
        s->files.id++;
    if (row->in_run)
        s->call.run = *(const struct qs_uid *)call->m;
    note(s, call);
    qs_session_arm_deadline(s);
    return true;
}

void qs_session_disown(struct qs_session *s, const void *user)
{
    if (s->call.user == user)
        s->call.on_reply = NULL;
    if (s->run.to.user == user)
        s->run.to = (struct qs_run_events){.user = NULL};
    if (s->again.to.user == user)
        s->again.to = (struct qs_run_events){.user = NULL};
}

/* ---- answers ---- */

/* A file that was there already is kept without a byte of ours. */
static bool is_put_at_right(const struct qs_session *s, const struct qs_msg_put_at *m)
{
    bool whole = m->status != QS_PUT_KEPT || m->offset == s->files.bytes;
    bool sent = m->status == QS_PUT_KEPT || m->offset <= s->files.sent;
    return whole && sent && m->offset >= s->files.taken;
}

bool qs_session_is_answer(const struct qs_session *s, uint8_t type, const union qs_msg *m)
{
    uint8_t key[QS_REQUEST_KEY_BYTES];
    const struct qs_request *row = s->call.row;
    if (!row || row->reply != type)
        return false;
    qs_request_key(row, true, m, key);
    return memcmp(key, s->call.key, sizeof key) == 0 &&
           (type != QS_MSG_PUT_AT || is_put_at_right(s, &m->put_at));
}

bool qs_session_is_late(const struct qs_session *s, uint8_t type, const union qs_msg *m)
{
    return type == QS_MSG_PUT_AT && !qs_session_is_asking(s, QS_MSG_PUT) && m->put_at.id < s->files.id;
}

static bool is_last(const struct qs_request *row, const union qs_msg *m)
{
    return row->reply != QS_MSG_PUT_AT || m->put_at.status != QS_PUT_MORE;
}

/* Is the answer what was asked for, and what does the session learn of it? */
static bool take(struct qs_session *s, const union qs_msg *m)
{
    switch (s->call.row->reply) {
    case QS_MSG_PULLED:
        return (m->pulled.offset == s->run.pull_offset && m->pulled.bytes.n <= s->run.pull_max_bytes) ||
               qs_session_broken(s, QS_E_PROTOCOL,
                                 "%s: the piece that came is not the one that was requested", s->name);
    case QS_MSG_RUN_ENDED:
        if (m->run_ended.seq != s->run.next_seq)
            return qs_session_broken(s, QS_E_PROTOCOL, "%s: the run ended at iteration %llu, %llu came",
                                     s->name, (unsigned long long)m->run_ended.seq,
                                     (unsigned long long)s->run.next_seq);
        qs_session_burst_if_due(s);
        break;
    case QS_MSG_HAVING:
        s->cache_known = true;
        s->cache = (struct qs_session_cache){.bytes = m->having.cache_bytes,
                                             .most_bytes = m->having.most_bytes,
                                             .free_bytes = m->having.free_bytes};
        break;
    case QS_MSG_PUT_AT:
        s->files.taken = m->put_at.offset;
        break;
    case QS_MSG_CLEANED:
        s->cache.bytes = m->cleaned.cache_bytes;
        break;
    default:
        break;
    }
    return true;
}

/* The next request may be made from inside of the callback. Where no run is open any more, nobody is told of
 * it. */
static struct qs_session_call end_call(struct qs_session *s)
{
    struct qs_session_call call = s->call;
    s->call = (struct qs_session_call){.row = NULL};
    if (s->state == QS_SESSION_READY)
        s->run.to = (struct qs_run_events){.user = NULL};
    qs_session_arm_deadline(s);
    return call;
}

bool qs_session_do_answer(struct qs_session *s, const union qs_msg *m)
{
    if (!take(s, m))
        return false;
    struct qs_session_call call = s->call;
    if (is_last(call.row, m))
        end_call(s);
    else
        qs_session_arm_deadline(s);
    if (call.on_reply)
        call.on_reply(m, NULL, call.user);
    return true;
}

bool qs_session_do_rows_last(struct qs_session *s, const union qs_msg *m)
{
    end_call(s);
    return qs_session_do_rows(s, m);
}

bool qs_session_do_refused(struct qs_session *s, const union qs_msg *m)
{
    struct qs_session_call call = end_call(s);
    if (call.row->type == QS_MSG_RESEND) /* nothing of it will come */
        s->resend.first_seq = s->resend.next_seq;
    if (!call.on_reply)
        return qs_session_do_error(s, m);
    struct qs_err err = QS_ERR_INIT;
    qs_session_said(s, &m->error, &err);
    call.on_reply(NULL, &err, call.user);
    return true;
}
