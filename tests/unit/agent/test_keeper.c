/* What is changed on the device and put back, without an agent: the hand and the keeper over a folder that
 * stands for /sys. A pipe with a name is a driver that does not answer. */
#include "folder.h"
#include "keeping.h"
#include "linux/control.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void sets_and_puts_back(void **state)
{
    (void)state;
    put("sys/cpu/max", "1800000\n");
    put("sys/cpu/min", "400000\n");
    open_keeper();
    assert_string_equal(keeper.notes.journal, "state/control.journal");
    tune("cpu/max", "600000");
    expect(QS_TUNE_SET, 0, "1800000", "");
    assert_string_equal(text_of("sys/cpu/max"), "600000\n");
    order(QS_KEEPER_LOOK, "cpu/max", "0600000", 0); /* the same number */
    expect(QS_TUNE_SET, 0, "", "600000");
    tune("cpu/min", "600000");
    tune("cpu/max", "500000"); /* once more: its original stays */
    expect(QS_TUNE_SET, 0, "600000", "");
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("cpu/min", QS_TUNE_SET, "400000", "400000");
    order(QS_KEEPER_RESTORE, "", "", 0);
    expect_restored("cpu/max", QS_TUNE_SET, "1800000", "1800000");
    order(QS_KEEPER_RESTORE, "", "", 0);
    assert_true(got.file.end);
    assert_string_equal(text_of("sys/cpu/max"), "1800000\n");
    assert_string_equal(text_of("sys/cpu/min"), "400000\n");
    restore_all(); /* nothing is left */
    close_keeper();
}

/* What is there already is neither kept nor written. */
static void leaves_what_is_so_already(void **state)
{
    struct stat before;
    struct stat after;
    (void)state;
    put("sys/governor", "  performance \n");
    put("sys/policy", "always_on [coarse_demand] adaptive\n");
    stat("sys/governor", &before);
    open_keeper();
    tune("governor", "performance");
    expect(QS_TUNE_SAME, 0, "performance", "");
    tune("policy", "coarse_demand");
    expect(QS_TUNE_SAME, 0, "coarse_demand", "");
    stat("sys/governor", &after);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    stat("state/control.journal", &after);
    assert_int_equal(after.st_size, 0);
    close_keeper();
}

/* Who puts things back would stand still. Each group is in the one at the root, and so are we. */
static void does_not_freeze_itself(void **state)
{
    char own[512] = "";
    char path[QS_HAND_PATH_BYTES + 300];
    (void)state;
    FILE *f = fopen("/proc/self/cgroup", "r");
    assert_non_null(f);
    char line[512];
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "0::", 3) == 0) {
            snprintf(own, sizeof own, "%s", line + 3);
            own[strcspn(own, "\n")] = '\0';
        }
    }
    fclose(f);
    if (own[0] == '\0') {
        print_message("this kernel has no control groups of version 2\n");
        skip();
    }
    put("sys/fs/cgroup/cgroup.freeze", "0\n");
    put("sys/fs/cgroup/no-group-of-ours/cgroup.freeze", "0\n");
    put("sys/fs/cgroup/unified/cgroup.freeze", "0\n");
    snprintf(path, sizeof path, "sys/fs/cgroup%s/cgroup.freeze", strcmp(own, "/") == 0 ? "" : own);
    put(path, "0\n");
    open_keeper();
    tune("fs/cgroup/cgroup.freeze", "1");
    expect(QS_TUNE_FORBIDDEN, 0, "", "");
    tune("fs/cgroup/unified/cgroup.freeze", "1");
    expect(QS_TUNE_FORBIDDEN, 0, "", "");
    tune(path + sizeof "sys/" - 1, "1");
    expect(QS_TUNE_FORBIDDEN, 0, "", "");
    assert_string_equal(text_of("sys/fs/cgroup/cgroup.freeze"), "0\n");
    tune("fs/cgroup/cgroup.freeze", "0"); /* thawing harms nobody */
    expect(QS_TUNE_SAME, 0, "0", "");
    tune("fs/cgroup/no-group-of-ours/cgroup.freeze", "1");
    expect(QS_TUNE_SET, 0, "0", "");
    close_keeper();
}

/* Of a list the chosen word is what is put back. */
static void understands_a_list_of_choices(void **state)
{
    static const struct {
        const char *text, *value;
    } cases[] = {{"none [msm] trustzone\n", "msm"},
                 {"[a] b\n", "a"},
                 {"a [b]", "b"},
                 {"[x]\n", "x"},
                 {"[a] [b]\n", "[a] [b]"},
                 {"f[0] 1", "f[0] 1"},
                 {"[] a", "[] a"},
                 {"[a b] c", "[a b] c"},
                 {"\n", ""},
                 {"[a", "[a"},
                 {"a]", "a]"},
                 {"[a]b", "[a]b"}};
    (void)state;
    open_keeper();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put("sys/choice", cases[i].text);
        tune("choice", "other");
        expect(QS_TUNE_SET, 0, cases[i].value, "");
        restore_all();
        assert_int_equal(strncmp(text_of("sys/choice"), cases[i].value, strlen(cases[i].value)), 0);
        assert_int_equal(strlen(text_of("sys/choice")), strlen(cases[i].value) + 1);
    }
    close_keeper();
}

static void says_what_it_cannot_change(void **state)
{
    char much[600];
    (void)state;
    memset(much, 'x', sizeof much);
    much[256] = '\0';
    put("sys/here", "1\n");
    put("sys/long", much);
    put("sys/chosen", "a [b] c");
    put("outside", "1\n");
    assert_int_equal(mkdir("sys/inner", 0700), 0);
    assert_int_equal(symlink("../outside", "sys/escape"), 0);
    assert_int_equal(symlink("here", "sys/link"), 0);
    open_keeper();
    tune("nowhere", "2");
    expect(QS_TUNE_MISSING, ENOENT, "", "");
    tune("here/below", "2");
    expect(QS_TUNE_MISSING, ENOTDIR, "", "");
    static const char *const outside[] = {"../outside", "escape", "/etc/hostname",       "",
                                          "..",         "a//b",   "inner/../../outside", "."};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        tune(outside[i], "2");
        expect(QS_TUNE_FORBIDDEN, 0, "", "");
    }
    assert_string_equal(text_of("outside"), "1\n");
    tune("inner", "2");
    expect(QS_TUNE_UNREADABLE, EISDIR, "", "");
    tune("long", "2");
    expect(QS_TUNE_UNREADABLE, E2BIG, "", "");
    tune("link", "2"); /* inside the root links are followed */
    expect(QS_TUNE_SET, 0, "1", "");
    assert_string_equal(text_of("sys/here"), "2\n");
    restore_all();
    close_keeper();
}

/* A driver refuses, or makes something else of it: our own files of /proc do so for whoever is root, too. */
static void says_what_the_driver_makes_of_it(void **state)
{
    char own[32];
    (void)state;
    snprintf(own, sizeof own, "%s", text_of("/proc/self/oom_score_adj"));
    own[strcspn(own, "\n")] = '\0';
    open_keeper_of("state", "/proc");
    tune("self/oom_score_adj", "9999");
    expect(QS_TUNE_REFUSED, EINVAL, own, "");
    tune("self/comm", "a-name-that-is-too-long");
    expect(QS_TUNE_SET, 0, "qs-hand", "");
    order(QS_KEEPER_LOOK, "self/comm", "a-name-that-is-too-long", 0);
    expect(QS_TUNE_SLIPPED, 0, "", "a-name-that-is-");
    tune("self/clear_refs", "0"); /* it can be written, but not read: it could not be put back */
    expect(QS_TUNE_UNREADABLE, geteuid() == 0 ? EINVAL : EACCES, "", "");
    restore_all();
    assert_int_equal(keeper.journal.state.count, 0);
    close_keeper();
}

/* For the agent, which must not wait for a driver itself. */
static void reads_files_for_the_agent(void **state)
{
    (void)state;
    put("sys/temp", "41000\n");
    put("secret", "x\n");
    open_keeper();
    order(QS_KEEPER_READ, "temp", "", 0);
    assert_int_equal(got.read.end, QS_HAND_DONE);
    assert_string_equal(got.read.text, "41000\n");
    order(QS_KEEPER_READ, "none", "", 0);
    assert_int_equal(got.read.end, QS_HAND_MISSING);
    assert_int_equal(got.read.error, ENOENT);
    order(QS_KEEPER_READ, "../secret", "", 0);
    assert_int_equal(got.read.end, QS_HAND_OUTSIDE);
    order(QS_KEEPER_READ, "ask\ttouch ran\nset", "", 0); /* as a tool is written */
    assert_int_equal(got.read.end, QS_HAND_OUTSIDE);
    assert_int_equal(access("ran", F_OK), -1);
    int fd = open("sys/temp", O_RDWR | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_WRLCK), 0);
    signal(SIGIO, SIG_IGN);
    keeper.hand.limit_ns = 50 * MS;
    order(QS_KEEPER_READ, "temp", "", 0);
    assert_int_equal(got.read.end, QS_HAND_LATE);
    assert_int_equal(keeper.hand.limit_ns, 50 * MS);
    close(fd);
    order(QS_KEEPER_READ, "temp", "", 0);
    assert_int_equal(got.read.end, QS_HAND_DONE);
    assert_int_equal(keeper.journal.state.count, 0);
    close_keeper();
}

static void answer_agent(uint32_t id, uint32_t grant, const char *text)
{
    struct qs_keeper_answer a = {.id = id, .grant = grant, .read = {.end = QS_HAND_DONE}};
    a.read.n = (uint32_t)snprintf(a.read.text, sizeof a.read.text, "%s", text);
    assert_int_equal(send(keeper.agent_fd, &a, sizeof a, 0), sizeof a);
}

/* News that come meanwhile are heard after it. */
static void waits_for_what_was_read(void **state)
{
    struct qs_control control;
    struct qs_port_controlled file;
    struct qs_hand_result said;
    struct qs_keeper_order sent;
    uint32_t grant = 0;
    (void)state;
    open_keeper();
    qs_control_init(&control, &keeper);
    assert_false(qs_control_read(&control, "temp", &said)); /* there is no supervisor yet */
    control.fd = agent_fd;
    answer_agent(7, 0, "of somebody's");
    answer_agent(0, 5, "news");
    answer_agent(1, 0, "41000\n");
    assert_true(qs_control_read(&control, "temp", &said));
    assert_int_equal(said.end, QS_HAND_DONE);
    assert_string_equal(said.text, "41000\n");
    assert_true(control.has_early);
    assert_int_equal(qs_control_hear(&control, &file, &grant), QS_CONTROL_LEASE);
    assert_int_equal(grant, 5);
    assert_false(control.has_early);
    assert_int_equal(recv(keeper.agent_fd, &sent, sizeof sent, MSG_DONTWAIT), sizeof sent);
    assert_int_equal(sent.what, QS_KEEPER_READ);
    assert_string_equal(sent.path, "temp");
    assert_int_equal(recv(keeper.agent_fd, &sent, sizeof sent, MSG_DONTWAIT), sizeof sent);
    assert_int_equal(sent.what, QS_KEEPER_ALIVE);
    close_keeper();
}

/* Whose driver did not answer is left alone for a while; where there are many, so is all else. */
static void does_not_ask_again_soon(void **state)
{
    struct qs_control control;
    struct qs_hand_result said;
    struct qs_keeper_answer late = {.read = {.end = QS_HAND_LATE, .error = ETIMEDOUT}};
    char path[32];
    (void)state;
    open_keeper();
    qs_control_init(&control, &keeper);
    control.fd = agent_fd;
    for (uint32_t i = 1; i <= QS_CONTROL_LATE_MAX; i++) {
        snprintf(path, sizeof path, "temp%u", i);
        late.id = i;
        assert_int_equal(send(keeper.agent_fd, &late, sizeof late, 0), sizeof late);
        assert_true(qs_control_read(&control, path, &said));
        assert_int_equal(said.end, QS_HAND_LATE);
        assert_true(qs_control_read(&control, path, &said)); /* it is not asked: no answer is there */
        assert_int_equal(said.end, QS_HAND_LATE);
        assert_int_equal(said.error, ETIMEDOUT);
        assert_int_equal(control.id, i);
    }
    assert_true(qs_control_read(&control, "another", &said));
    assert_int_equal(control.id, QS_CONTROL_LATE_MAX);
    control.late[3].until_ns = 1; /* long ago */
    answer_agent(QS_CONTROL_LATE_MAX + 1, 0, "1\n");
    assert_true(qs_control_read(&control, "temp4", &said));
    assert_int_equal(said.end, QS_HAND_DONE);
    close_keeper();
}

/* It is read back when it was written by somebody else meanwhile. */
static void sees_who_writes_behind_it(void **state)
{
    (void)state;
    put("sys/max", "5\n");
    open_keeper();
    tune("max", "7");
    put("sys/max", "6\n");
    order(QS_KEEPER_LOOK, "max", "7", 0);
    expect(QS_TUNE_SLIPPED, 0, "", "6");
    assert_int_equal(unlink("sys/max"), 0);
    order(QS_KEEPER_LOOK, "max", "7", 0);
    expect(QS_TUNE_SLIPPED, ENOENT, "", "");
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("max", QS_TUNE_MISSING, "5", "");
    restore_all();
    assert_string_equal(got.notes.journal, "state/control.journal; not put back: max");
    put("sys/max", "6\n"); /* the device is there again */
    restore_all();
    assert_string_equal(text_of("sys/max"), "5\n");
    assert_string_equal(got.notes.journal, "state/control.journal");
    close_keeper();
}

/* A frequency that only one governor has: it goes with that one, and what it said may be no value at all. */
static void leaves_to_its_governor_what_goes_with_it(void **state)
{
    (void)state;
    put("sys/set_freq", "undefined\n");
    put("sys/governor", "simple\n");
    open_keeper();
    tune("governor", "userspace");
    order(QS_KEEPER_TUNE, "set_freq", "600000", QS_TUNE_TRANSIENT);
    expect(QS_TUNE_SET, 0, "undefined", "");
    assert_string_equal(text_of("sys/set_freq"), "600000\n");
    order(QS_KEEPER_TUNE, "set_freq", "600000", QS_TUNE_TRANSIENT);
    expect(QS_TUNE_SAME, 0, "600000", "");
    assert_int_equal(keeper.journal.state.count, 1);
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("governor", QS_TUNE_SET, "simple", "simple");
    order(QS_KEEPER_RESTORE, "", "", 0);
    assert_true(got.file.end);
    assert_string_equal(text_of("sys/set_freq"), "600000\n");
    order(QS_KEEPER_TUNE, "nowhere", "2", QS_TUNE_TRANSIENT);
    expect(QS_TUNE_MISSING, ENOENT, "", "");
    close_keeper();
    open_keeper_of(NULL, "sys"); /* without a journal nothing is changed, not even this */
    order(QS_KEEPER_TUNE, "set_freq", "700000", QS_TUNE_TRANSIENT);
    expect(QS_TUNE_UNJOURNALLED, ENOTDIR, "600000", "");
    close_keeper();
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* It is given up after its time, and the next file has another hand. */
static void gives_up_a_stuck_driver(void **state)
{
    (void)state;
    put("sys/good", "1\n");
    assert_int_equal(mkfifo("sys/stuck", 0600), 0);
    open_keeper();
    keeper.hand.limit_ns = 50 * MS;
    int64_t began_ns = now_ns();
    tune("stuck", "2");
    expect(QS_TUNE_TIMEOUT, ETIMEDOUT, "", "");
    assert_true(now_ns() - began_ns >= 50 * MS);
    keeper.hand.limit_ns = 10000 * MS;
    tune("good", "2");
    expect(QS_TUNE_SET, 0, "1", "");
    pid_t first = keeper.hand.pid;
    assert_int_equal(kill(first, SIGKILL), 0); /* by whomever */
    order(QS_KEEPER_LOOK, "good", "2", 0);
    expect(QS_TUNE_TIMEOUT, ETIMEDOUT, "", "");
    order(QS_KEEPER_LOOK, "good", "2", 0);
    expect(QS_TUNE_SET, 0, "", "2");
    assert_int_not_equal(keeper.hand.pid, first);
    restore_all();
    assert_int_equal(keeper.hand.fd, -1); /* none is needed now */
    assert_int_equal(unlink("sys/stuck"), 0);
    close_keeper();
}

/* A driver that says "old", and takes nothing: when its value is on disk the hand that writes is killed. */
static pid_t start_driver(const char *path, pid_t hand)
{
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(path, O_WRONLY);
        _exit(write(fd, "old\n", 4) == 4 && close(fd) == 0 && journal_has("stuck") && kill(hand, SIGKILL) == 0
                  ? 0
                  : 1);
    }
    return pid;
}

/* Whether it has taken the value nobody knows: it is put back when it answers again. */
static void keeps_what_a_stuck_write_may_have_changed(void **state)
{
    int status;
    (void)state;
    put("sys/good", "1\n");
    assert_int_equal(mkfifo("sys/stuck", 0600), 0);
    open_keeper();
    keeper.hand.limit_ns = 60000 * MS;
    tune("good", "2");
    pid_t driver = start_driver("sys/stuck", keeper.hand.pid);
    tune("stuck", "new");
    expect(QS_TUNE_TIMEOUT, ETIMEDOUT, "old", "");
    assert_int_equal(waitpid(driver, &status, 0), driver);
    assert_int_equal(status, 0);
    assert_int_equal(unlink("sys/stuck"), 0);
    put("sys/stuck", "new\n");
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored("stuck", QS_TUNE_SET, "old", "old");
    restore_all();
    assert_string_equal(text_of("sys/good"), "1\n");
    close_keeper();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_and_puts_back),
        cmocka_unit_test(does_not_freeze_itself),
        cmocka_unit_test(leaves_what_is_so_already),
        cmocka_unit_test(understands_a_list_of_choices),
        cmocka_unit_test(says_what_it_cannot_change),
        cmocka_unit_test(reads_files_for_the_agent),
        cmocka_unit_test(waits_for_what_was_read),
        cmocka_unit_test(does_not_ask_again_soon),
        cmocka_unit_test(says_what_the_driver_makes_of_it),
        cmocka_unit_test(sees_who_writes_behind_it),
        cmocka_unit_test(leaves_to_its_governor_what_goes_with_it),
        cmocka_unit_test(gives_up_a_stuck_driver),
        cmocka_unit_test(keeps_what_a_stuck_write_may_have_changed),
    };
    return cmocka_run_group_tests_name("agent.keeper", tests, enter_folder, leave_folder);
}
