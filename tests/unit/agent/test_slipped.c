/* What does not come back at once: a device that throttles takes a limit and says a lower one; a write that
 * was given up is done later. A folder stands for /sys; what is written there may become something else. */
#include "folder.h"
#include "keeping.h"
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define HOUR_NS (3600 * 1000 * MS)

/* While the file "hot" is there, of no limit comes more than 1.2 GHz. */
static const void *throttle(const void *bytes, size_t n)
{
    return n == 8 && memcmp(bytes, "1800000\n", 8) == 0 && access("hot", F_OK) == 0 ? "1200000\n" : bytes;
}

static int as_new(void **state)
{
    (void)state;
    before_write(throttle);
    put("sys/max", "1800000\n");
    put("hot", "");
    open_keeper();
    keeper.retry_ns = 1;
    return 0;
}

static int as_before(void **state)
{
    (void)state;
    close_keeper();
    before_write(NULL);
    refuse_always(NULL, 0);
    unlink("state/control.journal");
    return 0;
}

static void try_again(void)
{
    assert_true(qs_keeper_deadline_ns(&keeper) != INT64_MAX);
    usleep(1); /* longer than the longest pause */
    assert_true(qs_keeper_on_time(&keeper));
}

static void slip(void)
{
    tune("max", "600000");
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("max", QS_TUNE_SLIPPED, "1800000", "1200000");
    restore_all();
    expect_text("sys/max", "1200000\n");
    assert_string_equal(got.notes.journal, "state/control.journal; not put back: max");
}

static void hear_news(void)
{
    assert_int_equal(recv(agent_fd, &got, sizeof got, MSG_DONTWAIT), sizeof got);
    assert_int_equal(got.id, 0);
}

static void is_put_back_when_the_device_has_cooled(void **state)
{
    (void)state;
    slip();
    try_again();
    expect_text("sys/max", "1200000\n");
    assert_true(recv(agent_fd, &got, sizeof got, MSG_DONTWAIT) < 0); /* there is nothing to tell */
    unlink("hot");
    try_again();
    expect_text("sys/max", "1800000\n");
    hear_news();
    assert_string_equal(got.notes.restored, "1 of 1, which could not be before: max=1800000");
    assert_string_equal(got.notes.journal, "state/control.journal");
    assert_int_equal(keeper.journal.state.count, 0);
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX); /* nobody wakes for it any more */
}

/* Then it stays in the journal: for the next RESTORE, which begins anew. */
static void is_not_tried_for_ever(void **state)
{
    unsigned tries = 0;
    (void)state;
    slip();
    for (; qs_keeper_deadline_ns(&keeper) != INT64_MAX; tries++) {
        try_again();
    }
    assert_int_equal(tries, 8);
    assert_int_equal(keeper.journal.state.count, 1);
    restore_all();
    try_again();
    unlink("hot");
    restore_all();
    expect_text("sys/max", "1800000\n");
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX);
}

/* The pauses become longer: 1, 2, 4 times the first. */
static void waits_longer_each_time(void **state)
{
    (void)state;
    keeper.retry_ns = HOUR_NS;
    slip();
    int64_t first_ns = qs_keeper_deadline_ns(&keeper);
    keeper.retry_at_ns = 1;
    try_again();
    int64_t second_ns = qs_keeper_deadline_ns(&keeper);
    assert_in_range(second_ns - first_ns, HOUR_NS, HOUR_NS + HOUR_NS / 2);
}

static void belongs_to_who_has_set_it_since(void **state)
{
    (void)state;
    slip();
    unlink("hot");
    put("sys/max", "900000\n");
    try_again();
    expect_text("sys/max", "900000\n");
    hear_news();
    assert_string_equal(got.notes.restored,
                        "0 of 1, which could not be before: not max=1800000 (somebody has set it to "
                        "900000 since)");
    assert_int_equal(keeper.journal.state.count, 0);
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX);
}

/* The next session keeps that for the original. */
static void is_what_somebody_has_set_since_for_the_next(void **state)
{
    (void)state;
    slip();
    unlink("hot");
    put("sys/max", "900000\n");
    tune("max", "600000");
    lease(HOUR_NS);
    expect_text("sys/max", "600000\n");
    restore_all();
    expect_text("sys/max", "900000\n");
}

/* It is left alone, and watched. */
static void is_let_go_by_the_device_step_by_step(void **state)
{
    (void)state;
    slip();
    unlink("hot");
    put("sys/max", "1500000\n");
    try_again();
    expect_text("sys/max", "1500000\n");
    assert_int_equal(keeper.journal.state.count, 1);
    put("sys/max", "1800000\n");
    try_again();
    assert_int_equal(keeper.journal.state.count, 0);
    assert_non_null(strstr(keeper.notes.restored, "1 of 1"));
}

static void is_nobodys_business_while_it_is_tuned(void **state)
{
    (void)state;
    slip();
    lease(HOUR_NS);
    assert_true(qs_keeper_deadline_ns(&keeper) > HOUR_NS);
    tune("max", "500000");
    unlink("hot");
    assert_true(qs_keeper_on_time(&keeper));
    expect_text("sys/max", "500000\n");
    restore_all();
    expect_text("sys/max", "1800000\n");
}

/* A limit reads back as the original while something else holds it there: it is written all the same. */
static void is_written_whatever_it_says(void **state)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct stat st;
    (void)state;
    unlink("hot");
    tune("max", "600000");
    put("sys/max", "1800000\n");
    assert_int_equal(utimensat(AT_FDCWD, "sys/max", long_ago, 0), 0);
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("max", QS_TUNE_SET, "1800000", "1800000");
    assert_int_equal(stat("sys/max", &st), 0);
    assert_int_not_equal(st.st_mtim.tv_sec, 1000);
}

/* What is not read back behind TUNE is read back when it is put back. */
static void is_read_back_though_it_was_tuned_blindly(void **state)
{
    (void)state;
    order(QS_KEEPER_TUNE, "max", "600000", QS_JOURNAL_BLIND);
    expect(QS_TUNE_SET, 0, "1800000", "");
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("max", QS_TUNE_SLIPPED, "1800000", "1200000");
}

/* Who writes the file is kept waiting (a lease, fcntl(2)) and cannot be killed: as with a driver that sleeps
 * without end. Then it goes on. */
static void is_put_back_behind_a_write_that_comes_late(void **state)
{
    (void)state;
    put("sys/late", "old\n");
    signal(SIGIO, SIG_IGN);
    int fd = open("sys/late", O_RDONLY | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_RDLCK), 0);
    refuse_always("kill", EPERM);
    keeper.retry_ns = HOUR_NS;
    keeper.hand.limit_ns = 50 * MS;
    tune("late", "new");
    expect(QS_TUNE_TIMEOUT, ETIMEDOUT, "old", "");
    keeper.hand.limit_ns = 60000 * MS;
    tune("late", "newer"); /* one may still be written: no second one beside it */
    expect(QS_TUNE_TIMEOUT, ETIMEDOUT, "", "");
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("late", QS_TUNE_TIMEOUT, "old", "");
    restore_all();
    assert_string_equal(got.notes.journal,
                        "state/control.journal; not put back: late (its driver holds back a "
                        "write that may still be done)");
    expect_text("sys/late", "old\n");
    close(fd);
    while (keeper.journal.state.count > 0) { /* as soon as it has ended, and long before the next try */
        assert_true(qs_keeper_on_time(&keeper));
        usleep(1000);
    }
    expect_text("sys/late", "old\n");
    hear_news();
    assert_string_equal(got.notes.restored, "1 of 1, which could not be before: late=old");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(is_put_back_when_the_device_has_cooled, as_new, as_before),
        cmocka_unit_test_setup_teardown(is_not_tried_for_ever, as_new, as_before),
        cmocka_unit_test_setup_teardown(waits_longer_each_time, as_new, as_before),
        cmocka_unit_test_setup_teardown(belongs_to_who_has_set_it_since, as_new, as_before),
        cmocka_unit_test_setup_teardown(is_what_somebody_has_set_since_for_the_next, as_new, as_before),
        cmocka_unit_test_setup_teardown(is_let_go_by_the_device_step_by_step, as_new, as_before),
        cmocka_unit_test_setup_teardown(is_nobodys_business_while_it_is_tuned, as_new, as_before),
        cmocka_unit_test_setup_teardown(is_written_whatever_it_says, as_new, as_before),
        cmocka_unit_test_setup_teardown(is_read_back_though_it_was_tuned_blindly, as_new, as_before),
        cmocka_unit_test_setup_teardown(is_put_back_behind_a_write_that_comes_late, as_new, as_before),
    };
    return cmocka_run_group_tests_name("agent.slipped", tests, enter_folder, leave_folder);
}
