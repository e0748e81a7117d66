/* A command's standard input and output as a link. */
#include "link_fixture.h"

#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "link/link_impl.h"

#define COMMAND(...)                                                                                         \
    {                                                                                                        \
        .name = (char *)"phone", .link = QS_LINK_EXEC, .argv = {                                             \
            .at = (char *[]){__VA_ARGS__},                                                                   \
            .count = sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)                                        \
        }                                                                                                    \
    }
#define ARG(s) ((char *)s)

static void cat_gives_back_what_it_was_sent(void **state)
{
    (void)state;
    struct qs_farm_device device = COMMAND(ARG("cat"));
    struct fixture f;
    fixture_init(&f, &device);
    assert_true(fixture_open(&f));
    assert_int_equal(f.ups, 0);
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 1);
    f.want = 5;
    fixture_send(&f, "hello", 5);
    qs_loop_run(f.loop);
    assert_string_equal(f.got.data, "hello");
    struct qs_link_counters c;
    qs_link_counters(f.link, &c);
    assert_int_equal(c.bytes_in, 5);
    assert_int_equal(c.bytes_out, 5);
    assert_false(c.has_segments);
    assert_false(qs_link_is_simulated(f.link));
    assert_int_equal(f.downs, 0);
    fixture_done(&f);
}

static void more_than_a_pipe_holds_arrives_whole(void **state)
{
    (void)state;
    enum { BYTES = 900 * 1024 };
    struct qs_farm_device device = COMMAND(ARG("cat"));
    struct fixture f;
    fixture_init(&f, &device);
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    uint8_t *bytes = qs_malloc(BYTES);
    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)(i * 2654435761U >> 13);
    f.want = BYTES;
    fixture_send(&f, bytes, BYTES);
    qs_loop_run(f.loop);
    assert_int_equal(f.got.len, BYTES);
    assert_memory_equal(f.got.data, bytes, BYTES);
    free(bytes);
    fixture_done(&f);
}

static void a_peer_that_does_not_read_fills_a_bounded_queue(void **state)
{
    (void)state;
    struct qs_farm_device device = COMMAND(ARG("sleep"), ARG("60"));
    struct fixture f;
    fixture_init(&f, &device);
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    static uint8_t block[64 * 1024];
    struct qs_err err = QS_ERR_INIT;
    size_t taken = 0;
    while (qs_link_send(f.link, block, sizeof block, &err)) {
        taken += sizeof block;
        assert_true(taken < 4 * (size_t)QS_LINK_QUEUE_BYTES);
    }
    assert_int_equal(err.code, QS_E_AGENT);
    assert_true(taken >= QS_LINK_QUEUE_BYTES / 2);
    fixture_done(&f); /* ends the command too */
}

static void a_failing_command_is_quoted(void **state)
{
    (void)state;
    struct qs_farm_device device =
        COMMAND(ARG("sh"), ARG("-c"), ARG("echo first >&2; printf 'no such \\033 phone\\n\\n' >&2; exit 3"));
    struct fixture f;
    fixture_init(&f, &device);
    f.at_up = DO_NOTHING;
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 1);
    assert_int_equal(f.why.code, QS_E_LINK);
    assert_string_equal(f.why.text, "sh ended with exit code 3: no such \\x1b phone");
    assert_false(qs_link_send(f.link, (const uint8_t *)"x", 1, &f.why));
    fixture_done(&f);
}

static void a_killed_command_names_the_signal(void **state)
{
    (void)state;
    struct qs_farm_device device = COMMAND(ARG("sh"), ARG("-c"), ARG("kill -9 $$"));
    struct fixture f;
    fixture_init(&f, &device);
    f.at_up = DO_NOTHING;
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 1);
    assert_string_equal(f.why.text, "sh was ended by signal 9");
    fixture_done(&f);
}

static void a_flood_of_standard_error_is_bounded(void **state)
{
    (void)state;
    struct qs_farm_device device =
        COMMAND(ARG("sh"), ARG("-c"),
                ARG("head -c 3000000 /dev/zero | tr '\\0' x >&2; printf '\\nthe end' >&2; exit 1"));
    struct fixture f;
    fixture_init(&f, &device);
    f.at_up = DO_NOTHING;
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 1);
    assert_string_equal(f.why.text, "sh ended with exit code 1: the end");
    fixture_done(&f);
}

static void output_that_closes_before_the_exit_is_an_end(void **state)
{
    (void)state;
    struct qs_farm_device device = COMMAND(ARG("sh"), ARG("-c"), ARG("exec <&- >&-; sleep 60"));
    struct fixture f;
    fixture_init(&f, &device);
    f.at_up = DO_NOTHING;
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 1);
    assert_string_equal(f.why.text, "sh closed its output");
    fixture_done(&f);
}

static void a_missing_command_fails_at_once(void **state)
{
    (void)state;
    struct qs_farm_device device = COMMAND(ARG("/no/such/agent"));
    struct fixture f;
    fixture_init(&f, &device);
    assert_false(fixture_open(&f));
    assert_int_equal(f.why.code, QS_E_COMMAND);
    assert_non_null(strstr(f.why.text, "/no/such/agent"));
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 0);
    fixture_done(&f);
}

static void it_may_be_freed_in_any_callback(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        struct qs_farm_device device = COMMAND(ARG("sh"), ARG("-c"), ARG("echo hello; exit 1"));
        struct fixture f;
        fixture_init(&f, &device);
        f.at_up = which == 0 ? DO_FREE : DO_NOTHING;
        f.at_bytes = which == 1 ? DO_FREE : DO_NOTHING;
        f.at_down = DO_FREE;
        assert_true(fixture_open(&f));
        qs_loop_run(f.loop);
        assert_null(f.link);
        assert_int_equal(f.downs, which == 2);
        fixture_done(&f);
    }
}

static void closing_ends_the_callbacks_and_it_opens_again(void **state)
{
    (void)state;
    struct qs_farm_device device = COMMAND(ARG("cat"));
    struct fixture f;
    fixture_init(&f, &device);
    assert_true(fixture_open(&f));
    qs_link_close(f.link);
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 0);
    f.at_up = DO_CLOSE;
    assert_true(fixture_open(&f));
    assert_false(fixture_open(&f));
    assert_int_equal(f.why.code, QS_E_CONFLICT);
    qs_loop_run(f.loop);
    assert_int_equal(f.ups, 1);
    assert_int_equal(f.downs, 0);
    fixture_done(&f);
}

/* It takes no notice of end-of-file and SIGTERM. Two agents at a time would disturb each other, so that the
 * link opens again only when the first is gone. */
static void what_does_not_end_is_forced(void **state)
{
    (void)state;
    struct qs_farm_device device =
        COMMAND(ARG("sh"), ARG("-c"),
                ARG("trap '' TERM; exec 0<&- 2>/dev/null; echo $$; while :; do sleep 0.1; done"));
    struct fixture f;
    fixture_init(&f, &device);
    f.at_up = DO_NOTHING;
    f.at_bytes = DO_STOP_LOOP;
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    pid_t pid = (pid_t)strtol(f.got.data, NULL, 10);
    assert_true(pid > 1);
    qs_link_close(f.link);
    assert_int_equal(kill(pid, 0), 0);
    assert_false(fixture_open(&f));
    assert_int_equal(f.why.code, QS_E_LINK);
    assert_non_null(strstr(f.why.text, "has not ended yet"));
    qs_loop_run(f.loop); /* until nothing is left to wait for */
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(f.downs, 0);
    qs_buf_clear(&f.got);
    assert_true(fixture_open(&f));
    qs_loop_run(f.loop);
    assert_int_equal(kill((pid_t)strtol(f.got.data, NULL, 10), SIGKILL), 0);
    fixture_done(&f);
}

static void virtual_time_refuses_it(void **state)
{
    (void)state;
    struct qs_farm_device device = COMMAND(ARG("cat"));
    struct qs_loop *loop = qs_loop_new_virtual(0, 1);
    struct qs_link_events events = {.on_up = fixture_up, .on_bytes = fixture_bytes, .on_down = fixture_down};
    struct qs_link *link = qs_link_new(loop, &device, &events);
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_link_open(link, &err));
    assert_int_equal(err.code, QS_E_INTERNAL);
    qs_link_free(link);
    assert_int_equal(qs_loop_free(loop), 0);
}

/* What each kind says of itself: TCP acknowledges QUIET, USB's transfer is completed, a serial line takes its
 * time, and so do the programs of adb; devices of adb and of USB are found. */
static void a_kind_tells_its_traits(void **state)
{
    (void)state;
    static const int64_t lead_ns[QS_LINK_KIND_COUNT] = {[QS_LINK_TCP] = 5000000,
                                                        [QS_LINK_SERIAL] = 20000000,
                                                        [QS_LINK_ADB] = 20000000,
                                                        [QS_LINK_USB] = 20000000};
    static const int64_t opening_ns[QS_LINK_KIND_COUNT] = {
        [QS_LINK_SSH] = 75000000000, [QS_LINK_ADB] = 90000000000};
    for (size_t k = 0; k < QS_LINK_KIND_COUNT; k++) {
        const struct qs_link_traits *traits = qs_link_traits((enum qs_link_kind)k);
        assert_int_equal(traits->silent_lead_ns, lead_ns[k]);
        assert_int_equal(traits->simulated, k == QS_LINK_SIM);
        assert_int_equal(traits->discover != NULL, k == QS_LINK_ADB || k == QS_LINK_USB);
        assert_int_equal(traits->discover_end != NULL, k == QS_LINK_ADB || k == QS_LINK_USB);
        assert_int_equal(traits->opening_ns, opening_ns[k]);
        assert_int_equal(traits->through_shell, k == QS_LINK_EXEC || k == QS_LINK_SSH);
    }
}

static bool opened(struct qs_link *link, struct qs_err *err)
{
    (void)link;
    return qs_fail(err, QS_E_LINK, "opened");
}

static bool deployed(struct qs_link *link, struct qs_err *err)
{
    (void)link;
    return qs_fail(err, QS_E_AGENT, "deployed");
}

static void a_kind_that_deploys_does_so_first(void **state)
{
    (void)state;
    static const struct qs_link_ops plain = {.open = opened}, brings = {.deploy = deployed, .open = opened};
    struct qs_link link = {.ops = &plain};
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_link_open(&link, &err));
    assert_string_equal(err.text, "opened");
    link.ops = &brings;
    assert_false(qs_link_open(&link, &err)); /* a failure left it closed */
    assert_string_equal(err.text, "deployed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cat_gives_back_what_it_was_sent),
        cmocka_unit_test(more_than_a_pipe_holds_arrives_whole),
        cmocka_unit_test(a_peer_that_does_not_read_fills_a_bounded_queue),
        cmocka_unit_test(a_failing_command_is_quoted),
        cmocka_unit_test(a_killed_command_names_the_signal),
        cmocka_unit_test(a_flood_of_standard_error_is_bounded),
        cmocka_unit_test(output_that_closes_before_the_exit_is_an_end),
        cmocka_unit_test(a_missing_command_fails_at_once),
        cmocka_unit_test(it_may_be_freed_in_any_callback),
        cmocka_unit_test(closing_ends_the_callbacks_and_it_opens_again),
        cmocka_unit_test(what_does_not_end_is_forced),
        cmocka_unit_test(virtual_time_refuses_it),
        cmocka_unit_test(a_kind_tells_its_traits),
        cmocka_unit_test(a_kind_that_deploys_does_so_first),
    };
    return cmocka_run_group_tests_name("link exec", tests, NULL, NULL);
}
