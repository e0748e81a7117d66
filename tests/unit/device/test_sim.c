/* The session against the real agent's core in virtual time. */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second_ns = 1000000000;

struct bed {
    struct qs_loop *loop;
    struct host host;
};

static void bed_init(struct bed *b, uint64_t seed)
{
    struct qs_farm_device device = {.name = (char *)"sim", .link = QS_LINK_SIM, .sim_seed = seed};
    b->loop = qs_loop_new_virtual(5 * second_ns, seed);
    host_init(&b->host, b->loop, &device);
}

static void bed_done(struct bed *b)
{
    host_done(&b->host);
    assert_int_equal(qs_loop_free(b->loop), 0);
}

static void open_run(struct bed *b)
{
    qs_session_start(b->host.session);
    host_wait(&b->host, "ready");
    assert_true(host_begin(&b->host));
    host_wait(&b->host, "run_ready");
}

static void window(struct bed *b, uint32_t number, const char *last)
{
    assert_true(host_open(&b->host, number, 5 * (uint64_t)number, 2000000));
    host_wait(&b->host, last);
    assert_true(b->host.silent);
    assert_false(b->host.proven);
}

/* What a whole run tells, and how long it took. */
static char *whole_run(uint64_t seed, int64_t *ret_ns)
{
    struct bed b;
    bed_init(&b, seed);
    open_run(&b);
    b.host.refuse_quiet = true;
    window(&b, 0, "rows 0+5");
    window(&b, 1, "rows 5+5");
    assert_true(qs_session_ack(b.host.session, &host_run, 10, NULL));
    host_idle(&b.host, 30 * second_ns); /* heartbeats */
    window(&b, 2, "rows 10+5");
    assert_true(host_end(&b.host));
    host_wait(&b.host, "run_ended 15");
    assert_int_equal(b.host.downs, 0);
    *ret_ns = qs_loop_now_ns(b.loop);
    char *log = qs_buf_take(&b.host.log);
    bed_done(&b);
    return log;
}

static void equal_seeds_give_equal_runs(void **state)
{
    (void)state;
    int64_t first_ns = 0;
    int64_t second_run_ns = 0;
    char *first = whole_run(7, &first_ns);
    char *second = whole_run(7, &second_run_ns);
    assert_string_equal(first, second);
    assert_int_equal(first_ns, second_run_ns);
    assert_non_null(strstr(first, "hold\n"));
    free(second);
    second = whole_run(8, &second_run_ns);
    assert_int_not_equal(first_ns, second_run_ns);
    free(first);
    free(second);
}

static void the_clock_is_mapped(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b, 7);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_int_equal(b.host.clock_offset_ns, 7 * second_ns);
    assert_true(b.host.rtt_ns > 0);
    bed_done(&b);
}

static void cancel_ends_a_silent_window(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b, 7);
    open_run(&b);
    assert_true(host_open(&b.host, 0, 0, 2000000));
    host_wait(&b.host, "quiet");
    assert_true(qs_session_cancel(b.host.session, &host_run, "enough", NULL));
    host_wait(&b.host, "closed 0");
    assert_false(b.host.silent);
    assert_true(host_open(&b.host, 1, 0, 2000000));
    host_wait(&b.host, "rows 0+5");
    assert_true(b.host.silent);
    bed_done(&b);
}

static void an_unknown_program_is_refused(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b, 7);
    host_program = "/missing/program";
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "error");
    host_program = "/bin/true";
    host_assert_why(&b.host, QS_E_COMMAND, "no such program");
    assert_true(host_hook(&b.host, 3));
    host_wait(&b.host, "hook_done 3");
    assert_true(host_begin(&b.host));
    host_wait(&b.host, "run_ready");
    bed_done(&b);
}

/* The link is lost inside a window: the agent finishes it alone, and hands it over in the next session. */
static void a_window_that_lost_its_link_is_handed_over(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b, 7);
    open_run(&b);
    host_lease_ns = 2 * second_ns;
    assert_true(host_open(&b.host, 0, 0, 2000000));
    host_wait(&b.host, "quiet");
    host_lease_ns = 60 * second_ns;
    host_idle(&b.host, 6000000);
    qs_session_stop(b.host.session);
    host_idle(&b.host, second_ns);
    qs_session_start(b.host.session);
    host_wait(&b.host, "ready");
    const char *held = strstr(b.host.log.data, "held 51 0-");
    assert_non_null(held);
    uint64_t next_seq = strtoull(held + strlen("held 51 0-"), NULL, 10); /* the log moves when it grows */
    b.host.rows = 0;
    assert_true(host_resend(&b.host, &host_run, 0));
    host_idle(&b.host, second_ns);
    assert_int_equal(b.host.rows, next_seq);
    assert_true(b.host.rows >= 1);
    assert_string_equal(qs_session_state_name(b.host.session), "ready");
    assert_true(qs_session_ack(b.host.session, &host_run, b.host.rows, NULL));
    host_idle(&b.host, second_ns);
    assert_int_equal(b.host.downs, 0);
    bed_done(&b);
}

static void the_readme_shows_the_table(void **state)
{
    (void)state;
    struct qs_buf table;
    struct qs_buf readme;
    char bytes[4096];
    size_t got = 0;
    qs_buf_init(&table);
    qs_buf_init(&readme);
    qs_session_dump(&table);
    FILE *file = fopen(DEVICE_README, "r");
    assert_non_null(file);
    while ((got = fread(bytes, 1, sizeof bytes, file)) > 0)
        qs_buf_add(&readme, bytes, got);
    fclose(file);
    if (!strstr(readme.data, table.data))
        fail_msg("daemon/device/README.md lacks this table:\n%s", table.data);
    qs_buf_done(&table);
    qs_buf_done(&readme);
}

static bool trace(struct bed *b, uint32_t id, const char *word)
{
    uint8_t mem[64];
    struct qs_build argv;
    qs_build_init(&argv, mem, sizeof mem);
    qs_build_text(&argv, qs_text_of("sim"));
    qs_build_text(&argv, qs_text_of(word));
    const struct qs_msg_trace m = {.run = host_run,
                                   .id = id,
                                   .argv = qs_build_list(&argv),
                                   .settle_ns = 5000000,
                                   .stop_ns = 1000000000,
                                   .max_bytes = 100};
    return host_call(&b->host, QS_MSG_TRACE, &m, m.settle_ns);
}

static bool untrace(struct bed *b, uint32_t id)
{
    const struct qs_msg_trace_stop m = {.run = host_run, .id = id};
    return host_call(&b->host, QS_MSG_TRACE_STOP, &m, 1000000000);
}

/* Tracers as on a real device: one that ends, one that must be killed, one that does not stand. */
static void tracers_come_and_go(void **state)
{
    (void)state;
    struct bed b;
    bed_init(&b, 7);
    open_run(&b);
    const struct qs_msg_pull m = {.run = host_run, .id = 9, .source = QS_PULL_TRACE, .max_bytes = 100};
    assert_true(trace(&b, 1, ""));
    host_wait(&b.host, "traced 1 0");
    assert_true(untrace(&b, 1));
    host_wait(&b.host, "traced 1 1");
    assert_true(host_call(&b.host, QS_MSG_PULL, &m, 0));
    host_wait(&b.host, "pulled 9 62");
    assert_true(trace(&b, 2, "hang"));
    host_wait(&b.host, "traced 2 0");
    assert_true(untrace(&b, 2));
    host_wait(&b.host, "traced 2 1");
    assert_true(trace(&b, 3, "early"));
    host_wait(&b.host, "traced 3 2");
    bed_done(&b);
}

/* Of all facts those that a short duration depends on. */
static void who_can_tune_says_where_it_is(void **state)
{
    (void)state;
    struct bed b;
    struct qs_session_place place;
    bed_init(&b, 7);
    assert_false(qs_session_can_tune(b.host.session, &place));
    open_run(&b);
    assert_true(qs_session_can_tune(b.host.session, &place));
    assert_non_null(strstr(place.software, "quiesce-agent"));
    assert_non_null(place.clock);
    assert_string_equal(place.operating_json, "{\"clock\":\"sim\",\"cpu_model\":\"simulated\","
                                              "\"kernel\":\"sim\",\"machine\":\"sim\"}");
    bed_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_seeds_give_equal_runs),
        cmocka_unit_test(the_clock_is_mapped),
        cmocka_unit_test(cancel_ends_a_silent_window),
        cmocka_unit_test(an_unknown_program_is_refused),
        cmocka_unit_test(a_window_that_lost_its_link_is_handed_over),
        cmocka_unit_test(tracers_come_and_go),
        cmocka_unit_test(who_can_tune_says_where_it_is),
        cmocka_unit_test(the_readme_shows_the_table),
    };
    return cmocka_run_group_tests_name("device session on the simulated agent", tests, NULL, NULL);
}
