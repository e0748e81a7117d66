#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/request.h"

int64_t host_gate_ns = 0;
int64_t host_lease_ns = 60000000000;

const char *host_program = "/bin/true";

static uint8_t seen[QS_SESSION_TABLE_MAX];

const struct qs_uid host_run = {{0x51, 1}};

static void tell(struct host *h, const char *line)
{
    qs_buf_fmt(&h->log, "%s\n", line);
    if (h->awaited && strcmp(h->awaited, line) == 0)
        qs_loop_stop(h->loop);
    if (h->at)
        h->at(h, line);
}

static void on_ready(const struct qs_session_agent *agent, const char *facts_json, void *user)
{
    struct host *h = user;
    assert_true(agent->max_iterations > 0);
    snprintf(h->facts, sizeof h->facts, "%s", facts_json);
    assert_true(qs_session_is_ready(h->session));
    tell(h, "ready");
}

static void on_down(const struct qs_err *why, void *user)
{
    struct host *h = user;
    h->why = *why;
    h->downs++;
    tell(h, "down");
}

static void on_held(const struct qs_uid *run, uint64_t first_seq, uint64_t next_seq, void *user)
{
    char line[64];
    snprintf(line, sizeof line, "held %02x %llu-%llu", run->b[0], (unsigned long long)first_seq,
             (unsigned long long)next_seq);
    tell(user, line);
}

static void on_clock(int64_t host_ns, int64_t device_ns, int64_t rtt_ns, void *user)
{
    struct host *h = user;
    h->clock_offset_ns = device_ns - host_ns;
    h->rtt_ns = rtt_ns;
    tell(h, "clock");
}

static void on_waiting(const struct qs_msg_waiting *m, void *user)
{
    (void)m;
    tell(user, "waiting");
}

static bool may_quiet(const char **why, void *user)
{
    struct host *h = user;
    if (h->refuse_quiet) {
        h->refuse_quiet = false;
        *why = "another device is busy";
        tell(h, "hold");
        return false;
    }
    tell(h, "grant");
    return true;
}

static void on_quiet(void *user)
{
    tell(user, "quiet");
}

static void on_disarm(const char *why, void *user)
{
    assert_string_equal(why, "busy again"); /* peer_disarm */
    tell(user, "disarm");
}

static void on_closed(const struct qs_msg_closed *m, const struct qs_session_quiet *quiet, void *user)
{
    struct host *h = user;
    char line[64];
    h->quiet = quiet ? *quiet : (struct qs_session_quiet){.silent = false};
    h->silent = h->quiet.silent;
    h->proven = h->quiet.proven;
    snprintf(line, sizeof line, "closed %u", (unsigned)m->iterations);
    tell(h, line);
}

static void on_document(const struct qs_msg_document *m, void *user)
{
    char line[64];
    snprintf(line, sizeof line, "document %u+%u of %u", (unsigned)m->offset, (unsigned)m->bytes.n,
             (unsigned)m->kept_bytes);
    tell(user, line);
}

static void on_iterations(const struct qs_msg_iterations *m, void *user)
{
    struct host *h = user;
    char line[64];
    h->rows += m->rows.count;
    snprintf(line, sizeof line, "rows %llu+%u", (unsigned long long)m->first_seq, (unsigned)m->rows.count);
    tell(h, line);
}

/* How an answer is written down. */
static void answer_line(const union qs_msg *m, uint8_t reply, char *line, size_t n)
{
    switch ((int)reply) {
    case QS_MSG_RUN_READY:
        snprintf(line, n, "run_ready");
        break;
    case QS_MSG_HOOK_DONE:
        snprintf(line, n, "hook_done %u", (unsigned)m->hook_done.id);
        break;
    case QS_MSG_TRACED:
        snprintf(line, n, "traced %u %u", (unsigned)m->traced.id, (unsigned)m->traced.status);
        break;
    case QS_MSG_PULLED:
        snprintf(line, n, "pulled %u %u", (unsigned)m->pulled.id, (unsigned)m->pulled.bytes.n);
        break;
    case QS_MSG_HAVING:
        snprintf(line, n, "having %u", (unsigned)m->having.missing.count);
        break;
    case QS_MSG_PUT_AT:
        snprintf(line, n, "put_at %u %llu", (unsigned)m->put_at.status, (unsigned long long)m->put_at.offset);
        break;
    case QS_MSG_STAGED:
        snprintf(line, n, "staged %.*s", (int)m->staged.path.n, m->staged.path.p);
        break;
    case QS_MSG_CLEANED:
        snprintf(line, n, "cleaned %llu", (unsigned long long)m->cleaned.freed_bytes);
        break;
    case QS_MSG_RUN_ENDED:
        snprintf(line, n, "run_ended %llu", (unsigned long long)m->run_ended.seq);
        break;
    default:
        fail_msg("%s is no answer", qs_msg_name(reply));
    }
}

static void on_reply(const union qs_msg *m, const struct qs_err *refused, void *user)
{
    struct host *h = user;
    char line[300] = "error";
    if (refused)
        h->why = *refused;
    else
        answer_line(m, qs_request_of(h->asked)->reply, line, sizeof line);
    tell(h, line);
}

static void on_run_error(const struct qs_err *err, void *user)
{
    on_reply(NULL, err, user);
}

bool host_call(struct host *h, enum qs_msg_type type, const void *m, int64_t allow_ns)
{
    const struct qs_run_events events = {.on_waiting = on_waiting,
                                         .may_quiet = may_quiet,
                                         .on_quiet = on_quiet,
                                         .on_disarm = on_disarm,
                                         .on_closed = on_closed,
                                         .on_document = on_document,
                                         .on_iterations = on_iterations,
                                         .on_error = on_run_error,
                                         .user = h};
    const struct qs_call call = {
        .type = type, .m = m, .allow_ns = allow_ns, .on_reply = on_reply, .user = h, .events = &events};
    bool ok = qs_session_call(h->session, &call, &h->why);
    h->asked = ok ? (uint8_t)type : h->asked;
    return ok;
}

static void on_error(const struct qs_uid *run, const struct qs_err *err, void *user)
{
    struct host *h = user;
    assert_non_null(run);
    h->why = *err;
    tell(h, "error of nobody");
}

static void on_note(bool warning, const char *text, void *user)
{
    struct host *h = user;
    assert_true(warning);
    snprintf(h->note, sizeof h->note, "%s", text);
    tell(h, "note");
}

void host_init(struct host *h, struct qs_loop *loop, const struct qs_farm_device *device)
{
    static const uint8_t farm[16] = {0xFA, 1};
    memset(h, 0, sizeof *h);
    qs_buf_init(&h->log);
    h->loop = loop;
    struct qs_session_events events = {
        .on_ready = on_ready,
        .on_down = on_down,
        .on_held = on_held,
        .on_clock = on_clock,
        .on_error = on_error,
        .on_note = on_note,
        .user = h,
    };
    h->session = qs_session_new(loop, device, farm, HOST_HEARTBEAT_MS * INT64_C(1000000), &events);
}

static void note_rows(const struct host *h)
{
    for (size_t i = 0; i < qs_session_row_count(); i++)
        seen[i] |= qs_session_row_seen(h->session, i);
}

void host_done(struct host *h)
{
    if (h->session) {
        qs_session_stop(h->session);
        note_rows(h);
    }
    qs_session_free(h->session);
    qs_timer_stop(h->guard);
    qs_buf_done(&h->log);
}

static void on_guard(void *user)
{
    struct host *h = user;
    h->guard = NULL;
    h->guarded = true;
    qs_loop_stop(h->loop);
}

void host_wait(struct host *h, const char *line)
{
    h->awaited = line;
    h->guarded = false;
    h->guard = qs_timer_start(h->loop, INT64_C(20000000000), on_guard, h);
    qs_loop_run(h->loop);
    qs_timer_stop(h->guard);
    h->guard = NULL;
    h->awaited = NULL;
    if (h->guarded)
        fail_msg("\"%s\" was never told; %s\n%s", line, h->why.text, h->log.data);
}

void host_idle(struct host *h, int64_t ns)
{
    h->guard = qs_timer_start(h->loop, ns, on_guard, h);
    qs_loop_run(h->loop);
    qs_timer_stop(h->guard);
    h->guard = NULL;
}

void host_assert_why(const struct host *h, enum qs_errc code, const char *part)
{
    if (h->why.code != code || !strstr(h->why.text, part))
        fail_msg("%s \"%s\" is not %s \"%s\"", qs_errc_slug(h->why.code), h->why.text, qs_errc_slug(code),
                 part);
}

bool host_begin(struct host *h)
{
    uint8_t mem[64];
    struct qs_build argv;
    qs_build_init(&argv, mem, sizeof mem);
    qs_build_text(&argv, qs_text_of(host_program));
    struct qs_msg_run_begin m = {
        .run = host_run, .argv = qs_build_list(&argv), .iteration_limit_ns = 1000000000};
    return host_call(h, QS_MSG_RUN_BEGIN, &m, 0);
}

bool host_open(struct host *h, uint32_t window, uint64_t first_seq, int64_t lead_ns)
{
    uint8_t memory[128];
    struct qs_build gate;
    const struct qs_expectation cool = {
        .sensor = qs_text_of("thermal:soc"), .flags = QS_GATE_HAS_HI, .timeout_ns = host_gate_ns};
    qs_build_init(&gate, memory, sizeof memory);
    qs_build_expectation(&gate, &cool);
    struct qs_msg_open m = {.run = host_run,
                            .gate = qs_build_list(&gate),
                            .window = window,
                            .phase = QS_PHASE_MEASURE,
                            .first_seq = first_seq,
                            .iterations = 5,
                            .max_ns = 1000000000,
                            .quiet_lead_ns = lead_ns,
                            .lease_ns = lead_ns + 1000000000 + host_lease_ns};
    return qs_session_open(h->session, &m, &h->why);
}

bool host_hook(struct host *h, uint32_t id)
{
    uint8_t mem[64];
    struct qs_build argv;
    qs_build_init(&argv, mem, sizeof mem);
    qs_build_text(&argv, qs_text_of("make"));
    struct qs_msg_hook m = {
        .id = id, .argv = qs_build_list(&argv), .limit_ns = 1000000000, .output_max_bytes = 100};
    return host_call(h, QS_MSG_HOOK, &m, m.limit_ns);
}

bool host_end(struct host *h)
{
    return host_call(h, QS_MSG_RUN_END, &(struct qs_msg_run){.run = host_run}, 0);
}

bool host_resend(struct host *h, const struct qs_uid *run, uint64_t from_seq)
{
    return host_call(h, QS_MSG_RESEND, &(struct qs_msg_run_seq){.run = *run, .seq = from_seq}, 0);
}

size_t host_rows_not_seen(void)
{
    size_t missing = 0;
    for (size_t i = 0; i < qs_session_row_count(); i++) {
        struct qs_buf text;
        qs_buf_init(&text);
        qs_session_row_text(i, &text);
        if (!seen[i])
            print_message("not reached: %s\n", text.data);
        missing += !seen[i];
        qs_buf_done(&text);
    }
    return missing;
}
