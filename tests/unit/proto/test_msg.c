/* Who may send what, what two HELLOs agree on, and names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "proto/msg.h"
#include "proto/names.h"
#include "proto/request.h"

static const char *page_path;

/* One letter a type, from 1: the host sends H, the agent A, both B. */
static const char senders[] = "HABBBHAAHHAHAHAAHHAAAHHAHBBHAHHAHAHHAHAHAAHAHAHAHAHAHA";

static void test_who_may_send(void **state)
{
    (void)state;
    assert_int_equal(strlen(senders), QS_MSG_LAST);
    for (uint8_t type = 1; type <= QS_MSG_LAST; type++) {
        char who = senders[type - 1];
        assert_int_equal(qs_msg_accept(type, QS_SIDE_HOST), who == 'A' ? QS_WIRE_E_TYPE : 1);
        assert_int_equal(qs_msg_accept(type, QS_SIDE_AGENT), who == 'H' ? QS_WIRE_E_TYPE : 1);
        assert_string_not_equal(qs_msg_name(type), "unknown");
    }
    assert_string_equal(qs_msg_name(QS_MSG_ITERATIONS), "ITERATIONS");
}

struct hellos {
    struct qs_msg_hello_host host;
    struct qs_msg_hello_agent agent;
};

static struct hellos good_hellos(void)
{
    struct hellos h = {
        .host = {.proto_min = 1, .proto_max = 3, .features = 0xf0f1, .max_frame_bytes = 100000},
        .agent = {.proto_min = 2, .proto_max = 9, .features = 0x8001, .max_frame_bytes = 65536}};
    memset(&h.host.session, 7, sizeof h.host.session);
    h.agent.session = h.host.session;
    h.agent.auth = QS_AUTH_PROOF_ONLY;
    return h;
}

static void test_agreement(void **state)
{
    (void)state;
    struct hellos h = good_hellos();
    struct qs_agreed a;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_OK);
    assert_int_equal(a.proto, 3);
    assert_int_equal(a.features, 0x8001);
    assert_int_equal(a.max_frame_bytes, 65536);
    assert_int_equal(a.auth, QS_AUTH_PROOF_ONLY);
    h.host.max_frame_bytes = h.agent.max_frame_bytes = UINT32_MAX;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_OK);
    assert_int_equal(a.max_frame_bytes, QS_FRAME_MAX_BYTES);
}

static void test_no_agreement(void **state)
{
    (void)state;
    struct hellos h = good_hellos();
    struct qs_agreed a;
    h.host.proto_max = 1;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_E_VERSION);
    h = good_hellos();
    h.host.proto_min = h.host.proto_max = 10;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_E_VERSION);
    h.agent.proto_min = 9; /* both have but one in common */
    h.agent.proto_max = 10;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_OK);
    assert_int_equal(a.proto, 10);
    h.host.proto_min = 8;
    h.agent.proto_min = 10;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_OK);
    h.host.proto_max = 9;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_E_VERSION);
    h = good_hellos();
    h.agent.session.b[15] ^= 1;
    assert_int_equal(qs_msg_agree(&h.host, &h.agent, &a), QS_WIRE_E_SESSION);
}

/* PROTOCOL.md has a heading for each message, with the sides that may send it. */
static char page[64 * 1024];

static void read_page(void)
{
    FILE *f = fopen(page_path, "r");
    assert_non_null(f);
    size_t n = fread(page, 1, sizeof page - 1, f);
    fclose(f);
    page[n] = '\0';
}

static void test_page_has_every_message(void **state)
{
    (void)state;
    read_page();
    for (uint8_t type = 1; type <= QS_MSG_LAST; type++) {
        char heading[64];
        const char *sides = senders[type - 1] == 'B' ? "H, A" : senders[type - 1] == 'H' ? "H" : "A";
        snprintf(heading, sizeof heading, "\n### %d %s (%s)\n", type, qs_msg_name(type), sides);
        if (strstr(page, heading) == NULL)
            fail_msg("PROTOCOL.md lacks '%s'", heading);
    }
}

static void test_metric_names(void **state)
{
    (void)state;
    assert_string_equal(qs_metric_name(QS_METRIC_USER_TIME_US), "user_time_us");
    assert_string_equal(qs_metric_name(QS_METRIC_LAST), "block_out");
    for (uint16_t id = 1; id <= QS_METRIC_LAST; id++)
        for (uint16_t other = 1; other < id; other++)
            assert_string_not_equal(qs_metric_name(id), qs_metric_name(other));
    assert_null(qs_metric_name(0));
    assert_null(qs_metric_name(QS_METRIC_LAST + 1));
}

static void test_words(void **state)
{
    (void)state;
    assert_string_equal(qs_phase_name(QS_PHASE_MEASURE), "measure");
    assert_string_equal(qs_phase_name(QS_PHASE_TUNE), "tune");
    assert_string_equal(qs_gate_outcome_name(QS_GATE_FAIL), "fail");
    assert_string_equal(qs_gate_outcome_name((enum qs_gate_outcome)5), "unknown");
    assert_string_equal(qs_gate_on_timeout_name(QS_GATE_ON_TIMEOUT_DEFER), "defer");
    assert_string_equal(qs_reading_status_name(QS_READING_MISSING), "missing");
    assert_string_equal(qs_reading_status_name(QS_READING_SPOILT), "spoilt");
    assert_string_equal(qs_iteration_flag_name(QS_ITERATION_CONCLUDE_FAILED), "conclude-failed");
    assert_string_equal(qs_iteration_flag_name(3), "unknown");
    for (uint16_t code = 1; code <= QS_CODE_LAST; code++)
        assert_string_not_equal(qs_wire_code_name(code), "unknown");
    assert_string_equal(qs_wire_code_name(0), "unknown");
    assert_string_equal(qs_wire_code_name(QS_CODE_LAST + 1), "unknown");
}

/* Each request is the host's and its reply the agent's; what is the same in both is found in both. */
static void test_requests(void **state)
{
    static const uint8_t asked[] = {
        QS_MSG_RESEND,     QS_MSG_RUN_BEGIN, QS_MSG_HOOK, QS_MSG_RUN_END, QS_MSG_PULL,  QS_MSG_TRACE,
        QS_MSG_TRACE_STOP, QS_MSG_HAVE,      QS_MSG_PUT,  QS_MSG_STAGE,   QS_MSG_CLEAN, QS_MSG_READ,
        QS_MSG_SURVEY,     QS_MSG_BIND,      QS_MSG_TUNE, QS_MSG_RESTORE, QS_MSG_LOAD};
    size_t n = 0;
    (void)state;
    for (uint8_t type = 0; type < 200; type++) {
        const struct qs_request *r = qs_request_of(type);
        if (!r)
            continue;
        assert_int_equal(type, asked[n++]);
        assert_int_equal(r->type, type);
        assert_int_equal(qs_msg_accept(type, QS_SIDE_HOST), 1);
        assert_int_equal(qs_msg_accept(r->reply, QS_SIDE_AGENT), 1);
        assert_int_equal(qs_request_is_reply(r->reply), type != QS_MSG_RESEND);
        assert_false(qs_request_is_reply(type));
        assert_in_range(r->phases, 1, QS_REQUEST_IDLE | QS_REQUEST_RUN);
        assert_int_equal(r->feature == 0, !r->lacks);
        assert_int_equal(r->amid, type == QS_MSG_READ || type == QS_MSG_LOAD ? QS_FEATURE_AMID
                                  : type == QS_MSG_TUNE                      ? QS_FEATURE_SENSE
                                                                             : 0);
        assert_true(r->key_bytes == QS_UID_BYTES || r->key_bytes == sizeof(uint32_t));
        assert_in_range(r->reply_ns, 1000000000, 600000000000);
    }
    assert_int_equal(n, sizeof asked);
    const struct qs_msg_trace_stop stop = {.run = {{9}}, .id = 0x01020304};
    const struct qs_msg_traced traced = {.id = 0x01020304, .started_ns = 5};
    const struct qs_msg_run_ended ended = {.run = {{9, 8}}, .seq = 4};
    const uint32_t id[4] = {0x01020304};
    uint8_t key[QS_REQUEST_KEY_BYTES];
    qs_request_key(qs_request_of(QS_MSG_TRACE_STOP), false, &stop, key);
    assert_memory_equal(key, id, sizeof key);
    memset(key, 1, sizeof key);
    qs_request_key(qs_request_of(QS_MSG_TRACE_STOP), true, &traced, key);
    assert_memory_equal(key, id, sizeof key);
    qs_request_key(qs_request_of(QS_MSG_RUN_END), true, &ended, key);
    assert_memory_equal(key, &ended.run, sizeof key);
}

/* | RUN_BEGIN | RUN_READY | without a run | - | 60 s | */
static void test_page_has_every_request(void **state)
{
    static const char *const phases[] = {"", "without a run", "in a run", "always"};
    (void)state;
    read_page();
    for (uint8_t type = 1; type <= QS_MSG_LAST; type++) {
        const struct qs_request *r = qs_request_of(type);
        char row[160], bit[16] = "-";
        if (!r)
            continue;
        if (r->feature)
            snprintf(bit, sizeof bit, "%d", __builtin_ctz(r->feature));
        snprintf(row, sizeof row, "\n| %s | %s | %s | %s | %d s |\n", qs_msg_name(r->type),
                 qs_msg_name(r->reply), phases[r->phases], bit, (int)(r->reply_ns / 1000000000));
        if (strstr(page, row) == NULL)
            fail_msg("PROTOCOL.md lacks this row:%s", row);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s PROTOCOL.md\n", argv[0]);
        return 2;
    }
    page_path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_may_send), cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_no_agreement), cmocka_unit_test(test_page_has_every_message),
        cmocka_unit_test(test_metric_names), cmocka_unit_test(test_words),
        cmocka_unit_test(test_requests),     cmocka_unit_test(test_page_has_every_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
