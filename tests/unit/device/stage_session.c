/* The session's half of the stage, and the agent behind it. */
#include "stage_impl.h"

#include "proto/names.h"
#include "stage_actions.h"
#include "stage_control.h"

#define LONG_NS INT64_C(600000000000) /* of a setup or a teardown that nobody waits for */

struct reply {
    struct stage *s;
    unsigned generation, operation;
    void (*tell)(struct stage *s);
};

static void on_reply(void *user)
{
    struct reply r = *(struct reply *)user;
    free(user);
    if (r.s->generation == r.generation && r.s->operation == r.operation)
        stage_strike_now(r.s);
    if (r.s->generation == r.generation && r.s->operation == r.operation)
        r.tell(r.s);
}

void stage_later(struct stage *s, int64_t delay_ns, void (*tell)(struct stage *s))
{
    struct reply *r = qs_calloc(1, sizeof *r);
    *r = (struct reply){.s = s, .generation = s->generation, .operation = s->operation, .tell = tell};
    qs_timer_start(s->loop, delay_ns, on_reply, r);
}

struct stage *stage_of(struct qs_session *session)
{
    return (struct stage *)(void *)session;
}

bool stage_sends(struct stage *s, struct qs_err *err)
{
    if (s->session == SESSION_DOWN)
        return qs_fail(err, QS_E_LINK, "down");
    assert_false(s->ended); /* and asks for nothing more */
    s->calls++;
    if (s->unsent_nth == 0 || s->calls < s->unsent_nth || (s->calls > s->unsent_nth && !s->unsent_again))
        return true;
    qs_fail(err, s->unsent_code, "not sent");
    if (s->unsent_code == QS_E_LINK)
        stage_lose(s, err);
    return false;
}

bool stage_may(struct stage *s, enum stage_session wanted, const char *what, struct qs_err *err)
{
    if (!stage_sends(s, err))
        return false;
    if (s->session == wanted)
        return true;
    s->conflicts++;
    return qs_fail(err, QS_E_CONFLICT, "%s in state %d", what, (int)s->session);
}

void stage_session_reset(struct stage *s)
{
    s->generation++;
    s->session = SESSION_READY;
}

static void tell_run_ready(struct stage *s)
{
    if (s->refuse_run || s->now.how == QS_CLOSED_CANCELLED) {
        struct qs_err err = QS_ERR_INIT;
        s->session = SESSION_READY;
        qs_fail(&err, QS_E_COMMAND, "nosuch: no such program");
        stage_refuse(s, &err);
        return;
    }
    struct qs_msg_run_ready m = {.run = s->run, .executable = qs_text_of("/bin/work")};
    if (s->mode == QS_RUN_HARNESS) {
        m.header_version = 1;
        m.cpus = qs_text_of(s->harness.cpus);
        m.evals_max = s->harness.evals_max[stage_find(s, &s->run)->arm > 0];
        memcpy(m.sha256, s->harness.sha256, sizeof m.sha256);
    }
    if (s->record.ready)
        s->record.ready(s, &m);
    s->session = SESSION_OPEN;
    stage_reply(s, &(union qs_msg){.run_ready = m});
}

static bool ask_run_begin(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_run_begin *m = message;
    if (!stage_may(s, SESSION_READY, "run_begin", err))
        return false;
    assert_non_null(stage_find(s, &m->run)); /* on disk before the device hears of it */
    stage_record_run_begin(s, m);
    stage_note_run(s, m);
    stage_act_note(s, "run_begin");
    s->session = SESSION_OPENING;
    s->run = m->run;
    s->next_seq = 0;
    s->tracing = false; /* no tracer outlives its run */
    s->mode = m->mode;
    s->operation++;
    s->now.how = QS_CLOSED_DONE;
    stage_later(s, s->long_setup ? LONG_NS : STAGE_STEP_NS, tell_run_ready);
    return true;
}

static void tell_hook_done(struct stage *s)
{
    bool fails = s->hook_seen == s->hook_fails || (s->dumps && !s->dump && !s->hook_says) ||
                 (s->acting && s->acting->is_bad);
    bool cut = s->now.how == QS_CLOSED_CANCELLED;
    struct qs_msg_hook_done m = {.id = s->hook_id,
                                 .how = cut ? QS_HOOK_SIGNALLED : QS_HOOK_EXITED,
                                 .code = fails ? 3
                                         : cut ? 15
                                               : 0};
    m.output = qs_text_of(fails ? "no space" : s->dumps ? s->dump : "");
    if (s->hook_says)
        m.output = qs_text_of(s->hook_says(s->hooks.data + s->hook_at, &m));
    s->session = s->hook_back;
    stage_reply(s, &(union qs_msg){.hook_done = m});
}

static bool ask_hook(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_hook *m = message;
    if (!stage_may(s, s->session == SESSION_OPEN ? SESSION_OPEN : SESSION_READY, "hook", err))
        return false;
    struct qs_iter it = qs_list_iter(&m->argv);
    struct qs_text word;
    size_t before = s->hook_at = s->hooks.len;
    stage_record_hook(s, m);
    s->dumps = false;
    while (qs_list_text(&it, &word)) {
        qs_buf_fmt(&s->hooks, "%.*s ", (int)word.n, word.p);
        s->dumps = s->dumps || qs_text_is(word, "dumpsys");
    }
    stage_act_note(s, "hook %s", s->hooks.data + before);
    if (s->acting)
        s->acting->is_bad = strcmp(s->hooks.data + before, "bad ") == 0;
    s->hook_back = s->session;
    s->session = SESSION_HOOK;
    s->hook_id = m->id;
    s->hook_seen++;
    s->operation++;
    s->now.how = QS_CLOSED_DONE;
    stage_later(s, s->acting && strstr(s->hooks.data + before, "long") ? LONG_NS : STAGE_STEP_NS,
                tell_hook_done);
    return true;
}

static void tell_iterations(struct stage *s)
{
    uint8_t rows_mem[STAGE_ITERATIONS * 64], ids_mem[8];
    struct qs_build rows, ids;
    qs_build_init(&rows, rows_mem, sizeof rows_mem);
    qs_build_init(&ids, ids_mem, sizeof ids_mem);
    uint16_t metrics = 1;
    qs_build_u16(&ids, metrics);
    while (s->record.metrics[metrics - 1] > 0)
        qs_build_u16(&ids, s->record.metrics[metrics++ - 1]);
    for (uint32_t i = 0; i < s->now.iterations; i++) {
        struct qs_row row = {.duration_ns = s->now.duration_ns[i],
                             .flags = s->now.flags,
                             .status = s->now.status,
                             .values = {7}};
        if (s->record.row)
            s->record.row(s, i, &row);
        assert_true(qs_build_row(&rows, metrics, &row));
    }
    struct qs_msg_iterations m = {.run = s->run,
                                  .window = s->window,
                                  .first_seq = s->next_seq,
                                  .metrics = qs_build_list(&ids),
                                  .rows = qs_build_list(&rows)};
    s->next_seq += s->now.iterations;
    s->session = SESSION_OPEN;
    for (struct qs_msg_document d = {.run = s->run, .window = s->window};
         s->record.piece && s->record.piece(s, &d);)
        s->to.on_document(&d, s->to.user);
    s->to.on_iterations(&m, s->to.user);
}

/* The second reading is the worse one. */
static struct qs_list clock_evidence(const struct stage *s, uint8_t *mem, size_t cap)
{
    const struct stage_harness *h = &s->harness;
    struct qs_build b;
    qs_build_init(&b, mem, cap);
    if (s->phase == QS_PHASE_TUNE && h->precision_ns > 0) {
        qs_build_evidence(&b, &(struct qs_evidence){qs_text_of(QS_SENSOR_CLOCK_PRECISION), QS_READING_OK,
                                                    h->precision_ns, h->precision_ns + 1});
        qs_build_evidence(&b, &(struct qs_evidence){qs_text_of(QS_SENSOR_CLOCK_ACCURACY), QS_READING_OK,
                                                    h->accuracy_ns, 9 * h->accuracy_ns});
    }
    return qs_build_list(&b);
}

static void tell_closed(struct stage *s)
{
    uint8_t mem[128], read[128];
    struct qs_build taints, readings;
    qs_build_init(&taints, mem, sizeof mem);
    qs_build_init(&readings, read, sizeof read);
    if (s->now.busy_ppm) {
        struct qs_reading r = {.sensor = qs_text_of("cpu.busy_ratio_ppm"), .value = s->now.busy_ppm};
        assert_true(qs_build_reading(&readings, &r));
    }
    if (s->now.taint) {
        struct qs_taint t = {.iteration = -1, .code = qs_text_of(s->now.taint), .value = 9, .bound = 1};
        assert_true(qs_build_taint(&taints, &t));
    }
    struct qs_msg_closed m = {.run = s->run,
                              .window = s->window,
                              .phase = s->phase,
                              .evals = s->evals,
                              .how = s->now.how,
                              .iterations = s->now.iterations,
                              .gate = {.outcome = s->now.gate,
                                       .began_ns = 1000,
                                       .decided_ns = 1000 + s->now.waited_ns,
                                       .readings = qs_build_list(&readings),
                                       .busiest = qs_text_of(s->now.busiest)},
                              .taints = qs_build_list(&taints),
                              .output = qs_text_of(s->now.output),
                              .apart = s->parts_streams,
                              .errors_bytes = s->parts_streams ? 9 : 0,
                              .errors = qs_text_of(s->parts_streams ? "trouble" : ""),
                              .failure = qs_text_of(s->now.failure),
                              .output_bytes = s->now.output ? strlen(s->now.output) : 0};
    uint8_t seen[128];
    struct qs_session_quiet quiet = {.silent = true};
    m.evidence = clock_evidence(s, seen, sizeof seen);
    if (s->record.closed)
        s->record.closed(s, &m, &quiet);
    if (m.iterations > 0)
        stage_later(s, STAGE_STEP_NS, tell_iterations);
    else
        s->session = SESSION_OPEN;
    s->to.on_closed(&m, &quiet, s->to.user);
}

static void tell_armed(struct stage *s)
{
    const char *why = NULL;
    struct qs_err err = QS_ERR_INIT;
    if (s->ended) /* who has ended is not asked any more */
        return;
    if (s->refuse_windows > 0) {
        s->refuse_windows--;
        s->session = SESSION_OPEN;
        qs_fail(&err, s->refusal, "no such sensor");
        s->to.on_error(&err, s->to.user);
        return;
    }
    struct qs_msg_waiting waiting = {.run = s->run, .window = s->window};
    while (s->record.waiting && s->record.waiting(s, &waiting))
        s->to.on_waiting(&waiting, s->to.user);
    if (!s->to.may_quiet(&why, s->to.user)) {
        assert_non_null(why);
        s->disarms++;
        stage_later(s, STAGE_STEP_NS, tell_armed);
        return;
    }
    int64_t sum_ns = 0;
    for (uint32_t i = 0; i < s->now.iterations; i++)
        sum_ns += s->now.duration_ns[i] > 0 ? s->now.duration_ns[i] : 0;
    if (s->unrest == 0)
        stage_later(s, sum_ns, tell_closed);
    s->to.on_quiet(s->to.user);
    if (s->unrest > 0) {
        s->unrest--;
        assert_true(s->silent);
        s->to.on_disarm("busy again", s->to.user);
        assert_false(s->silent);
        assert_int_equal(s->tokens, 0);
        stage_later(s, STAGE_STEP_NS, tell_armed);
    }
    if (s->session_error) {
        s->session_error = false;
        qs_fail(&err, QS_E_INTERNAL, "the agent is in trouble");
        stage_lose(s, &err); /* as the session does */
    }
}

static int64_t evaluation_ns(struct stage *s)
{
    return s->harness.evaluation_ns[stage_find(s, &s->run)->arm > 0];
}

bool qs_session_open(struct qs_session *session, const struct qs_msg_open *m, struct qs_err *err)
{
    struct stage *s = stage_of(session);
    if (!stage_may(s, SESSION_OPEN, "open", err))
        return false;
    assert_true(qs_uid_equal(&m->run, &s->run));
    assert_int_equal(m->first_seq, s->next_seq);
    assert_in_range(m->iterations, 1, QS_ITERATIONS_MAX);
    assert_true(m->lease_ns > m->max_ns);
    stage_record_open(s, m);
    stage_act_note(s, "open");
    struct qs_iter gate = qs_list_iter(&m->gate);
    struct qs_expectation first;
    s->gate_timeout_ns = qs_list_expectation(&gate, &first) ? first.timeout_ns : -1;
    s->session = SESSION_WINDOW;
    s->opens++;
    s->window = m->window;
    s->asked = m->iterations;
    stage_check_phase(s, m);
    s->operation++;
    s->now = (struct stage_window){.iterations =
                                       m->iterations < STAGE_ITERATIONS ? m->iterations : STAGE_ITERATIONS};
    s->phase = m->phase;
    s->evals = m->evals;
    for (uint32_t i = 0; i < STAGE_ITERATIONS; i++)
        s->now.duration_ns[i] =
            m->evals > 0 ? evaluation_ns(s) * (m->evals + (m->phase == QS_PHASE_TUNE ? i : 0)) : 10000000;
    if (s->script)
        s->script(s, stage_find(s, &s->run), &s->now);
    if (s->now.how == QS_CLOSED_GATE_TIMEOUT)
        s->now.iterations = 0;
    stage_later(s, STAGE_STEP_NS + s->now.waited_ns,
                s->now.how == QS_CLOSED_GATE_TIMEOUT ? tell_closed : tell_armed);
    return true;
}

bool qs_session_ack(struct qs_session *session, const struct qs_uid *run, uint64_t next_seq,
                    struct qs_err *err)
{
    struct stage *s = stage_of(session);
    if (!stage_sends(s, err))
        return false;
    struct stage_run *r = stage_find(s, run);
    assert_non_null(r);
    assert_int_equal(next_seq, r->numbered); /* what is on disk, no more and no less */
    r->acked = next_seq;
    return true;
}

bool qs_session_can_tune(const struct qs_session *session, struct qs_session_place *ret)
{
    const struct stage *s = stage_of((struct qs_session *)(uintptr_t)session);
    *ret = s->harness.place;
    return s->harness.able;
}

/* The kernel's log as the test says; a file of 20,000 bytes; nothing else is there. */
static void tell_pulled(struct stage *s)
{
    static char file[20000];
    bool log = s->pull.source != QS_PULL_FILE,
         there = log ? !s->file_is_gone || s->pull.source == QS_PULL_KERNEL_LOG
                     : strcmp(s->pull.path.p, "out.bin") == 0;
    const char *text = s->pull.source == QS_PULL_TRACE ? "a trace" : s->log, *all = log ? text : file;
    size_t total = !there ? 0 : log ? strlen(text) : sizeof file;
    size_t left = s->pull.offset < total ? total - (size_t)s->pull.offset : 0;
    struct qs_msg_pulled m = {.id = s->pull.id,
                              .status = there ? QS_PULL_OK : QS_PULL_MISSING,
                              .total_bytes = total,
                              .offset = s->pull.offset,
                              .bytes = {.p = all + s->pull.offset,
                                        .n = (uint16_t)(left < s->pull.max_bytes ? left : s->pull.max_bytes)},
                              .why = qs_text_of(there ? "" : "No such file")};
    s->session = SESSION_OPEN;
    if (s->refuse_pull) {
        struct qs_err err = QS_ERR_INIT;
        qs_fail(&err, QS_E_AGENT, "nothing can be fetched here");
        stage_refuse(s, &err);
        return;
    }
    stage_reply(s, &(union qs_msg){.pulled = m});
}

static bool ask_pull(struct stage *s, const void *message, struct qs_err *err)
{
    static char path[QS_PATH_MAX_BYTES + 1];
    const struct qs_msg_pull *m = message;
    if (!stage_may(s, SESSION_OPEN, "pull", err))
        return false;
    assert_true(qs_uid_equal(&m->run, &s->run));
    assert_in_range(m->max_bytes, 1, QS_PULL_MAX_BYTES);
    s->pull = *m;
    qs_text_copy(m->path, path, sizeof path);
    s->pull.path.p = path;
    s->session = SESSION_HOOK;
    s->operation++;
    stage_later(s, STAGE_STEP_NS, tell_pulled);
    return true;
}

static void tell_run_ended(struct stage *s)
{
    s->session = SESSION_READY;
    struct qs_msg_run_ended m = {.run = s->run};
    if (s->record.ended)
        s->record.ended(s, &m);
    stage_reply(s, &(union qs_msg){.run_ended = m});
}

static bool ask_run_end(struct stage *s, const void *message, struct qs_err *err)
{
    const struct qs_msg_run *m = message;
    if (!stage_may(s, SESSION_OPEN, "run_end", err))
        return false;
    stage_act_note(s, "run_end");
    assert_true(qs_uid_equal(&m->run, &s->run));
    s->session = SESSION_ENDING;
    s->operation++;
    stage_later(s, s->long_teardown ? LONG_NS : STAGE_STEP_NS, tell_run_ended);
    return true;
}

bool qs_session_cancel(struct qs_session *session, const struct qs_uid *run, const char *why,
                       struct qs_err *err)
{
    struct stage *s = stage_of(session);
    (void)run;
    assert_non_null(why);
    s->cancels++;
    if (!stage_sends(s, err))
        return false;
    bool setup = s->session == SESSION_OPENING && s->long_setup;
    bool teardown = s->session == SESSION_ENDING && s->long_teardown;
    if (s->session != SESSION_WINDOW && s->session != SESSION_HOOK && !setup && !teardown)
        return true;
    s->operation++; /* what was to come does not */
    s->now.how = QS_CLOSED_CANCELLED;
    s->now.iterations = 0;
    stage_later(s, STAGE_STEP_NS,
                setup                        ? tell_run_ready
                : teardown                   ? tell_run_ended
                : s->session == SESSION_HOOK ? tell_hook_done
                                             : tell_closed);
    return true;
}

void stage_reply(struct stage *s, const union qs_msg *m)
{
    struct qs_call call = s->call;
    call.on_reply(m, NULL, call.user);
}

void stage_refuse(struct stage *s, const struct qs_err *why)
{
    struct qs_call call = s->call;
    call.on_reply(NULL, why, call.user);
}

uint32_t qs_session_next_file_id(const struct qs_session *session)
{
    return ++stage_of((struct qs_session *)(uintptr_t)session)->file_id;
}

bool qs_session_has(const struct qs_session *session, uint32_t feature)
{
    const struct stage *s = stage_of((struct qs_session *)(uintptr_t)session);
    return feature == QS_FEATURE_PULL      ? s->log != NULL
           : feature == QS_FEATURE_TRACE   ? !s->no_tracers
           : feature == QS_FEATURE_FILES   ? !s->disk.old_agent
           : feature == QS_FEATURE_SURVEY  ? s->control != NULL
           : feature == QS_FEATURE_READ    ? s->acting && !s->acting->reads_nothing
           : feature == QS_FEATURE_LOAD    ? s->acting && !s->acting->loads_nothing
           : feature == QS_FEATURE_AMID    ? s->acting && !s->acting->not_amid
           : feature == QS_FEATURE_CONTROL ? stage_changes_files(s)
           : feature == QS_FEATURE_SENSE   ? s->control && !s->control->senses_nothing
           : feature == QS_FEATURE_HOLD    ? s->control && !s->control->holds_nothing
                                           : s->parts_streams;
}

bool qs_session_call(struct qs_session *session, const struct qs_call *call, struct qs_err *err)
{
    static const struct {
        enum qs_msg_type type;
        bool (*ask)(struct stage *s, const void *m, struct qs_err *err);
    } requests[] = {
        {QS_MSG_RUN_BEGIN, ask_run_begin}, {QS_MSG_HOOK, ask_hook},
        {QS_MSG_PULL, ask_pull},           {QS_MSG_RUN_END, ask_run_end},
        {QS_MSG_TRACE, stage_ask_trace},   {QS_MSG_TRACE_STOP, stage_ask_trace_stop},
        {QS_MSG_HAVE, stage_ask_have},     {QS_MSG_PUT, stage_ask_put},
        {QS_MSG_STAGE, stage_ask_stage},   {QS_MSG_CLEAN, stage_ask_clean},
        {QS_MSG_SURVEY, stage_ask_survey}, {QS_MSG_BIND, stage_ask_bind},
        {QS_MSG_TUNE, stage_ask_tune},     {QS_MSG_RESTORE, stage_ask_restore},
        {QS_MSG_READ, stage_ask_read},     {QS_MSG_LOAD, stage_ask_load},
    };
    struct stage *s = stage_of(session);
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (requests[i].type == call->type) {
            bool ok = requests[i].ask(s, call->m, err);
            s->call = ok ? *call : s->call;
            if (ok && call->type == QS_MSG_RUN_BEGIN)
                s->to = *call->events;
            return ok;
        }
    }
    fail_msg("%s is no request", qs_msg_name((uint8_t)call->type));
    return false;
}
