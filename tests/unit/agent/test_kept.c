/* What outlives the process that changed it: its journal is replayed, its lease ends. */
#include "folder.h"
#include "keeping.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* Whatever an earlier one left is put back before anything else. */
static void puts_back_what_an_earlier_one_left(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    put("sys/b", "2\n");
    put("sys/c", "3\n");
    open_keeper();
    tune("a", "10");
    tune("b", "20");
    tune("c", "3"); /* the same */
    close_keeper(); /* as by SIGKILL: nothing is put back */
    assert_string_equal(text_of("sys/a"), "10\n");
    assert_int_equal(unlink("sys/b"), 0);
    open_keeper();
    assert_string_equal(text_of("sys/a"), "1\n");
    assert_string_equal(keeper.notes.restored,
                        "1 of 2, because the agent before was killed together with its "
                        "supervisor: not b=2 (missing: No such file or directory), a=1");
    assert_string_equal(keeper.notes.journal, "state/control.journal; not put back: b");
    close_keeper();
    put("sys/b", "2\n");
    open_keeper();
    assert_non_null(strstr(keeper.notes.restored, "1 of 1"));
    tune("a", "10");
    assert_string_equal(got.notes.restored, "none"); /* what comes now is another story */
    restore_all();
    close_keeper();
}

/* What it said before it was changed, not what it says when it slipped and is written again. */
static void what_was_the_same_is_put_back_too(void **state)
{
    (void)state;
    put("sys/a", "3\n");
    open_keeper();
    tune("a", "3");
    expect(QS_TUNE_SAME, 0, "3", "");
    put("sys/a", "1\n"); /* as heat does it with a limit */
    tune("a", "3");
    expect(QS_TUNE_SET, 0, "1", "");
    restore_all();
    assert_string_equal(text_of("sys/a"), "3\n");
    put("sys/a", "1\n"); /* now its owner's */
    tune("a", "3");
    restore_all();
    assert_string_equal(text_of("sys/a"), "1\n");
    close_keeper();
}

/* The journal is on disk, the file was not written: it is put back as it is. */
static void replays_what_was_never_written(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    open_keeper();
    assert_true(qs_journal_keep(&keeper.journal, "a", "1", 0));
    close_keeper();
    open_keeper();
    assert_string_equal(text_of("sys/a"), "1\n");
    assert_non_null(strstr(keeper.notes.restored, "1 of 1"));
    assert_int_equal(keeper.journal.state.count, 0);
    close_keeper();
}

static void forgets_what_a_reboot_undid(void **state)
{
    static struct qs_journal journal;
    char error[QS_JOURNAL_ERROR_BYTES];
    (void)state;
    put("sys/a", "10\n");
    put("sys/b", "20\n");
    assert_true(qs_journal_open(&journal, "state", "a boot before", "sys", error));
    assert_true(qs_journal_keep(&journal, "a", "1", 0));
    assert_true(qs_journal_keep(&journal, "b", "2", QS_JOURNAL_PERSISTENT));
    qs_journal_close(&journal);
    open_keeper();
    assert_string_equal(text_of("sys/a"), "10\n");
    assert_string_equal(text_of("sys/b"), "2\n");
    assert_string_equal(keeper.notes.restored,
                        "1 of 1, because the device was restarted before the agent could do it: b=2");
    close_keeper();
}

static void says_that_its_journal_is_damaged(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    put("sys/b", "2\n");
    open_keeper();
    tune("a", "10");
    tune("b", "20");
    close_keeper();
    FILE *f = fopen("state/control.journal", "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, -25, SEEK_END), 0); /* in the middle of two short records at its end */
    assert_int_not_equal(fputc('!', f), EOF);
    fclose(f);
    open_keeper();
    assert_string_equal(text_of("sys/a"), "10\n"); /* nobody knows what it was */
    assert_string_equal(text_of("sys/b"), "2\n");
    assert_non_null(strstr(keeper.notes.journal,
                           "state/control.journal: damaged: what could be read of it was "
                           "put back; look at the settings of this device"));
    close_keeper();
    open_keeper(); /* it was written anew */
    assert_string_equal(keeper.notes.journal, "state/control.journal");
    close_keeper();
}

static void ends_with_its_lease(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    open_keeper();
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX);
    tune("a", "2");
    lease(3600 * 1000 * MS);
    assert_true(qs_keeper_on_time(&keeper));
    assert_string_equal(text_of("sys/a"), "2\n");
    lease(0); /* none */
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX);
    lease(1);
    while (now_ns() < qs_keeper_deadline_ns(&keeper)) {
    }
    assert_true(qs_keeper_on_time(&keeper));
    assert_string_equal(text_of("sys/a"), "1\n");
    assert_int_equal(recv(agent_fd, &got, sizeof got, MSG_DONTWAIT), sizeof got);
    assert_int_equal(got.id, 0);
    assert_string_equal(got.notes.restored,
                        "1 of 1, because the host was not heard for as long as its lease: a=1");
    assert_true(qs_keeper_deadline_ns(&keeper) != INT64_MAX); /* the agent has to say that it lives */
    const struct qs_keeper_order alive = {.what = QS_KEEPER_ALIVE};
    assert_int_equal(send(agent_fd, &alive, sizeof alive, 0), sizeof alive);
    qs_keeper_hear(&keeper);
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX);
    lease(1); /* with nothing that it could end */
    while (now_ns() < qs_keeper_deadline_ns(&keeper)) {
    }
    assert_true(qs_keeper_on_time(&keeper));
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX);
    close_keeper();
}

static void knows_an_agent_that_is_stuck(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    open_keeper();
    keeper.patience_ns = MS;
    tune("a", "2");
    lease(1);
    while (now_ns() < qs_keeper_deadline_ns(&keeper)) {
    }
    assert_true(qs_keeper_on_time(&keeper));
    while (now_ns() < qs_keeper_deadline_ns(&keeper)) {
    }
    assert_false(qs_keeper_on_time(&keeper));
    assert_true(qs_keeper_on_time(&keeper)); /* it is said once */
    assert_int_equal(qs_keeper_deadline_ns(&keeper), INT64_MAX);
    close_keeper();
}

static void changes_nothing_without_a_journal(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    open_keeper_of(NULL, "sys");
    assert_false(keeper.on);
    assert_string_equal(keeper.notes.journal, "none");
    tune("a", "2");
    expect(QS_TUNE_UNJOURNALLED, ENOTDIR, "1", "");
    restore_all();
    assert_string_equal(text_of("sys/a"), "1\n");
    close_keeper();
    put("taken", "");
    qs_keeper_open(&keeper, "taken", "sys");
    assert_false(keeper.on);
    assert_string_equal(keeper.notes.journal, "none: no journal in 'taken': Not a directory");
    qs_keeper_close(&keeper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_back_what_an_earlier_one_left),
        cmocka_unit_test(what_was_the_same_is_put_back_too),
        cmocka_unit_test(replays_what_was_never_written),
        cmocka_unit_test(forgets_what_a_reboot_undid),
        cmocka_unit_test(says_that_its_journal_is_damaged),
        cmocka_unit_test(ends_with_its_lease),
        cmocka_unit_test(knows_an_agent_that_is_stuck),
        cmocka_unit_test(changes_nothing_without_a_journal),
    };
    return cmocka_run_group_tests_name("agent.kept", tests, enter_folder, leave_folder);
}
