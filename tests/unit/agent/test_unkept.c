/* What cannot be kept is not changed: each call of the journal and of the hand is refused in turn. */
#include "folder.h"
#include "keeping.h"
#include "refusals.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_order(enum qs_keeper_what what, const char *path, const char *value,
                         enum qs_tune_outcome outcome, int error)
{
    order(what, path, value, 0);
    assert_int_equal(got.file.outcome, outcome);
    assert_int_equal(got.file.error, error);
}

/* The file keeps what it says, the next one is changed, and an agent that comes later puts that back. */
static void expect_unjournalled(const char *call, int nth)
{
    put("sys/a", "1\n");
    put("sys/b", "2\n");
    open_keeper();
    expect_order(QS_KEEPER_LOOK, "a", "1", QS_TUNE_SET,
                 0); /* the hand is there, and nothing is refused to it */
    refuse_call(call, nth, ENOSPC);
    expect_order(QS_KEEPER_TUNE, "a", "10", QS_TUNE_UNJOURNALLED, ENOSPC);
    assert_true(was_refused());
    refuse_call(NULL, 0, 0);
    expect_text("sys/a", "1\n");
    expect_order(QS_KEEPER_TUNE, "b", "20", QS_TUNE_SET, 0);
    expect_order(QS_KEEPER_TUNE, "a", "11", QS_TUNE_SET, 0);
    close_keeper();
    open_keeper();
    expect_text("sys/a", "1\n");
    expect_text("sys/b", "2\n");
    assert_string_equal(keeper.notes.journal, "state/control.journal");
    close_keeper();
}

static void changes_nothing_that_is_not_on_disk(void **state)
{
    (void)state;
    expect_unjournalled("write", 1); /* its head */
    expect_unjournalled("write", 2);
    expect_unjournalled("fdatasync", 1);
}

/* After a failure nobody knows what is on disk: the journal is written anew, or else nothing is changed. */
static void writes_its_journal_anew_after_a_failure(void **state)
{
    static const struct {
        const char *call;
        int nth;
    } refused[] = {{"write", 1},    {"write", 2}, {"fdatasync", 1},
                   {"renameat", 1}, {"fsync", 1}, {"openat", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        put("sys/a", "1\n");
        put("sys/b", "2\n");
        open_keeper();
        expect_order(QS_KEEPER_TUNE, "b", "20", QS_TUNE_SET, 0);
        refuse_call("fdatasync", 1, EIO);
        expect_order(QS_KEEPER_TUNE, "a", "10", QS_TUNE_UNJOURNALLED, EIO);
        refuse_call(refused[i].call, refused[i].nth, EROFS);
        expect_order(QS_KEEPER_TUNE, "a", "10", QS_TUNE_UNJOURNALLED, EROFS);
        assert_true(was_refused());
        refuse_call(NULL, 0, 0);
        expect_text("sys/a", "1\n");
        close_keeper();
        open_keeper(); /* what was changed before is put back in any case */
        expect_text("sys/b", "2\n");
        close_keeper();
    }
}

/* A journal that cannot be written any more is put back all the same; only then nothing new is changed. */
static void puts_back_from_a_disk_that_is_full(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    open_keeper();
    expect_order(QS_KEEPER_TUNE, "a", "10", QS_TUNE_SET, 0);
    close_keeper();
    refuse_always("renameat", ENOSPC);
    open_keeper();
    refuse_always(NULL, 0);
    assert_true(keeper.on);
    expect_text("sys/a", "1\n");
    close_keeper();
}

static void needs_a_hand(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    open_keeper();
    refuse_call("fork", 1, EAGAIN);
    expect_order(QS_KEEPER_TUNE, "a", "10", QS_TUNE_UNREADABLE, EAGAIN);
    expect_order(QS_KEEPER_TUNE, "a", "10", QS_TUNE_SET, 0);
    close_keeper();
    open_keeper();
    expect_text("sys/a", "1\n");
    close_keeper();
}

/* The next hand is refused its first write. */
static void refuse_next_write(void)
{
    qs_hand_close(&keeper.hand);
    refuse_call("write", 1, EINVAL);
}

/* A driver that refuses a value may take it when another one is back: it is asked once more, behind the
 * others. */
static void asks_once_more_behind_the_others(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    put("sys/b", "2\n");
    open_keeper();
    tune("a", "10");
    tune("b", "20");
    refuse_next_write();
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("a", QS_TUNE_SET, "1", "1");
    expect_text("sys/b", ""); /* what a file on a disk makes of it */
    order(QS_KEEPER_RESTORE, "", "", 0);
    expect_restored("b", QS_TUNE_SET, "2", "2");
    restore_all();
    refuse_call(NULL, 0, 0);
    tune("a", "10");
    refuse_next_write();
    order(QS_KEEPER_RESTORE, "", "", 1);            /* there are no others */
    expect_restored("a", QS_TUNE_REFUSED, "1", ""); /* as above */
    assert_int_equal(got.file.error, EINVAL);
    restore_all();
    expect_text("sys/a", "1\n");
    refuse_call(NULL, 0, 0);
    close_keeper();
}

/* What moves while its driver refuses us is nobody's wish: it is put back when the driver takes it again. */
static void is_put_back_though_it_moved_while_it_was_refused(void **state)
{
    (void)state;
    put("sys/a", "1\n");
    open_keeper();
    keeper.retry_ns = 1;
    tune("a", "10");
    refuse_next_write();
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("a", QS_TUNE_REFUSED, "1", "");
    order(QS_KEEPER_RESTORE, "", "", 0); /* that was all */
    refuse_call(NULL, 0, 0);
    assert_int_equal(keeper.journal.state.count, 1);
    put("sys/a", "7\n");
    usleep(1); /* longer than the pause */
    assert_true(qs_keeper_on_time(&keeper));
    expect_text("sys/a", "1\n");
    assert_int_equal(keeper.journal.state.count, 0);
    close_keeper();
}

static struct qs_journal journal;

static bool open_journal(struct qs_port_fault *fault)
{
    char error[QS_JOURNAL_ERROR_BYTES] = "";
    bool ok = qs_journal_open(&journal, "state", "boot", "/sys", error);
    fault->code = errno;
    snprintf(fault->text, sizeof fault->text, "%.150s", error);
    return ok;
}

static void close_journal(void)
{
    qs_journal_close(&journal);
}

/* Without its file there is no journal; what it cannot tidy up it leaves. */
static void says_why_there_is_no_journal(void **state)
{
    const struct deed deed = {open_journal, close_journal, false};
    struct qs_port_fault fault;
    (void)state;
    assert_true(open_journal(&fault));
    close_journal();
    assert_string_equal(refuse_each(&deed), "openat!!! mkdirat! fstat??? pread! flock? ftruncate.");
    assert_true(open_journal(&fault));
    assert_true(qs_journal_keep(&journal, "a", "1", 0));
    close_journal();
    assert_string_equal(
        refuse_each(&deed),
        "openat!!!. mkdirat! fstat??? pread!! write.. flock? ftruncate. fdatasync. fsync. renameat.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_nothing_that_is_not_on_disk),
        cmocka_unit_test(writes_its_journal_anew_after_a_failure),
        cmocka_unit_test(puts_back_from_a_disk_that_is_full),
        cmocka_unit_test(needs_a_hand),
        cmocka_unit_test(asks_once_more_behind_the_others),
        cmocka_unit_test(is_put_back_though_it_moved_while_it_was_refused),
        cmocka_unit_test(says_why_there_is_no_journal),
    };
    return cmocka_run_group_tests_name("agent.unkept", tests, enter_folder, leave_folder);
}
