/* The journal of what is to be put back: its bytes, what damage leaves of it, and its file. */
#include "folder.h"
#include "linux/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { BYTES_MAX = 4096 };

/* Two settings, one of them put back; written by hand, with the CRCs of another program. */
static const uint8_t golden[] = {
    0x09, 0x00, 0x01, 0x02, 0x00, 'b',  '1',  0x02, 0x00, '/',  's',  0xf9, 0x33, 0x62, 0x4e, /* HEAD */
    0x09, 0x00, 0x02, 0x01, 0x01, 0x00, 'a',  0x02, 0x00, '4',  '2',  0xb6, 0x76, 0xa3, 0x29, /* SET */
    0x07, 0x00, 0x02, 0x00, 0x01, 0x00, 'c',  0x00, 0x00, 0x3b, 0x2b, 0x9d, 0x58, /* SET, of nothing */
    0x04, 0x00, 0x03, 0x01, 0x00, 'a',  0xdb, 0x40, 0x11, 0xb1,                   /* DONE */
};

static struct qs_journal_record head(void)
{
    return (struct qs_journal_record){
        .kind = QS_JOURNAL_HEAD, .boot = qs_text_of("b1"), .root = qs_text_of("/s")};
}

static struct qs_journal_record set(const char *path, const char *value, uint8_t flags)
{
    return (struct qs_journal_record){
        .kind = QS_JOURNAL_SET, .flags = flags, .path = qs_text_of(path), .value = qs_text_of(value)};
}

static struct qs_journal_record done(const char *path)
{
    return (struct qs_journal_record){.kind = QS_JOURNAL_DONE, .path = qs_text_of(path)};
}

static size_t add(uint8_t *bytes, size_t n, struct qs_journal_record r)
{
    size_t used = qs_journal_encode(&r, bytes + n, BYTES_MAX - n);
    assert_true(used > 0);
    return n + used;
}

static size_t encode_golden(uint8_t *bytes)
{
    size_t n = add(bytes, 0, head());
    n = add(bytes, n, set("a", "42", QS_JOURNAL_PERSISTENT));
    n = add(bytes, n, set("c", "", 0));
    return add(bytes, n, done("a"));
}

static void has_these_bytes(void **state)
{
    uint8_t bytes[BYTES_MAX];
    struct qs_journal_record r;
    (void)state;
    assert_int_equal(encode_golden(bytes), sizeof golden);
    assert_memory_equal(bytes, golden, sizeof golden);
    assert_int_equal(qs_journal_decode(golden, sizeof golden, &r), 15);
    assert_int_equal(r.kind, QS_JOURNAL_HEAD);
    assert_true(qs_text_is(r.boot, "b1") && qs_text_is(r.root, "/s"));
    assert_int_equal(qs_journal_decode(golden + 15, sizeof golden - 15, &r), 15);
    assert_int_equal(r.flags, QS_JOURNAL_PERSISTENT);
    assert_true(qs_text_is(r.path, "a") && qs_text_is(r.value, "42"));
    for (size_t n = 0; n < 15; n++) {
        assert_int_equal(qs_journal_decode(golden, n, &r), 0);
    }
}

/* Each bit of a record counts. */
static void refuses_what_is_damaged(void **state)
{
    uint8_t bytes[15];
    struct qs_journal_record r;
    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        memcpy(bytes, golden + 15, sizeof bytes);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(qs_journal_decode(bytes, sizeof bytes, &r), 0);
    }
}

static void refuses_what_does_not_fit(void **state)
{
    uint8_t bytes[BYTES_MAX];
    char text[QS_JOURNAL_TEXT_BYTES + 1];
    struct qs_journal_record r;
    (void)state;
    memset(text, 'x', sizeof text);
    text[QS_JOURNAL_TEXT_BYTES] = '\0'; /* one more than there is room for */
    size_t n = add(bytes, 0, set(text, "1", 0));
    assert_int_equal(qs_journal_decode(bytes, n, &r), 0);
    n = add(bytes, 0, set("a", text, 0));
    assert_int_equal(qs_journal_decode(bytes, n, &r), 0);
    text[QS_JOURNAL_TEXT_BYTES - 1] = '\0';
    n = add(bytes, 0, set(text, text, 0));
    assert_int_equal(qs_journal_decode(bytes, n, &r), n);
    n = add(bytes, 0, set("", "1", 0)); /* no path */
    assert_int_equal(qs_journal_decode(bytes, n, &r), 0);
    r = set("a", "1", 0);
    assert_int_equal(qs_journal_encode(&r, bytes, 10), 0);
}

static struct qs_journal_state state_of(const uint8_t *bytes, size_t n)
{
    static struct qs_journal_state s;
    qs_journal_replay(&s, bytes, n);
    return s;
}

static void keeps_the_first_value_of_each(void **state)
{
    uint8_t bytes[BYTES_MAX];
    (void)state;
    size_t n = add(bytes, 0, head());
    n = add(bytes, n, set("a", "1", 0));
    n = add(bytes, n, set("b", "2", 0));
    n = add(bytes, n, set("a", "3", QS_JOURNAL_PERSISTENT));
    struct qs_journal_state s = state_of(bytes, n);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.entries[0].path, "a");
    assert_string_equal(s.entries[0].value, "1");
    assert_int_equal(s.entries[0].flags, QS_JOURNAL_PERSISTENT);
    assert_string_equal(s.entries[1].path, "b");
    assert_string_equal(s.boot, "b1");
    assert_string_equal(s.root, "/s");
    n = add(bytes, n, done("a"));
    n = add(bytes, n, done("z"));
    s = state_of(bytes, n);
    assert_int_equal(s.count, 1);
    assert_string_equal(s.entries[0].value, "2");
    assert_false(s.damaged);
}

/* Cut anywhere, it holds what was whole before the cut, and that is no damage. */
static void ignores_a_torn_tail(void **state)
{
    static const size_t ends[] = {15, 30, 43, sizeof golden};
    (void)state;
    for (size_t n = 0; n <= sizeof golden; n++) {
        struct qs_journal_state s = state_of(golden, n);
        assert_false(s.damaged);
        assert_int_equal(s.count, n < ends[1] ? 0 : n < ends[2] ? 1 : n < ends[3] ? 2 : 1);
    }
}

/* A file system may give a file its length before its bytes. */
static void ignores_a_tail_of_zeros(void **state)
{
    uint8_t bytes[BYTES_MAX] = {0};
    (void)state;
    memcpy(bytes, golden, 43);
    struct qs_journal_state s = state_of(bytes, 200);
    assert_int_equal(s.count, 2);
    assert_false(s.damaged);
}

static void reads_what_is_behind_damage(void **state)
{
    uint8_t bytes[sizeof golden];
    (void)state;
    for (size_t i = 15; i < 30; i++) { /* in the first setting */
        memcpy(bytes, golden, sizeof bytes);
        bytes[i] ^= 0x10;
        struct qs_journal_state s = state_of(bytes, 43);
        assert_true(s.damaged);
        assert_int_equal(s.count, 1);
        assert_string_equal(s.entries[0].path, "c");
    }
    memcpy(bytes, golden, sizeof bytes);
    bytes[5] = 'x'; /* the head: nobody knows the boot, the settings are there */
    struct qs_journal_state s = state_of(bytes, 43);
    assert_true(s.damaged);
    assert_int_equal(s.count, 2);
    assert_string_equal(s.boot, "");
}

static struct qs_journal journal;
static char error[QS_JOURNAL_ERROR_BYTES];

static void open_journal(const char *boot)
{
    if (!qs_journal_open(&journal, "state/deep", boot, "/sys", error)) {
        fail_msg("%s", error);
    }
}

static off_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_size : -1;
}

#define FILE_PATH "state/deep/control.journal"

static void outlives_its_process(void **state)
{
    (void)state;
    open_journal("boot");
    assert_int_equal(size_of(FILE_PATH), 0);
    assert_true(qs_journal_keep(&journal, "a", "1", 0));
    off_t one = size_of(FILE_PATH);
    assert_true(qs_journal_keep(&journal, "a", "2", 0)); /* its original is there */
    assert_int_equal(size_of(FILE_PATH), one);
    assert_true(qs_journal_keep(&journal, "a", "3", QS_JOURNAL_PERSISTENT));
    assert_true(qs_journal_keep(&journal, "b", "4", QS_JOURNAL_BLIND));
    assert_true(qs_journal_keep(&journal, "c", "5", 0));
    qs_journal_release(&journal, 2);
    qs_journal_close(&journal);
    for (int i = 0; i < 2; i++) { /* opening it changes nothing of it */
        open_journal("boot");
        assert_false(journal.rebooted || journal.state.damaged);
        assert_int_equal(journal.state.count, 2);
        assert_string_equal(journal.state.entries[0].value, "1");
        assert_int_equal(journal.state.entries[0].flags, QS_JOURNAL_PERSISTENT);
        assert_string_equal(journal.state.entries[1].value, "4");
        assert_int_equal(journal.state.entries[1].flags, QS_JOURNAL_BLIND);
        qs_journal_close(&journal);
    }
    open_journal("another boot"); /* it has undone what does not outlive it */
    assert_true(journal.rebooted);
    assert_int_equal(journal.state.count, 1);
    assert_string_equal(journal.state.entries[0].path, "a");
    qs_journal_release(&journal, 0);
    assert_int_equal(size_of(FILE_PATH), 0);
    qs_journal_close(&journal);
}

static void is_of_one_agent_and_one_root(void **state)
{
    static struct qs_journal other;
    char wanted[QS_JOURNAL_ERROR_BYTES];
    (void)state;
    open_journal("boot");
    assert_true(qs_journal_keep(&journal, "a", "1", 0));
    assert_false(qs_journal_open(&other, "state/deep", "boot", "/sys", error));
    snprintf(wanted, sizeof wanted, "no journal in 'state/deep': another agent has it (process %d, %.15s)",
             (int)getpid(), "test_agent_journal");
    assert_string_equal(error, wanted);
    put("state/deep/control.lock", ""); /* it does not say who */
    assert_false(qs_journal_open(&other, "state/deep", "boot", "/sys", error));
    assert_string_equal(error, "no journal in 'state/deep': another agent has it");
    qs_journal_close(&journal);
    off_t before = size_of(FILE_PATH);
    assert_false(qs_journal_open(&journal, "state/deep", "boot", "/bed", error));
    assert_non_null(strstr(error, "--sysfs /sys: start that one"));
    assert_int_equal(size_of(FILE_PATH), before);
    open_journal("boot");
    qs_journal_release(&journal, 0);
    qs_journal_close(&journal);
    put("file", "");
    assert_false(qs_journal_open(&journal, "file", "boot", "/sys", error));
    assert_string_equal(error, "no journal in 'file': Not a directory");
}

/* One that stays behind for an agent says so a moment after that agent has gone: the next one waits for it.
 */
static void is_handed_over_by_one_that_has_not_said_so_yet(void **state)
{
    static struct qs_journal other;
    int said[2];
    int status;
    char byte;
    (void)state;
    assert_int_equal(pipe(said), 0);
    pid_t pid = fork();
    if (pid == 0) {
        open_journal("boot");
        put("state/deep/control.lock", "");
        (void)!write(said[1], "", 1);
        usleep(50 * 1000);
        prctl(PR_SET_NAME, QS_JOURNAL_LINGERER, 0, 0, 0);
        qs_journal_say_holder(&journal);
        for (;;) {
            pause();
        }
    }
    assert_int_equal(read(said[0], &byte, 1), 1);
    bool has = qs_journal_open(&other, "state/deep", "boot", "/sys", error);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(has);
    assert_int_equal(WTERMSIG(status), SIGTERM);
    qs_journal_close(&other);
    close(said[0]);
    close(said[1]);
}

static void expect_foreign(const char *wanted)
{
    assert_false(qs_journal_open(&journal, "state/deep", "boot", "/sys", error));
    assert_non_null(strstr(error, wanted));
}

/* What others may write is not put into the device's files. */
static void refuses_what_is_not_its_own(void **state)
{
    static const char others[] = "others may write into the folder or its journal";
    (void)state;
    open_journal("boot");
    qs_journal_close(&journal);
    assert_int_equal(chmod("state/deep", 0770), 0);
    expect_foreign(others);
    assert_int_equal(chmod("state/deep", 0700), 0);
    assert_int_equal(chmod(FILE_PATH, 0602), 0);
    expect_foreign(others);
    assert_int_equal(chmod(FILE_PATH, 0600), 0);
    assert_int_equal(link(FILE_PATH, "state/second"), 0);
    expect_foreign(others);
    assert_int_equal(unlink(FILE_PATH), 0);
    assert_int_equal(symlink("../second", FILE_PATH), 0);
    expect_foreign(strerror(ELOOP));
    assert_int_equal(unlink(FILE_PATH), 0);
    assert_int_equal(mkfifo(FILE_PATH, 0600), 0);
    expect_foreign(others);
    assert_int_equal(unlink(FILE_PATH), 0);
    assert_int_equal(rename("state/deep", "state/moved"), 0);
    assert_int_equal(symlink("moved", "state/deep"), 0);
    assert_false(qs_journal_open(&journal, "state/deep", "boot", "/sys", error));
    assert_int_equal(unlink("state/deep"), 0);
    assert_int_equal(rename("state/moved", "state/deep"), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown("state/deep", 12345, 0), 0);
        expect_foreign(strerror(EPERM));
        assert_int_equal(chown("state/deep", 0, 0), 0);
        put(FILE_PATH, "");
        assert_int_equal(chown(FILE_PATH, 12345, 0), 0);
        expect_foreign(others);
        assert_int_equal(unlink(FILE_PATH), 0);
    }
    open_journal("boot");
    qs_journal_close(&journal);
}

/* However often files are changed and put back while one stays: a start has little to read. */
static void is_written_anew_when_it_is_long(void **state)
{
    char value[QS_JOURNAL_TEXT_BYTES];
    off_t most = 0;
    (void)state;
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    open_journal("boot");
    assert_true(qs_journal_keep(&journal, "stays", "1", QS_JOURNAL_PERSISTENT));
    for (int i = 0; i < 2000; i++) {
        assert_true(qs_journal_keep(&journal, "comes", value, 0));
        qs_journal_release(&journal, 1);
        off_t size = size_of(FILE_PATH);
        most = size > most ? size : most;
    }
    assert_in_range(most, QS_JOURNAL_FILE_BYTES / 4, QS_JOURNAL_FILE_BYTES / 2 + QS_JOURNAL_RECORD_BYTES);
    assert_true(qs_journal_keep(&journal, "last", "3", 0));
    qs_journal_close(&journal);
    open_journal("boot");
    assert_false(journal.state.damaged);
    assert_int_equal(journal.state.count, 2);
    assert_string_equal(journal.state.entries[0].path, "stays");
    assert_string_equal(journal.state.entries[0].value, "1");
    assert_int_equal(journal.state.entries[0].flags, QS_JOURNAL_PERSISTENT);
    assert_string_equal(journal.state.entries[1].path, "last");
    qs_journal_release(&journal, 0);
    qs_journal_release(&journal, 0);
    qs_journal_close(&journal);
}

static void appends_behind_a_torn_tail(void **state)
{
    (void)state;
    open_journal("boot");
    assert_true(qs_journal_keep(&journal, "a", "1", 0));
    assert_true(qs_journal_keep(&journal, "b", "2", 0));
    qs_journal_close(&journal);
    assert_int_equal(truncate(FILE_PATH, size_of(FILE_PATH) - 1), 0);
    open_journal("boot");
    assert_int_equal(journal.state.count, 1);
    assert_true(qs_journal_keep(&journal, "c", "3", 0));
    qs_journal_close(&journal);
    open_journal("boot");
    assert_false(journal.state.damaged);
    assert_int_equal(journal.state.count, 2);
    assert_string_equal(journal.state.entries[1].path, "c");
    qs_journal_release(&journal, 0);
    qs_journal_release(&journal, 0);
    qs_journal_close(&journal);
}

static void has_room_for_so_many(void **state)
{
    char path[32];
    (void)state;
    open_journal("boot");
    for (int i = 0; i < QS_JOURNAL_ENTRIES; i++) {
        snprintf(path, sizeof path, "file%d", i);
        assert_true(qs_journal_keep(&journal, path, "1", 0));
    }
    assert_false(qs_journal_keep(&journal, "more", "1", 0));
    assert_int_equal(errno, ENOSPC);
    assert_true(qs_journal_keep(&journal, "file255", "1", 0));
    qs_journal_close(&journal);
    open_journal("boot");
    assert_int_equal(journal.state.count, QS_JOURNAL_ENTRIES);
    while (journal.state.count > 0) {
        qs_journal_release(&journal, 0);
    }
    qs_journal_close(&journal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_these_bytes),
        cmocka_unit_test(refuses_what_is_damaged),
        cmocka_unit_test(refuses_what_does_not_fit),
        cmocka_unit_test(keeps_the_first_value_of_each),
        cmocka_unit_test(ignores_a_torn_tail),
        cmocka_unit_test(ignores_a_tail_of_zeros),
        cmocka_unit_test(reads_what_is_behind_damage),
        cmocka_unit_test(outlives_its_process),
        cmocka_unit_test(is_of_one_agent_and_one_root),
        cmocka_unit_test(is_handed_over_by_one_that_has_not_said_so_yet),
        cmocka_unit_test(refuses_what_is_not_its_own),
        cmocka_unit_test(is_written_anew_when_it_is_long),
        cmocka_unit_test(appends_behind_a_torn_tail),
        cmocka_unit_test(has_room_for_so_many),
    };
    return cmocka_run_group_tests_name("agent.journal", tests, enter_folder, leave_folder);
}
