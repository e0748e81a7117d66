#include "samples.h"

#include "samples_control.h"
#include "samples_files.h"

#include <ctype.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct qs_uid farm = UID(0xa0);
static const struct qs_uid session = UID(0xb0);
static const struct qs_uid run = UID(0xc0);
static const struct qs_uid nonce = UID(0xd0);
static const struct qs_uid other_run = UID(0xe0);

void sample_count_up(uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)i;
}

struct qs_list sample_texts(uint8_t *mem, const char *const *items)
{
    struct qs_build b;
    qs_build_init(&b, mem, 512);
    for (; *items != NULL; items++)
        qs_build_text(&b, qs_text_of(*items));
    return qs_build_list(&b);
}

static bool put_hello_host(struct qs_writer *w)
{
    struct qs_msg_hello_host m = {.proto_min = 1,
                                  .proto_max = 2,
                                  .features = 0x80000001U,
                                  .farm = farm,
                                  .session = session,
                                  .heartbeat_ms = 1000,
                                  .max_frame_bytes = 262144,
                                  .software = qs_text_of("quiesced 0.1.0")};
    return qs_msg_encode_hello_host(w, &m);
}

static bool put_hello_agent(struct qs_writer *w)
{
    struct qs_msg_hello_agent m = {.proto_min = 1,
                                   .proto_max = 1,
                                   .features = 1,
                                   .session = session,
                                   .auth = QS_AUTH_PROOF_ONLY,
                                   .software = qs_text_of("quiesce-agent 0.1.0"),
                                   .boot_id = qs_text_of("0d1e2f30-4152-6374-8596-a7b8c9daebfc"),
                                   .clock = qs_text_of("monotonic-raw"),
                                   .max_frame_bytes = 65536,
                                   .max_iterations = 4096,
                                   .clock_resolution_ns = 1,
                                   .clock_cost_ps = 24500};
    memcpy(m.nonce, nonce.b, sizeof m.nonce);
    return qs_msg_encode_hello_agent(w, &m);
}

static bool put_auth(struct qs_writer *w)
{
    struct qs_msg_auth m;
    sample_count_up(m.mac, sizeof m.mac);
    return qs_msg_encode_auth(w, &m);
}

static bool put_ping(struct qs_writer *w)
{
    return qs_msg_encode_ping(w, &(struct qs_msg_ping){.id = UINT64_MAX, .t_send_ns = -5});
}

static bool put_pong(struct qs_writer *w)
{
    struct qs_msg_pong m = {
        .id = 42, .t_send_ns = 1000000000, .t_recv_ns = INT64_MAX, .t_reply_ns = INT64_MIN};
    return qs_msg_encode_pong(w, &m);
}

static bool put_facts_get(struct qs_writer *w)
{
    return w->ok;
}

static int recode_facts_get(const uint8_t *payload, size_t n, struct qs_writer *w)
{
    (void)w;
    return qs_msg_decode(QS_MSG_FACTS_GET, payload, n, &(union qs_msg){0});
}

static bool put_facts(struct qs_writer *w)
{
    uint8_t mem[512];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_fact(&b, &(struct qs_fact){qs_text_of("cpu.model"), qs_text_of("Cortex-A76 \xc2\xb5"
                                                                            "arch")});
    qs_build_fact(&b, &(struct qs_fact){qs_text_of("kernel"), qs_text_of("")});
    return qs_msg_encode_facts(w, &(struct qs_msg_facts){.facts = qs_build_list(&b)});
}

static bool put_held(struct qs_writer *w)
{
    uint8_t mem[512];
    struct qs_build b;
    qs_build_init(&b, mem, sizeof mem);
    qs_build_held(&b, &(struct qs_held){.run = run, .first_seq = 10, .next_seq = 25});
    qs_build_held(&b, &(struct qs_held){.run = other_run, .first_seq = 0, .next_seq = QS_SEQ_MAX});
    return qs_msg_encode_held(w, &(struct qs_msg_held){.held = qs_build_list(&b)});
}

static bool put_resend(struct qs_writer *w)
{
    return qs_msg_encode_run_seq(w, &(struct qs_msg_run_seq){.run = run, .seq = 10});
}

static bool put_run_begin(struct qs_writer *w)
{
    uint8_t mem[5][512];
    struct qs_build codes;
    qs_build_init(&codes, mem[4], sizeof mem[4]);
    qs_build_i32(&codes, 0);
    qs_build_i32(&codes, INT32_MIN);
    qs_build_i32(&codes, 255);
    struct qs_msg_run_begin m = {
        .run = run,
        .argv = sample_texts(mem[0], (const char *const[]){"gzip", "-6", "-c", "", NULL}),
        .env = sample_texts(mem[1], (const char *const[]){"LC_ALL=C", "PATH=/usr/bin:/bin", NULL}),
        .cwd = qs_text_of("/tmp/work"),
        .stdin_kind = QS_STDIN_FILE,
        .stdin_path = qs_text_of("/tmp/in.tar"),
        .output_kind = QS_OUTPUT_KIND_CAPTURE,
        .output_max_bytes = 4096,
        .iteration_limit_ns = 60000000000,
        .exit_rule = QS_EXIT_RULE_LIST,
        .exit_codes = qs_build_list(&codes),
        .cpus = qs_text_of("0-3,6"),
        .prepare = sample_texts(mem[2], (const char *const[]){"sync", NULL}),
        .conclude = sample_texts(mem[3], (const char *const[]){"rm", "-f", "out", NULL}),
        .hook_limit_ns = 5000000000,
        .user = qs_text_of("bench"),
    };
    return qs_msg_encode_run_begin(w, &m);
}

static bool put_run_ready(struct qs_writer *w)
{
    struct qs_msg_run_ready m = {
        .run = run, .executable = qs_text_of("/usr/bin/gzip"), .cpus = qs_text_of("0-3,6")};
    sample_count_up(m.sha256, sizeof m.sha256);
    return qs_msg_encode_run_ready(w, &m);
}

static bool put_hook(struct qs_writer *w)
{
    uint8_t mem[2][512];
    struct qs_msg_hook m = {.id = 7,
                            .argv = sample_texts(mem[0], (const char *const[]){"make", "-s", NULL}),
                            .env = sample_texts(mem[1], (const char *const[]){"A=1", NULL}),
                            .cwd = qs_text_of(""),
                            .limit_ns = 600000000000,
                            .output_max_bytes = 65535};
    return qs_msg_encode_hook(w, &m);
}

static bool put_hook_done(struct qs_writer *w)
{
    struct qs_msg_hook_done m = {
        .id = 7, .how = QS_HOOK_SIGNALLED, .code = 9, .duration_ns = 123456789, .output = {"a\0b\n\xff", 5}};
    return qs_msg_encode_hook_done(w, &m);
}

static struct qs_list sample_gate(uint8_t *mem)
{
    struct qs_build b;
    qs_build_init(&b, mem, 512);
    qs_build_expectation(&b, &(struct qs_expectation){.sensor = qs_text_of("cpu.busy_ratio_ppm"),
                                                      .flags = QS_GATE_HAS_HI,
                                                      .hi = 100000,
                                                      .timeout_ns = 5000000000});
    qs_build_expectation(
        &b, &(struct qs_expectation){.sensor = qs_text_of("thermal:soc"),
                                     .flags = QS_GATE_HAS_LO | QS_GATE_HAS_HI | QS_GATE_UNREADABLE_OK,
                                     .lo = -5000,
                                     .hi = 45000,
                                     .dwell_ns = 2000000000,
                                     .timeout_ns = 600000000000,
                                     .on_timeout = QS_GATE_ON_TIMEOUT_FAIL});
    return qs_build_list(&b);
}

static bool put_open(struct qs_writer *w)
{
    uint8_t mem[2][512];
    struct qs_build b;
    qs_build_init(&b, mem[1], sizeof mem[1]);
    qs_build_bound(&b, &(struct qs_bound){qs_text_of("cpu.steal_ticks"), 0});
    qs_build_bound(&b, &(struct qs_bound){qs_text_of("agent.switches"), -1});
    struct qs_msg_open m = {.run = run,
                            .window = 3,
                            .phase = QS_PHASE_MEASURE,
                            .first_seq = 1000,
                            .iterations = 50,
                            .max_ns = 2000000000,
                            .quiet_lead_ns = 20000000,
                            .lease_ns = 30000000000,
                            .gate = sample_gate(mem[0]),
                            .bounds = qs_build_list(&b)};
    return qs_msg_encode_open(w, &m);
}

static bool put_waiting(struct qs_writer *w)
{
    struct qs_msg_waiting m = {.run = run,
                               .window = 3,
                               .elapsed_ns = 1500000000,
                               .expectation = 1,
                               .value = 47250,
                               .status = QS_READING_STALE,
                               .eta_ns = -1,
                               .note = qs_text_of("cc1 (pid 4711)")};
    return qs_msg_encode_waiting(w, &m);
}

static bool put_window(struct qs_writer *w)
{
    return qs_msg_encode_window(w, &(struct qs_msg_window){.run = run, .window = 3, .arming = 2});
}

static bool put_hold(struct qs_writer *w)
{
    struct qs_msg_window_why m = {
        .run = run, .window = 3, .arming = 2, .why = qs_text_of("the hub is in use")};
    return qs_msg_encode_window_why(w, &m);
}

static bool put_disarm(struct qs_writer *w)
{
    struct qs_msg_window_why m = {
        .run = run, .window = 3, .arming = 2, .why = qs_text_of("thermal:soc rose above 45000")};
    return qs_msg_encode_window_why(w, &m);
}

static struct qs_gate_record sample_gate_record(uint8_t *mem)
{
    struct qs_build b;
    qs_build_init(&b, mem, 512);
    qs_build_reading(&b,
                     &(struct qs_reading){qs_text_of("cpu.busy_ratio_ppm"), QS_READING_OK, 31250, 1200000});
    qs_build_reading(&b, &(struct qs_reading){qs_text_of("thermal:soc"), QS_READING_MISSING, 0, 0});
    return (struct qs_gate_record){.began_ns = 4000000000,
                                   .decided_ns = 4990000000,
                                   .outcome = QS_GATE_TAINTED,
                                   .polls = 12,
                                   .readings = qs_build_list(&b),
                                   .busiest = qs_text_of("cc1 (pid 4711)")};
}

static bool put_closed(struct qs_writer *w)
{
    uint8_t mem[3][512];
    struct qs_build seen, taints;
    qs_build_init(&seen, mem[1], sizeof mem[1]);
    qs_build_evidence(&seen, &(struct qs_evidence){qs_text_of("cpu.busy_ticks"), QS_READING_OK, 1000, 1055});
    qs_build_evidence(&seen,
                      &(struct qs_evidence){qs_text_of("freq:policy0_khz"), QS_READING_UNREADABLE, 0, 0});
    qs_build_init(&taints, mem[2], sizeof mem[2]);
    qs_build_taint(&taints, &(struct qs_taint){-1, qs_text_of("gate-timeout"), 131072, 100000});
    qs_build_taint(&taints, &(struct qs_taint){1, qs_text_of("unexpected-exit"), 3, 0});
    struct qs_msg_closed m = {.run = run,
                              .window = 3,
                              .phase = QS_PHASE_MEASURE,
                              .how = QS_CLOSED_FAILED,
                              .iterations = 2,
                              .opened_ns = 5000000000,
                              .closed_ns = 5250000000,
                              .gate = sample_gate_record(mem[0]),
                              .evidence = qs_build_list(&seen),
                              .taints = qs_build_list(&taints),
                              .output_bytes = UINT64_C(1) << 40,
                              .output = {"warn\0ing\n", 9},
                              .failure = qs_text_of("exit code 3 in iteration 1"),
                              .frames_in_window = 1,
                              .unread_bytes_at_close = 16};
    return qs_msg_encode_closed(w, &m);
}

static bool put_run_ended(struct qs_writer *w)
{
    return qs_msg_encode_run_ended(w, &(struct qs_msg_run_ended){.run = run, .seq = 1003});
}

static bool put_iterations(struct qs_writer *w)
{
    uint8_t mem[2][512];
    struct qs_build ids, rows;
    qs_build_init(&ids, mem[0], sizeof mem[0]);
    qs_build_u16(&ids, 1);
    qs_build_u16(&ids, 3);
    qs_build_init(&rows, mem[1], sizeof mem[1]);
    qs_build_row(&rows, 2, &(struct qs_row){0, 123456789, 0, 0, {1500, 2097152}});
    qs_build_row(&rows, 2, &(struct qs_row){123500000, INT64_MAX, 0x80000006U, -11, {0, -1}});
    qs_build_row(&rows, 2, &(struct qs_row){INT64_MAX, INT64_MIN, 127, 255, {INT64_MIN, INT64_MAX}});
    struct qs_msg_iterations m = {.run = run,
                                  .window = 3,
                                  .first_seq = 1000,
                                  .first_index = 0,
                                  .metrics = qs_build_list(&ids),
                                  .rows = qs_build_list(&rows)};
    return qs_msg_encode_iterations(w, &m);
}

static bool put_run_seq(struct qs_writer *w)
{
    return qs_msg_encode_run_seq(w, &(struct qs_msg_run_seq){.run = run, .seq = 1003});
}

static bool put_run_end(struct qs_writer *w)
{
    return qs_msg_encode_run(w, &(struct qs_msg_run){.run = run});
}

static bool put_cancel(struct qs_writer *w)
{
    struct qs_msg_run_why m = {.run = run, .why = qs_text_of("the job was cancelled")};
    return qs_msg_encode_run_why(w, &m);
}

static bool put_error(struct qs_writer *w)
{
    struct qs_msg_error m = {
        .code = QS_CODE_EXECUTABLE, .blame = QS_WIRE_BLAME_OPERATOR, .text = qs_text_of("gzpi: not found")};
    return qs_msg_encode_error(w, &m);
}

static bool put_bye(struct qs_writer *w)
{
    return qs_msg_encode_bye(w, &(struct qs_msg_bye){.why = qs_text_of("")});
}

static bool put_pull(struct qs_writer *w)
{
    struct qs_msg_pull m = {.run = run,
                            .id = 9,
                            .source = QS_PULL_FILE,
                            .path = qs_text_of("out/trace.bin"),
                            .offset = 8192,
                            .max_bytes = 8192};
    return qs_msg_encode_pull(w, &m);
}

static bool put_pulled(struct qs_writer *w)
{
    struct qs_msg_pulled m = {.id = 9,
                              .status = QS_PULL_OK,
                              .total_bytes = UINT64_C(1) << 40,
                              .offset = 8192,
                              .bytes = {.p = "a\0\xff", .n = 3}};
    return qs_msg_encode_pulled(w, &m);
}

static bool put_document(struct qs_writer *w)
{
    struct qs_msg_document m = {.run = run,
                                .window = 3,
                                .status = QS_PULL_OK,
                                .total_bytes = UINT64_C(1) << 40,
                                .kept_bytes = QS_DOCUMENT_MAX_BYTES,
                                .offset = 61440,
                                .bytes = {.p = "1.5\n\0\xff", .n = 6}};
    return qs_msg_encode_document(w, &m);
}

RECODE(hello_host)
RECODE(hello_agent)
RECODE(auth)
RECODE(ping)
RECODE(pong)
RECODE(facts)
RECODE(held)
RECODE(run_begin)
RECODE(run_ready)
RECODE(hook)
RECODE(hook_done)
RECODE(open)
RECODE(waiting)
RECODE(window)
RECODE(window_why)
RECODE(closed)
RECODE(iterations)
RECODE(run)
RECODE(run_seq)
RECODE(run_ended)
RECODE(run_why)
RECODE(error)
RECODE(bye)
RECODE(pull)
RECODE(pulled)
RECODE(trace)
RECODE(trace_stop)
RECODE(traced)
RECODE(document)

const struct sample samples[QS_MSG_LAST] = {
    {"hello_host", QS_MSG_HELLO_HOST, put_hello_host, recode_hello_host},
    {"hello_agent", QS_MSG_HELLO_AGENT, put_hello_agent, recode_hello_agent},
    {"auth", QS_MSG_AUTH, put_auth, recode_auth},
    {"ping", QS_MSG_PING, put_ping, recode_ping},
    {"pong", QS_MSG_PONG, put_pong, recode_pong},
    {"facts_get", QS_MSG_FACTS_GET, put_facts_get, recode_facts_get},
    {"facts", QS_MSG_FACTS, put_facts, recode_facts},
    {"held", QS_MSG_HELD, put_held, recode_held},
    {"resend", QS_MSG_RESEND, put_resend, recode_run_seq},
    {"run_begin", QS_MSG_RUN_BEGIN, put_run_begin, recode_run_begin},
    {"run_ready", QS_MSG_RUN_READY, put_run_ready, recode_run_ready},
    {"hook", QS_MSG_HOOK, put_hook, recode_hook},
    {"hook_done", QS_MSG_HOOK_DONE, put_hook_done, recode_hook_done},
    {"open", QS_MSG_OPEN, put_open, recode_open},
    {"waiting", QS_MSG_WAITING, put_waiting, recode_waiting},
    {"arm", QS_MSG_ARM, put_window, recode_window},
    {"quiet", QS_MSG_QUIET, put_window, recode_window},
    {"hold", QS_MSG_HOLD, put_hold, recode_window_why},
    {"disarm", QS_MSG_DISARM, put_disarm, recode_window_why},
    {"closed", QS_MSG_CLOSED, put_closed, recode_closed},
    {"iterations", QS_MSG_ITERATIONS, put_iterations, recode_iterations},
    {"ack", QS_MSG_ACK, put_run_seq, recode_run_seq},
    {"run_end", QS_MSG_RUN_END, put_run_end, recode_run},
    {"run_ended", QS_MSG_RUN_ENDED, put_run_ended, recode_run_ended},
    {"cancel", QS_MSG_CANCEL, put_cancel, recode_run_why},
    {"error", QS_MSG_ERROR, put_error, recode_error},
    {"bye", QS_MSG_BYE, put_bye, recode_bye},
    {"pull", QS_MSG_PULL, put_pull, recode_pull},
    {"pulled", QS_MSG_PULLED, put_pulled, recode_pulled},
    {"trace", QS_MSG_TRACE, sample_put_trace, recode_trace},
    {"trace_stop", QS_MSG_TRACE_STOP, sample_put_trace_stop, recode_trace_stop},
    {"traced", QS_MSG_TRACED, sample_put_traced, recode_traced},
    {"have", QS_MSG_HAVE, sample_put_have, sample_recode_have},
    {"having", QS_MSG_HAVING, sample_put_having, sample_recode_having},
    {"put", QS_MSG_PUT, sample_put_put, sample_recode_put},
    {"put_data", QS_MSG_PUT_DATA, sample_put_put_data, sample_recode_put_data},
    {"put_at", QS_MSG_PUT_AT, sample_put_put_at, sample_recode_put_at},
    {"stage", QS_MSG_STAGE, sample_put_stage, sample_recode_stage},
    {"staged", QS_MSG_STAGED, sample_put_staged, sample_recode_staged},
    {"clean", QS_MSG_CLEAN, sample_put_clean, sample_recode_clean},
    {"cleaned", QS_MSG_CLEANED, sample_put_cleaned, sample_recode_cleaned},
    {"document", QS_MSG_DOCUMENT, put_document, recode_document},
    {"read", QS_MSG_READ, sample_put_read, sample_recode_read},
    {"readings", QS_MSG_READINGS, sample_put_readings, sample_recode_readings},
    {"survey", QS_MSG_SURVEY, sample_put_survey, sample_recode_survey},
    {"surveyed", QS_MSG_SURVEYED, sample_put_surveyed, sample_recode_surveyed},
    {"bind", QS_MSG_BIND, sample_put_bind, sample_recode_bind},
    {"bound", QS_MSG_BOUND, sample_put_bound, sample_recode_readings},
    {"tune", QS_MSG_TUNE, sample_put_tune, sample_recode_tune},
    {"tuned", QS_MSG_TUNED, sample_put_tuned, sample_recode_tuned},
    {"restore", QS_MSG_RESTORE, sample_put_restore, sample_recode_restore},
    {"restored", QS_MSG_RESTORED, sample_put_restored, sample_recode_restored},
    {"load", QS_MSG_LOAD, sample_put_load, sample_recode_load},
    {"loaded", QS_MSG_LOADED, sample_put_loaded, sample_recode_loaded},
};

static unsigned hex_digit(int c)
{
    if (!isxdigit(c))
        fail_msg("'%c' is no hex digit", c);
    return (unsigned)(isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
}

static void add_line(const char *line, struct golden *out)
{
    for (const char *p = line; *p != '\0' && *p != '#' && *p != '\n'; p++) {
        if (*p == ' ')
            continue;
        assert_true(out->n < sizeof out->bytes);
        unsigned high = hex_digit((unsigned char)p[0]);
        out->bytes[out->n++] = (uint8_t)(high << 4 | hex_digit((unsigned char)p[1]));
        p++;
    }
}

void golden_read(const char *dir, const char *name, struct golden *out)
{
    char path[512];
    char line[512];
    snprintf(path, sizeof path, "%s/%s.hex", dir, name);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("%s: cannot be read", path);
    out->n = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        add_line(line, out);
    if (f != NULL)
        fclose(f);
    assert_true(out->n >= QS_FRAME_HEADER_BYTES);
}
