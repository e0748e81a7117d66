#include "script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

uint8_t script_hits[QS_STATES_ROWS_MAX];

static int64_t op_now_ns(void *ctx)
{
    return ((struct script *)ctx)->now_ns;
}

static bool op_send(void *ctx, const uint8_t *bytes, size_t n)
{
    struct script *s = ctx;
    assert_true(s->link_open);
    if (s->deaf) {
        return false;
    }
    peer_receive(&s->peer, bytes, n);
    return true;
}

static void op_close_link(void *ctx)
{
    struct script *s = ctx;
    assert_true(s->link_open);
    s->link_open = false;
}

static void op_random(void *ctx, uint8_t *bytes, size_t n)
{
    (void)ctx;
    memset(bytes, 0xab, n);
}

static bool op_run_begin(void *ctx, const struct qs_msg_run_begin *run, struct qs_port_ready *ready,
                         struct qs_port_fault *fault)
{
    struct script *s = ctx;
    (void)run;
    s->now_ns += s->run_begin_ns;
    snprintf(ready->executable, sizeof ready->executable, "/bin/tool");
    snprintf(ready->cpus, sizeof ready->cpus, "0-1");
    fault->wire_code = QS_CODE_EXECUTABLE;
    fault->blame = QS_WIRE_BLAME_OPERATOR;
    snprintf(fault->text, sizeof fault->text, "no such tool");
    return !s->refuse_run;
}

static void op_run_end(void *ctx)
{
    struct script *s = ctx;
    s->run_ends++;
    s->tracer.runs = false;
}

static bool begin_child(struct script *s, enum qs_port_job job, struct qs_port_fault *fault)
{
    assert_false(s->child_runs);
    if (s->refuse_start) {
        snprintf(fault->text, sizeof fault->text, "cannot start");
        fault->code = 2;
        return false;
    }
    s->starts[job]++;
    s->job = job;
    s->child_runs = true;
    s->asked = s->forced = s->abandoned = false;
    return true;
}

static bool op_start(void *ctx, enum qs_port_job job, struct qs_port_fault *fault)
{
    return begin_child(ctx, job, fault);
}

static bool op_start_hook(void *ctx, const struct qs_msg_hook *hook, struct qs_port_fault *fault)
{
    (void)hook;
    return begin_child(ctx, QS_JOB_HOOK, fault);
}

static void op_end_child(void *ctx, bool hard)
{
    struct script *s = ctx;
    assert_true(s->child_runs);
    s->asked = s->asked || !hard;
    s->forced = s->forced || hard;
}

static void op_abandon_child(void *ctx)
{
    struct script *s = ctx;
    assert_true(s->child_runs);
    s->abandoned = true;
}

static bool op_window_open(void *ctx, struct qs_port_fault *fault)
{
    snprintf(fault->text, sizeof fault->text, "no pipe");
    return !((struct script *)ctx)->refuse_window;
}

static void op_output(void *ctx, struct qs_port_output *out)
{
    static const char much[QS_OUTPUT_MAX_BYTES];
    size_t n = ((struct script *)ctx)->output_bytes;
    *out = n ? (struct qs_port_output){.kept = much, .kept_bytes = n, .total_bytes = n}
             : (struct qs_port_output){.kept = "said", .kept_bytes = 4, .total_bytes = 40};
}

static void op_read_sensor(void *ctx, const char *name, struct qs_port_reading *reading)
{
    struct script *s = ctx;
    s->polls++;
    *reading = (struct qs_port_reading){.status = QS_READING_MISSING};
    for (size_t i = 0; i < SCRIPT_SENSORS; i++) {
        if (s->sensors[i].name && strcmp(s->sensors[i].name, name) == 0) {
            *reading = s->sensors[i].reading;
        }
    }
}

static size_t op_evidence(void *ctx, bool after, struct qs_port_evidence *rows, size_t cap)
{
    struct script *s = ctx;
    assert_true(cap >= 3);
    s->now_ns += after ? s->evidence_ns : 0;
    snprintf(rows[0].kind, sizeof rows[0].kind, "cpu.steal_ticks");
    rows[0].status = QS_READING_OK;
    rows[0].after = s->evidence_ticks;
    rows[0].before = after ? rows[0].before : s->evidence_ticks;
    snprintf(rows[1].kind, sizeof rows[1].kind, "throttle");
    rows[1].status = QS_READING_MISSING;
    snprintf(rows[2].kind, sizeof rows[2].kind, "%s", s->third_kind ? s->third_kind : "another");
    rows[2].status = s->third_status;
    rows[2].held = s->third_hi != 0;
    rows[2].lo = rows[2].hi = s->third_hi;
    rows[2].steady = s->third_steady;
    rows[2].after = s->third_value;
    rows[2].before = after ? rows[2].before : s->third_value;
    return 3;
}

static bool op_fact(void *ctx, size_t index, struct qs_port_fact *fact)
{
    size_t n = ((struct script *)ctx)->facts;
    snprintf(fact->key, sizeof fact->key, "key%zu", index);
    snprintf(fact->value, sizeof fact->value, "%0*d", n ? (int)sizeof fact->value - 1 : 5, 0);
    return index < (n ? n : 3);
}

static void op_drain(void *ctx)
{
    ((struct script *)ctx)->drains++;
}

static uint32_t op_unread(void *ctx)
{
    return ((struct script *)ctx)->unread;
}

static void op_busiest(void *ctx, char *text, size_t cap)
{
    (void)ctx;
    snprintf(text, cap, "spinner[7] 99%%");
}

static bool op_program_start(void *ctx, struct qs_port_fault *fault)
{
    struct script *s = ctx;
    s->look = (struct qs_port_look){.state = QS_PROGRAM_SETTING_UP, .phase = "setup"};
    return begin_child(s, QS_JOB_PROGRAM, fault);
}

static void op_program_go(void *ctx, const struct qs_port_go *go)
{
    struct script *s = ctx;
    assert_true(s->child_runs);
    s->go = *go;
    s->goes++;
    s->look.done = false;
    s->look.state = QS_PROGRAM_BUSY;
}

static void op_program_quit(void *ctx)
{
    struct script *s = ctx;
    assert_true(s->child_runs);
    s->quits++;
}

static void op_program_look(void *ctx, struct qs_port_look *look)
{
    *look = ((struct script *)ctx)->look;
}

static bool op_program_metric(void *ctx, uint32_t i, struct qs_port_metric *metric)
{
    *metric = ((struct script *)ctx)->metrics[i];
    return metric->name[0] != '\0';
}

static void op_program_row(void *ctx, uint32_t i, uint32_t metrics, struct qs_port_row *row)
{
    (void)metrics;
    *row = ((struct script *)ctx)->rows[i];
}

static void op_program_clock(void *ctx, struct qs_port_clock *out)
{
    struct script *s = ctx;
    *out = s->clock;
    s->clock.accuracy_ns += 7;
}

static void to_agent(void *ctx, const uint8_t *bytes, size_t n)
{
    struct script *s = ctx;
    qs_agent_on_bytes(s->agent, bytes, n);
}

static void op_pull(void *ctx, const struct qs_msg_pull *pull, struct qs_port_piece *piece)
{
    (void)ctx;
    bool log = pull->source == QS_PULL_KERNEL_LOG;
    *piece = (struct qs_port_piece){.status = log ? QS_PULL_UNREADABLE : QS_PULL_OK};
    snprintf(piece->why, sizeof piece->why, "%s", log ? "not for us" : "");
    piece->total_bytes = log ? 0 : 10;
    piece->bytes = &"0123456789"[pull->offset];
    piece->n = log ? 0 : pull->max_bytes;
}

static void op_document(void *ctx, uint8_t *memory, size_t cap, struct qs_port_document *document)
{
    struct script *s = ctx;
    s->documents++;
    *document = s->document;
    document->n = s->document.total_bytes < cap ? (size_t)s->document.total_bytes : cap;
    for (size_t i = 0; i < document->n; i++) {
        memory[i] = (uint8_t)(i % 251);
    }
}

static bool op_trace_start(void *ctx, const struct qs_msg_trace *trace, struct qs_port_fault *fault)
{
    struct script *s = ctx;
    assert_false(s->tracer.runs);
    assert_int_equal(trace->max_bytes, 100);
    snprintf(fault->text, sizeof fault->text, "no such tracer");
    s->tracer.runs = !s->tracer.refuse;
    return s->tracer.runs;
}

static bool op_trace_end(void *ctx, bool hard)
{
    struct script *s = ctx;
    s->tracer.forced += hard;
    s->tracer.asked += !hard;
    return s->tracer.runs;
}

static void op_trace_result(void *ctx, struct qs_port_traced *traced)
{
    struct script *s = ctx;
    s->tracer.runs = false;
    *traced = (struct qs_port_traced){.there = !s->tracer.file_is_gone,
                                      .total_bytes = 10,
                                      .ended_ns = s->tracer.ended_ns,
                                      .why = "it ended"};
}

void script_tracer_ends(struct script *s)
{
    s->tracer.runs = false;
    s->tracer.ended_ns = s->now_ns;
    qs_agent_on_tracer(s->agent);
}

static bool op_find(void *ctx, const char *pattern, const char *after, struct qs_port_found *found)
{
    struct script *s = ctx;
    size_t i = 0;
    snprintf(s->survey.pattern, sizeof s->survey.pattern, "%s", pattern);
    if (sscanf(after, "f/%zu", &i) == 1) {
        i++;
    }
    if (i >= s->survey.files) {
        return false;
    }
    bool fails = i == s->survey.error_at;
    *found = (struct qs_port_found){
        .access = QS_FILE_READABLE, .error = fails ? EACCES : 0, .n = fails ? 0 : s->survey.value_bytes};
    snprintf(found->path, sizeof found->path, "f/%04zu", i);
    memset(found->value, 'v', found->n);
    return true;
}

static void op_bind(void *ctx, const struct qs_binding *binding)
{
    struct script *s = ctx;
    s->survey.bound = binding ? s->survey.bound + 1 : 0;
    if (binding) {
        qs_text_copy(binding->name, s->survey.last_bound, sizeof s->survey.last_bound);
    }
}

struct script *script_new(const struct script_options *options)
{
    struct script *s = calloc(1, sizeof *s);
    size_t ring_bytes = options->ring_bytes ? options->ring_bytes : (size_t)QS_RING_FLOOR_BYTES;
    const struct qs_port port = {
        .ctx = s,
        .now_ns = op_now_ns,
        .send = op_send,
        .close_link = op_close_link,
        .random = op_random,
        .run_begin = op_run_begin,
        .run_end = op_run_end,
        .start = op_start,
        .start_hook = op_start_hook,
        .end_child = op_end_child,
        .abandon_child = op_abandon_child,
        .window_open = op_window_open,
        .output = op_output,
        .read_sensor = op_read_sensor,
        .evidence = op_evidence,
        .fact = op_fact,
        .settled = knobs_settled,
        .drain = op_drain,
        .unread = op_unread,
        .busiest = op_busiest,
        .program_start = op_program_start,
        .program_go = op_program_go,
        .program_quit = op_program_quit,
        .program_look = op_program_look,
        .program_metric = op_program_metric,
        .program_row = op_program_row,
        .program_clock = op_program_clock,
        .pull = options->no_pull ? NULL : op_pull,
        .document = options->no_stream ? NULL : op_document,
        .files = options->no_files ? NULL : &disk_port,
        .control = options->no_control ? NULL : &knobs_port,
        /* start, end, result */
        .tracer = {options->no_tracer ? NULL : op_trace_start, op_trace_end, op_trace_result},
        .survey = {.find = options->no_survey ? NULL : op_find, .bind = options->no_survey ? NULL : op_bind},
        .load = {.start = options->no_load ? NULL : burden_port.start, .stop = burden_port.stop}};
    s->disk = options->disk;
    s->agent = malloc(sizeof *s->agent);
    memset(s->agent, 0xa5, sizeof *s->agent); /* whoever makes it must not count on zeros */
    s->ring = malloc(ring_bytes);
    s->now_ns = 1000 * S;
    memset(s->key, 0x77, sizeof s->key);
    const struct qs_agent_options agent_options = {.software = "a test",
                                                   .boot_id = "boot",
                                                   .clock = "virtual",
                                                   .clock_resolution_ns = 1,
                                                   .key = options->key ? s->key : NULL,
                                                   .key_bytes = sizeof s->key,
                                                   .ring = s->ring,
                                                   .ring_bytes = ring_bytes,
                                                   .cache_most_bytes = options->cache_most_bytes};
    qs_agent_init(s->agent, &port, &agent_options);
    peer_init(&s->peer, to_agent, s);
    return s;
}

void script_free(struct script *s)
{
    for (size_t i = 0; i < QS_STATES_ROWS_MAX; i++) {
        script_hits[i] = (uint8_t)(script_hits[i] | s->agent->row_hits[i]);
    }
    peer_done(&s->peer);
    free(s->agent);
    free(s->ring);
    free(s);
}

void script_plug(struct script *s)
{
    assert_true(qs_agent_takes_link(s->agent));
    s->link_open = true;
    peer_reconnect(&s->peer);
    qs_agent_on_link_up(s->agent);
}

void script_connect(struct script *s)
{
    script_plug(s);
    peer_hello(&s->peer, 1000);
    script_expect(s, QS_MSG_HELLO_AGENT);
    script_expect(s, QS_MSG_HELD);
    script_expect_state(s, QS_STATE_READY);
}

void script_pass(struct script *s, int64_t ns)
{
    int64_t end = s->now_ns + ns;
    for (;;) {
        int64_t next = qs_agent_next_deadline_ns(s->agent);
        if (next > end) {
            break;
        }
        s->now_ns = next > s->now_ns ? next : s->now_ns;
        qs_agent_on_time(s->agent);
        if (s->abandoned) {
            script_end(s, &(struct qs_port_child){.how = QS_PORT_LOST});
        } else if (s->forced && !s->linger) {
            script_end(s, &(struct qs_port_child){.how = QS_PORT_SIGNALLED, .code = 9});
        }
    }
    s->now_ns = end;
}

void script_end(struct script *s, const struct qs_port_child *how)
{
    struct qs_port_child child = *how;
    assert_true(s->child_runs);
    s->child_runs = s->asked = s->forced = s->abandoned = false;
    child.start_ns = child.start_ns ? child.start_ns : s->now_ns;
    child.end_ns = child.end_ns ? child.end_ns : s->now_ns;
    qs_agent_on_child(s->agent, &child);
}

void script_exit(struct script *s, int64_t ns, int32_t code)
{
    int64_t start = s->now_ns;
    script_pass(s, ns);
    script_end(s, &(struct qs_port_child){.code = code, .start_ns = start, .metrics = {5}});
}

void script_unplug(struct script *s)
{
    s->link_open = false;
    qs_agent_on_link_down(s->agent);
}

void script_sensor(struct script *s, size_t i, const char *name, uint8_t status, int64_t value)
{
    s->sensors[i].name = name;
    s->sensors[i].reading = (struct qs_port_reading){.status = status, .value = value, .age_ns = 11};
}

const struct letter *script_expect(struct script *s, uint8_t type)
{
    const struct letter *l = peer_pop(&s->peer);
    assert_non_null(l);
    assert_string_equal(qs_msg_name(l->type), qs_msg_name(type));
    return l;
}

void script_expect_nothing(struct script *s)
{
    const struct letter *l = peer_pop(&s->peer);
    assert_string_equal(l ? qs_msg_name(l->type) : "nothing", "nothing");
}

void script_expect_closed(struct script *s, struct qs_msg_closed *m)
{
    const struct letter *l = script_expect(s, QS_MSG_CLOSED);
    assert_int_equal(qs_msg_decode_closed(l->payload, l->n, m), 0);
}

uint16_t script_expect_error(struct script *s)
{
    struct qs_msg_error m;
    const struct letter *l = script_expect(s, QS_MSG_ERROR);
    assert_int_equal(qs_msg_decode_error(l->payload, l->n, &m), 0);
    assert_true(m.text.n > 0);
    return m.code;
}

void script_expect_fatal(struct script *s)
{
    assert_int_equal(script_expect_error(s), QS_CODE_PROTOCOL);
    script_expect_nothing(s);
    assert_false(s->link_open);
}

void script_expect_state(const struct script *s, enum qs_agent_state state)
{
    assert_string_equal(qs_states_name(s->agent->state), qs_states_name(state));
    assert_null(s->agent->asked);
}

void script_expect_work(const struct script *s, enum qs_agent_state state, uint8_t request)
{
    assert_string_equal(qs_states_name(s->agent->state), qs_states_name(state));
    assert_non_null(s->agent->asked);
    assert_string_equal(qs_msg_name(s->agent->asked->type), qs_msg_name(request));
}
