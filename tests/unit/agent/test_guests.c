/* Who has come to an agent's door and has not proven anything yet. */
#include "linux/guests.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static struct qs_guests guests;
static int theirs[QS_GUESTS_MAX + 1];

static void come(size_t i, int64_t now_ns)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    theirs[i] = ends[1];
    qs_guests_add(&guests, ends[0], NULL, now_ns);
}

static bool was_turned_away(size_t i)
{
    char text[128] = "";
    return read(theirs[i], text, sizeof text - 1) > 0 &&
           strstr(text, "no greeting and proof of the key came in time");
}

/* Sixteen wait; where one more comes the one that has waited longest goes, and whoever has waited for five
 * seconds. */
static void guests_wait_their_time(void **state)
{
    enum { S = 1000000000 };
    (void)state;
    qs_guests_init(&guests);
    assert_int_equal(qs_guests_expire(&guests, 0), INT64_MAX);
    for (size_t i = 0; i < QS_GUESTS_MAX; i++) {
        come(i, S + (i == 9 ? 0 : (int64_t)i + 1));
    }
    assert_int_equal(qs_guests_expire(&guests, S + 100), 6 * (int64_t)S);
    come(QS_GUESTS_MAX, S + 50);
    for (size_t i = 0; i <= QS_GUESTS_MAX; i++) {
        assert_int_equal(was_turned_away(i), i == 9);
    }
    assert_int_equal(qs_guests_expire(&guests, 6 * (int64_t)S), 6 * (int64_t)S + 1);
    assert_int_equal(qs_guests_expire(&guests, 6 * (int64_t)S + 1), 6 * (int64_t)S + 2);
    assert_true(was_turned_away(0));
    assert_false(was_turned_away(1));
    assert_int_equal(qs_guests_expire(&guests, 6 * (int64_t)S + 49), 6 * (int64_t)S + 50);
    assert_true(was_turned_away(15));
    assert_false(was_turned_away(16));
    qs_guests_close(&guests);
    assert_int_equal(qs_guests_expire(&guests, 100 * (int64_t)S), INT64_MAX);
    char byte;
    assert_int_equal(read(theirs[16], &byte, 1), 0);
    for (size_t i = 0; i <= QS_GUESTS_MAX; i++) {
        close(theirs[i]);
    }
}

static void random_bytes(void *ctx, uint8_t *bytes, size_t n)
{
    (void)ctx;
    memset(bytes, 0x3c, n);
}

static bool hears(struct qs_agent *agent, const void *bytes, size_t n)
{
    assert_int_equal(write(theirs[0], bytes, n), (ssize_t)n);
    return qs_guest_hear(&guests.at[0], agent);
}

/* A guest is judged when both of its messages are there, or when nothing more can come of it. */
static void guests_are_judged_when_they_have_spoken(void **state)
{
    static struct qs_agent agent;
    uint8_t hello[QS_FRAME_HEADER_BYTES + QS_HELLO_MAX_BYTES], byte = 0;
    struct qs_writer w;
    const struct qs_msg_hello_host m = {.proto_min = 1,
                                        .proto_max = 1,
                                        .farm = {{1}},
                                        .session = {{2}},
                                        .heartbeat_ms = 1000,
                                        .max_frame_bytes = QS_FRAME_MAX_BYTES,
                                        .software = qs_text_of("a test")};
    (void)state;
    agent.port.random = random_bytes;
    agent.options = (struct qs_agent_options){
        .software = "x", .boot_id = "y", .clock = "z", .key = &byte, .key_bytes = 1};
    qs_writer_init(&w, hello, sizeof hello);
    size_t at = qs_frame_begin(&w);
    qs_msg_encode_hello_host(&w, &m);
    assert_true(qs_frame_end(&w, at, QS_MSG_HELLO_HOST, 0));
    qs_guests_init(&guests);
    come(0, 1);
    assert_false(qs_guest_hear(&guests.at[0], &agent)); /* nothing has come */
    assert_true(guests.at[0].fd >= 0);
    assert_false(hears(&agent, hello, 15));
    assert_false(hears(&agent, hello + 15, w.len - 16));
    assert_false(guests.at[0].greeted);
    assert_false(hears(&agent, hello + w.len - 1, 1));
    assert_true(guests.at[0].greeted);
    uint8_t greeting[QS_HELLO_MAX_BYTES];
    assert_true(read(theirs[0], greeting, sizeof greeting) > QS_FRAME_HEADER_BYTES);
    assert_int_equal(guests.at[0].nonce[0], 0x3c);
    const uint8_t proof[QS_FRAME_HEADER_BYTES + 32] = {[4] = 32};
    assert_false(hears(&agent, proof, QS_FRAME_HEADER_BYTES));
    assert_false(hears(&agent, proof + QS_FRAME_HEADER_BYTES, 31));
    assert_true(hears(&agent, &byte, 1));
    assert_int_equal(read(theirs[0], greeting, sizeof greeting), -1); /* it was greeted once */
    guests.at[0].n = 0;
    const uint8_t endless[QS_FRAME_HEADER_BYTES] = {[6] = 1};
    assert_true(hears(&agent, endless, sizeof endless));
    guests.at[0].n = 0;
    guests.at[0].greeted = false;
    const uint8_t none[QS_FRAME_HEADER_BYTES + 1] = {[4] = 1};
    assert_true(hears(&agent, none, sizeof none)); /* no hello: in the agent's words */
    guests.at[0].n = 0;
    assert_false(hears(&agent, hello, w.len));
    const uint8_t more[QS_FRAME_HEADER_BYTES] = {[5] = 0xff};
    assert_true(hears(&agent, more, sizeof more)); /* a proof that has no room */
    agent.options.key = NULL; /* nothing to prove: its greeting is all, and is the agent's to answer */
    guests.at[0].n = 0;
    guests.at[0].greeted = false;
    assert_true(read(theirs[0], greeting, sizeof greeting) > 0);
    assert_false(hears(&agent, hello, w.len - 1));
    assert_true(hears(&agent, hello + w.len - 1, 1));
    assert_false(guests.at[0].greeted);
    assert_int_equal(read(theirs[0], greeting, sizeof greeting), -1);
    close(theirs[0]);
    assert_false(qs_guest_hear(&guests.at[0], &agent));
    assert_int_equal(guests.at[0].fd, -1);
}

static void other_bytes(void *ctx, uint8_t *bytes, size_t n)
{
    static uint8_t drawn;
    (void)ctx;
    memset(bytes, ++drawn, n);
}

/* A guest that waits for no greeting, in the place of one that proved the key: it is not asked for the same
 * proof. */
static void a_place_is_not_asked_for_the_same_proof(void **state)
{
    static struct qs_agent agent;
    static uint8_t all[QS_GUEST_BYTES];
    uint8_t byte = 0, first[QS_NONCE_BYTES];
    struct qs_tls_session *session;
    (void)state;
    agent.port.random = other_bytes;
    agent.options = (struct qs_agent_options){.key = &byte, .key_bytes = 1};
    qs_guests_init(&guests);
    for (int i = 0; i < 2; i++) {
        come(0, 1);
        assert_true(hears(&agent, all, sizeof all));
        assert_false(guests.at[0].greeted);
        if (i == 0) {
            memcpy(first, guests.at[0].nonce, sizeof first);
        }
        close(qs_guest_leave(&guests.at[0], &session));
        assert_null(session);
        close(theirs[0]);
    }
    assert_memory_not_equal(first, guests.at[0].nonce, sizeof first);
    assert_true(first[0] != 0 && guests.at[0].nonce[0] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guests_wait_their_time),
        cmocka_unit_test(guests_are_judged_when_they_have_spoken),
        cmocka_unit_test(a_place_is_not_asked_for_the_same_proof),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests_name("agent.guests", tests, NULL, NULL);
}
