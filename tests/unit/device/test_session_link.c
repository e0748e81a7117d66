/* What a session makes of its link: of round trips that differ, and of counters that tell of foreign bytes
 * and segments. The agent's core in virtual time, behind a link that the test slows down and counts for. */
#include "host.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "link/link_impl.h"
#include "proto/frame.h"
#include "proto/msg.h"

#define SECOND_NS INT64_C(1000000000)
#define MS_NS     INT64_C(1000000)

enum { SEED = 7, LATENCY_NS = 50000 /* of the simulated link, each way */ };

static struct {
    /* on its way, each message of this type so much later; the rest as they are */
    uint8_t late;
    const int64_t *late_ns;
    size_t late_count, come_late;
    /* what the kernel counted at QUIET, in the lead, and when CLOSED came */
    bool counts;
    struct qs_link_counters at[3];
    uint8_t ignored;     /* this message arrives as one that is answered by nothing; 0: none */
    size_t asked, chunk; /* of bytes that came last: the session takes the one with CLOSED for its own */
} link_script;

bool __real_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void __real_qs_link_counters(const struct qs_link *link, struct qs_link_counters *ret);
void __wrap_qs_link_counters(const struct qs_link *link, struct qs_link_counters *ret);
void __real_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);
void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n);

struct late {
    struct qs_link *link;
    size_t n;
    uint8_t bytes[128];
};

static void send_late(void *user)
{
    struct late *late = user;
    __real_qs_link_send(late->link, late->bytes, late->n, NULL);
    free(late);
}

/* In place of this frame, with its number: nothing is under way that it could end. */
static bool send_cancel(struct qs_link *link, const uint8_t *frame, struct qs_err *err)
{
    const size_t seq_at = 8;
    const struct qs_msg_run_why m = {.run = host_run};
    uint8_t bytes[128];
    struct qs_writer w;
    uint32_t seq = 0;
    memcpy(&seq, frame + seq_at, sizeof seq);
    qs_writer_init(&w, bytes, sizeof bytes);
    size_t at = qs_frame_begin(&w);
    qs_msg_encode(QS_MSG_CANCEL, &w, &m);
    assert_true(qs_frame_end(&w, at, QS_MSG_CANCEL, le32toh(seq)));
    return __real_qs_link_send(link, bytes, w.len, err);
}

bool __wrap_qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    const size_t type_at = 3;
    if (link_script.ignored && bytes[type_at] == link_script.ignored)
        return send_cancel(link, bytes, err);
    if (bytes[type_at] != link_script.late || link_script.come_late >= link_script.late_count)
        return __real_qs_link_send(link, bytes, n, err);
    struct late *late = qs_malloc(sizeof *late);
    assert_true(n <= sizeof late->bytes);
    late->link = link;
    late->n = n;
    memcpy(late->bytes, bytes, n);
    qs_timer_start(link->loop, link_script.late_ns[link_script.come_late++], send_late, late);
    return true;
}

void __wrap_qs_link_counters(const struct qs_link *link, struct qs_link_counters *ret)
{
    if (!link_script.counts || link_script.asked == 3) {
        __real_qs_link_counters(link, ret);
        return;
    }
    *ret = link_script.at[link_script.asked++];
    if (link_script.asked == 3)
        ret->bytes_in += link_script.chunk;
}

void __wrap_qs_link_bytes(struct qs_link *link, const uint8_t *bytes, size_t n)
{
    link_script.chunk = n;
    __real_qs_link_bytes(link, bytes, n);
}

struct bed {
    struct qs_loop *loop;
    struct host host;
};

static void bed_init(struct bed *b)
{
    struct qs_farm_device device = {.name = (char *)"sim", .link = QS_LINK_SIM, .sim_seed = SEED};
    memset(&link_script, 0, sizeof link_script);
    b->loop = qs_loop_new_virtual(5 * SECOND_NS, SEED);
    host_init(&b->host, b->loop, &device);
}

static void bed_done(struct bed *b)
{
    host_done(&b->host);
    assert_int_equal(qs_loop_free(b->loop), 0);
}

/* A PING that is late on one side moves the middle by half of that: the least late one errs least. */
static void the_best_round_trip_counts(void **state)
{
    static const int64_t late_ns[] = {9 * MS_NS, 4 * MS_NS, 6 * MS_NS, 1 * MS_NS,
                                      3 * MS_NS, 8 * MS_NS, 2 * MS_NS, 7 * MS_NS};
    (void)state;
    struct bed b;
    bed_init(&b);
    link_script.late = QS_MSG_PING;
    link_script.late_ns = late_ns;
    link_script.late_count = sizeof late_ns / sizeof *late_ns;
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_int_equal(link_script.come_late, link_script.late_count);
    assert_int_equal(b.host.rtt_ns, MS_NS + 2 * LATENCY_NS);
    assert_int_equal(b.host.clock_offset_ns, SEED * SECOND_NS + MS_NS / 2);
    bed_done(&b);
}

/* As TCP counts them: CLOSED came in one segment of data, which was acknowledged. */
static struct qs_link_counters kernel(uint64_t in, uint64_t out, uint64_t data_in, uint64_t data_out)
{
    return (struct qs_link_counters){.bytes_in = 1000,
                                     .bytes_out = 900,
                                     .has_segments = true,
                                     .segments_in = 50 + in,
                                     .segments_out = 40 + out,
                                     .data_segments_in = 30 + data_in,
                                     .data_segments_out = 20 + data_out};
}

/* Between the middle of the lead and CLOSED: segments, and bytes that are no frame of this window. */
static void claim(struct qs_link_counters end, uint64_t more_in, uint64_t more_out, bool silent, bool proven)
{
    struct bed b;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "run_ready");
    link_script.counts = true;
    link_script.at[0] = link_script.at[1] = kernel(0, 0, 0, 0);
    link_script.at[2] = end;
    link_script.at[2].bytes_in += more_in;
    link_script.at[2].bytes_out += more_out;
    assert_true(host_open(&b.host, 0, 0, 2 * MS_NS));
    host_wait(&b.host, "rows 0+5");
    assert_int_equal(link_script.asked, 3);
    assert_int_equal(b.host.silent, silent);
    assert_int_equal(b.host.proven, proven);
    bed_done(&b);
}

static void proven_is_what_the_kernel_counted(void **state)
{
    (void)state;
    claim(kernel(1, 1, 1, 0), 0, 0, true, true);  /* CLOSED, and its acknowledgement */
    claim(kernel(2, 1, 2, 0), 0, 0, true, true);  /* in two segments, acknowledged once */
    claim(kernel(2, 1, 1, 0), 0, 0, true, false); /* a segment without data came */
    claim(kernel(1, 2, 1, 0), 0, 0, true, false); /* one more went than there was to acknowledge */
    claim(kernel(1, 1, 1, 1), 0, 0, true, false); /* one of them with data */
    claim(kernel(0, 0, 0, 0), 0, 0, true, false); /* what brought CLOSED was not seen */
}

static struct qs_link_counters usb(uint64_t in, uint64_t out, uint64_t data_in, uint64_t data_out)
{
    struct qs_link_counters ret = kernel(in, out, data_in, data_out);
    ret.are_transfers = true;
    return ret;
}

/* Nothing acknowledges a transfer. */
static void proven_is_what_usb_completed(void **state)
{
    (void)state;
    claim(usb(1, 0, 1, 0), 0, 0, true, true);
    claim(usb(2, 0, 2, 0), 0, 0, true, true);
    claim(usb(1, 1, 1, 0), 0, 0, true, false);
    claim(usb(1, 1, 1, 1), 0, 0, true, false);
    claim(usb(2, 0, 1, 0), 0, 0, true, false);
    claim(usb(0, 0, 0, 0), 0, 0, true, false);
}

static void silent_is_what_our_socket_counted(void **state)
{
    (void)state;
    claim(kernel(1, 1, 1, 0), 1, 0, false, false);
    claim(kernel(1, 1, 1, 0), 0, 1, false, false);
}

/* A window that ends before its QUIET has no silence to judge: what was counted in the last one is of that
 * one. */
static void a_window_without_quiet_counts_nothing(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "run_ready");
    assert_true(host_open(&b.host, 0, 0, 2 * MS_NS));
    host_wait(&b.host, "rows 0+5");
    assert_true(b.host.quiet.counted);
    assert_true(host_open(&b.host, 1, 5, 2 * MS_NS));
    assert_true(qs_session_cancel(b.host.session, &host_run, "over", NULL));
    host_wait(&b.host, "closed 0");
    assert_false(b.host.quiet.counted);
    assert_false(b.host.silent);
    bed_done(&b);
}

/* The owner gives the link up: nothing more is taken from it, the reason is told once, and the next one is
 * sound. */
static void a_dropped_link_is_told_and_made_anew(void **state)
{
    (void)state;
    struct bed b;
    struct qs_err why = QS_ERR_INIT;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "run_ready");
    assert_true(host_open(&b.host, 0, 0, 2 * MS_NS)); /* its answers are on their way */
    qs_fail(&why, QS_E_AGENT, "it answers in riddles");
    qs_session_drop(b.host.session, &why);
    qs_fail(&why, QS_E_INTERNAL, "another reason");
    qs_session_drop(b.host.session, &why);
    assert_int_equal(b.host.downs, 0); /* not from inside the call */
    assert_false(qs_session_cancel(b.host.session, &host_run, "over", &why));
    assert_int_equal(why.code, QS_E_LINK);
    host_wait(&b.host, "down");
    host_assert_why(&b.host, QS_E_AGENT, "it answers in riddles");
    host_wait(&b.host, "ready");
    assert_int_equal(b.host.downs, 1);
    assert_null(strstr(b.host.log.data, "waiting"));
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "run_ready");
    bed_done(&b);
}

/* A request is given up when its answer does not come: after what its row and the request itself allow. With
 * an answer there is no end. */
static void a_request_has_a_deadline(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    host_idle(&b.host, 200 * SECOND_NS);
    assert_true(host_hook(&b.host, 1));
    host_wait(&b.host, "hook_done 1");
    host_idle(&b.host, 200 * SECOND_NS);
    assert_int_equal(b.host.downs, 0);
    link_script.ignored = QS_MSG_HOOK;
    int64_t asked_ns = qs_loop_now_ns(b.loop);
    assert_true(host_hook(&b.host, 2));
    b.host.awaited = "down";
    qs_loop_run(b.loop);
    host_assert_why(&b.host, QS_E_LINK, "no answer to HOOK within 1 min 1 s");
    assert_int_equal(qs_loop_now_ns(b.loop) - asked_ns, 61 * SECOND_NS);
    bed_done(&b);
}

/* An agent that waits for nothing, and does not begin either: a gate has an end of its own, after three times
 * its longest timeout and a minute. */
static void a_gate_that_is_forgotten_has_an_end(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "run_ready");
    link_script.ignored = QS_MSG_OPEN;
    host_gate_ns = 100 * SECOND_NS;
    int64_t opened_ns = qs_loop_now_ns(b.loop);
    assert_true(host_open(&b.host, 0, 0, 0));
    host_gate_ns = 0;
    b.host.awaited = "down";
    qs_loop_run(b.loop);
    host_assert_why(&b.host, QS_E_LINK, "sim: the gate has neither opened nor timed out within 6 min 0 s");
    assert_int_equal(qs_loop_now_ns(b.loop) - opened_ns, 360 * SECOND_NS);
    bed_done(&b);
}

/* Who asked is gone: the answer is told to nobody, and the next request may be made. Another one's is not
 * touched. */
static void an_answer_without_an_owner_is_dropped(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_hook(&b.host, 7));
    qs_session_disown(b.host.session, &b);
    host_wait(&b.host, "hook_done 7");
    assert_true(host_hook(&b.host, 8));
    qs_session_disown(b.host.session, &b.host);
    host_idle(&b.host, 5 * SECOND_NS);
    assert_true(host_hook(&b.host, 9));
    host_wait(&b.host, "hook_done 9");
    assert_null(strstr(b.host.log.data, "hook_done 8"));
    bed_done(&b);
}

/* While the next piece of a file waits here, for the hub perhaps, the agent owes nothing: the file goes on
 * when it comes, however late. What it does owe has its deadline. */
static void a_file_may_wait_for_the_hub(void **state)
{
    static const char zeros[1000];
    (void)state;
    struct bed b;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(qs_session_has(b.host.session, QS_FEATURE_FILES));
    const struct qs_msg_put m = {.id = qs_session_next_file_id(b.host.session), .file = {.bytes = 3000}};
    assert_true(host_call(&b.host, QS_MSG_PUT, &m, 0));
    host_wait(&b.host, "put_at 0 0");
    assert_true(qs_session_push_data(b.host.session, zeros, sizeof zeros, NULL));
    host_idle(&b.host, 200 * SECOND_NS);
    assert_int_equal(b.host.downs, 0);
    link_script.ignored = QS_MSG_PUT_DATA; /* the rest does not arrive */
    int64_t sent_ns = qs_loop_now_ns(b.loop);
    assert_true(qs_session_push_data(b.host.session, zeros, sizeof zeros, NULL));
    assert_true(qs_session_push_data(b.host.session, zeros, sizeof zeros, NULL));
    b.host.awaited = "down";
    qs_loop_run(b.loop);
    host_assert_why(&b.host, QS_E_LINK, "no answer to PUT within 1 min 0 s");
    assert_int_equal(qs_loop_now_ns(b.loop) - sent_ns, 60 * SECOND_NS);
    bed_done(&b);
}

/* The first part of an answer comes in the middle of its time: as much is left for the next. */
static void each_part_of_an_answer_has_its_time(void **state)
{
    static const int64_t late_ns[] = {10 * MS_NS};
    (void)state;
    struct bed b;
    bed_init(&b);
    link_script.late = QS_MSG_PUT;
    link_script.late_ns = late_ns;
    link_script.late_count = 1;
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    const struct qs_msg_put m = {.id = qs_session_next_file_id(b.host.session), .file = {.bytes = 3000}};
    int64_t asked_ns = qs_loop_now_ns(b.loop);
    assert_true(
        host_call(&b.host, QS_MSG_PUT, &m, 20 * MS_NS - 60 * SECOND_NS)); /* of its minute that is left */
    host_wait(&b.host, "put_at 0 0");
    b.host.awaited = "down";
    qs_loop_run(b.loop);
    host_assert_why(&b.host, QS_E_LINK, "no answer to PUT within 20.0 ms");
    assert_int_equal(qs_loop_now_ns(b.loop) - asked_ns, 30 * MS_NS + 2 * LATENCY_NS);
    bed_done(&b);
}

/* A run that has been silent for long does not end without a look at the clocks. */
static void clocks_are_mapped_with_the_end_of_a_run(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "run_ready");
    b.host.rtt_ns = 0;
    host_idle(&b.host, 200 * SECOND_NS);
    assert_int_equal(b.host.rtt_ns, 0);
    assert_true(host_end(&b.host));
    host_wait(&b.host, "run_ended 0");
    host_idle(&b.host, SECOND_NS);
    assert_int_equal(b.host.rtt_ns, 2 * LATENCY_NS);
    bed_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_round_trip_counts),
        cmocka_unit_test(proven_is_what_the_kernel_counted),
        cmocka_unit_test(proven_is_what_usb_completed),
        cmocka_unit_test(silent_is_what_our_socket_counted),
        cmocka_unit_test(a_window_without_quiet_counts_nothing),
        cmocka_unit_test(a_dropped_link_is_told_and_made_anew),
        cmocka_unit_test(a_request_has_a_deadline),
        cmocka_unit_test(a_gate_that_is_forgotten_has_an_end),
        cmocka_unit_test(a_file_may_wait_for_the_hub),
        cmocka_unit_test(each_part_of_an_answer_has_its_time),
        cmocka_unit_test(clocks_are_mapped_with_the_end_of_a_run),
        cmocka_unit_test(an_answer_without_an_owner_is_dropped),
    };
    return cmocka_run_group_tests_name("device session and its link", tests, NULL, NULL);
}
