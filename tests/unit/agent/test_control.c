/* What a host has changed on a device, and who puts it back: the host, the end of the agent or of its lease,
 * and where the supervisor was killed too, the next agent. A folder stands for /sys, and a pipe with a name
 * for a driver that does not take what it is given. */
#include "device.h"

#include "proto/names.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX "devices/policy0/scaling_max_freq"
#define GOV "devices/policy0/scaling_governor"

static char folder[] = "/tmp/qs-agent-control-XXXXXX";
static char sysfs[64], state[64];
static const char *const options[] = {"--sysfs", sysfs, "--state", state, NULL};

static const char *in_sys(const char *path)
{
    static char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", sysfs, path);
    return whole;
}

static void put(const char *path, const char *text)
{
    FILE *f = fopen(in_sys(path), "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static int group_setup(void **unused)
{
    (void)unused;
    assert_non_null(mkdtemp(folder));
    snprintf(sysfs, sizeof sysfs, "%s/sys", folder);
    snprintf(state, sizeof state, "%s/state", folder);
    mkdir(sysfs, 0700);
    mkdir(in_sys("devices"), 0700);
    mkdir(in_sys("devices/policy0"), 0700);
    return 0;
}

static int group_teardown(void **unused)
{
    char command[128];
    (void)unused;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static int as_new(void **unused)
{
    (void)unused;
    put(MAX, "1800000\n");
    put(GOV, "schedutil\n");
    return 0;
}

static bool says(const char *path, const char *wanted)
{
    char text[64] = "";
    FILE *f = fopen(in_sys(path), "r");
    if (f) {
        (void)!fgets(text, sizeof text, f);
        fclose(f);
    }
    return strcmp(text, wanted) == 0;
}

static void wait_until(const char *path, const char *wanted)
{
    while (!says(path, wanted)) {
        usleep(1000);
    }
}

static void wait_for_journal(const char *word)
{
    char path[128];
    char bytes[4096];
    ssize_t n = 0;
    snprintf(path, sizeof path, "%s/control.journal", state);
    do {
        int fd = open(path, O_RDONLY);
        n = fd >= 0 ? read(fd, bytes, sizeof bytes) : 0;
        close(fd);
    } while (n <= 0 || !memmem(bytes, (size_t)n, word, strlen(word)));
}

static void add_write(struct qs_build *list, const char *path, const char *value)
{
    const struct qs_tune t = {.path = qs_text_of(path), .value = qs_text_of(value)};
    assert_true(qs_build_tune(list, &t));
}

/* path, value, path, value, NULL */
static void send_tune(struct device *d, uint32_t lease_ms, const char *const *writes)
{
    uint8_t memory[2048];
    struct qs_build list;
    qs_build_init(&list, memory, sizeof memory);
    for (; writes[0]; writes += 2) {
        add_write(&list, writes[0], writes[1]);
    }
    const struct qs_msg_tune m = {.id = 1, .lease_ms = lease_ms, .writes = qs_build_list(&list)};
    size_t at = peer_begin(&d->peer);
    assert_true(qs_msg_encode_tune(&d->peer.w, &m));
    peer_end(&d->peer, at, QS_MSG_TUNE);
}

static struct qs_tuned first_of(const struct letter *l)
{
    struct qs_msg_tuned m;
    struct qs_tuned t;
    assert_int_equal(qs_msg_decode_tuned(l->payload, l->n, &m), 0);
    struct qs_iter it = qs_list_iter(&m.writes);
    assert_true(qs_list_tuned(&it, &t));
    return t;
}

static void tune(struct device *d, uint32_t lease_ms, const char *const *writes)
{
    send_tune(d, lease_ms, writes);
    struct qs_tuned t = first_of(device_expect(d, QS_MSG_TUNED));
    assert_string_equal(qs_tune_outcome_name(t.outcome), "set");
}

static const char *const both[] = {MAX, "600000", GOV, "userspace", NULL};

static void expect_new(void)
{
    assert_true(says(MAX, "1800000\n"));
    assert_true(says(GOV, "schedutil\n"));
}

static bool has_fact(struct device *d, const char *key, const char *wanted, char *said, size_t cap)
{
    struct qs_msg_facts m;
    struct qs_fact f;
    peer_empty(&d->peer, QS_MSG_FACTS_GET);
    const struct letter *l = device_expect(d, QS_MSG_FACTS);
    assert_int_equal(qs_msg_decode_facts(l->payload, l->n, &m), 0);
    struct qs_iter it = qs_list_iter(&m.facts);
    while (qs_list_fact(&it, &f) && !qs_text_is(f.key, key)) {
    }
    qs_text_copy(f.value, said, cap);
    return strstr(said, wanted) != NULL;
}

static void expect_fact(struct device *d, const char *key, const char *wanted)
{
    char said[QS_FACT_VALUE_MAX_BYTES + 1];
    if (!has_fact(d, key, wanted, said, sizeof said)) {
        fail_msg("%s: '%s' does not say '%s'", key, said, wanted);
    }
}

static void finish(struct device *d)
{
    close(d->in_fd);
    close(d->out_fd);
    peer_done(&d->peer);
}

/* Until its output is closed something of it may still run. */
static void wait_for_end(struct device *d)
{
    char byte;
    while (read(d->out_fd, &byte, 1) > 0) {
    }
    waitpid(d->pid, NULL, 0);
    finish(d);
}

static void is_put_back_by_the_host(void **unused)
{
    struct device d;
    struct qs_msg_restored m;
    struct qs_restored r;
    (void)unused;
    device_start_with(&d, options);
    assert_true((d.peer.agent.features & QS_FEATURE_CONTROL) != 0);
    expect_fact(&d, "control.restored", "none");
    expect_fact(&d, "control.journal", "/state/control.journal");
    send_tune(&d, 60000, both);
    struct qs_tuned t = first_of(device_expect(&d, QS_MSG_TUNED));
    assert_int_equal(t.outcome, QS_TUNE_SET);
    assert_true(qs_text_is(t.before, "1800000") && qs_text_is(t.now, "600000"));
    assert_true(says(MAX, "600000\n") && says(GOV, "userspace\n"));
    size_t at = peer_begin(&d.peer);
    qs_msg_encode_restore(&d.peer.w, &(struct qs_msg_restore){.id = 3});
    peer_end(&d.peer, at, QS_MSG_RESTORE);
    const struct letter *l = device_expect(&d, QS_MSG_RESTORED);
    assert_int_equal(qs_msg_decode_restored(l->payload, l->n, &m), 0);
    assert_int_equal(m.files.count, 2);
    struct qs_iter it = qs_list_iter(&m.files);
    assert_true(qs_list_restored(&it, &r));
    assert_true(qs_text_is(r.path, GOV) && qs_text_is(r.result.now, "schedutil"));
    assert_int_equal(r.result.outcome, QS_TUNE_SET);
    expect_new();
    device_stop(&d);
}

/* On one link its end is the agent's end. */
static void is_put_back_when_the_link_ends(void **unused)
{
    struct device d;
    (void)unused;
    device_start_with(&d, options);
    tune(&d, 60000, both);
    device_stop(&d);
    expect_new();
}

static void is_put_back_when_the_agent_is_killed(void **unused)
{
    static const char *const argv[] = {"/bin/sh", "-c", "sleep 1000 & sleep 1000", NULL};
    struct device d;
    (void)unused;
    device_start_with(&d, options);
    tune(&d, 60000, both);
    peer_hook(&d.peer, 1, argv, INT64_C(100000000000));
    kill(d.agent, SIGKILL);
    wait_for_end(&d);
    expect_new();
}

/* Both are killed: the next one puts back before it says hello. */
static void is_put_back_by_the_next_agent(void **unused)
{
    struct device d;
    (void)unused;
    device_start_with(&d, options);
    tune(&d, 60000, both);
    kill(d.pid, SIGKILL);
    wait_for_end(&d);
    assert_true(says(MAX, "600000\n"));
    device_start_with(&d, options);
    expect_new();
    expect_fact(&d, "control.restored",
                "2 of 2, because the agent before was killed together with its supervisor: " GOV
                "=schedutil, " MAX "=1800000");
    device_stop(&d);
}

/* A file that can be read, and keeps whoever writes it waiting (a lease, fcntl(2)), as a stuck driver does.
 */
static int make_stuck(void)
{
    put("devices/stuck", "old\n");
    signal(SIGIO, SIG_IGN);
    int fd = open(in_sys("devices/stuck"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(fcntl(fd, F_SETLEASE, F_RDLCK), 0);
    return fd;
}

static const char *const three[] = {MAX, "600000", "devices/stuck", "new", GOV, "userspace", NULL};

static void wait_for_empty_journal(void)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/control.journal", state);
    while (stat(path, &st) != 0 || st.st_size > 0) {
        usleep(1000);
    }
}

/* Killed in the middle of three changes: the first is written, the second is in the journal only and its
 * driver is stuck, the third is not begun. */
static int kill_in_the_middle(struct device *d, bool whole)
{
    as_new(NULL);
    int stuck_fd = make_stuck();
    device_start_with(d, options);
    send_tune(d, 60000, three);
    wait_for_journal("stuck");
    assert_true(says(MAX, "600000\n"));
    kill(whole ? d->pid : d->agent, SIGKILL);
    wait_for_end(d);
    return stuck_fd;
}

/* The supervisor has put back what it could, and ended; the rest is done behind it. */
static void is_put_back_from_the_middle_of_it(void **unused)
{
    struct device d;
    (void)unused;
    int stuck_fd = kill_in_the_middle(&d, false);
    expect_new();
    close(stuck_fd);
    wait_for_empty_journal();
    assert_true(says("devices/stuck", "old\n"));
}

static void is_put_back_from_the_middle_of_it_by_the_next(void **unused)
{
    struct device d;
    (void)unused;
    int stuck_fd = kill_in_the_middle(&d, true);
    assert_true(says(MAX, "600000\n"));
    close(stuck_fd);
    device_start_with(&d, options);
    expect_fact(&d, "control.restored", "2 of 2, because ");
    device_stop(&d);
    expect_new();
    assert_true(says("devices/stuck", "old\n"));
}

/* The next agent comes while somebody is still at it: it has the journal from then on. */
static void is_handed_over_to_the_next_agent(void **unused)
{
    struct device d;
    (void)unused;
    int stuck_fd = kill_in_the_middle(&d, false);
    device_start_with(&d, options);
    assert_int_not_equal(d.peer.agent.features & QS_FEATURE_CONTROL, 0);
    expect_fact(&d, "control.restored", "not devices/stuck=old (timeout: ");
    expect_fact(&d, "control.journal", "; not put back: devices/stuck");
    close(stuck_fd);
    wait_for_empty_journal();
    assert_true(says("devices/stuck", "old\n"));
    char said[QS_FACT_VALUE_MAX_BYTES + 1];
    while (!has_fact(&d, "control.restored", "; later 1 of 1: devices/stuck=old", said, sizeof said)) {
        usleep(1000);
    }
    device_stop(&d);
    expect_new();
}

/* Nobody is heard any more, and the agent waits for the next host: its session says what has happened. */
static void is_put_back_when_the_lease_ends(void **unused)
{
    char said[QS_FACT_VALUE_MAX_BYTES + 1];
    char address[128];
    struct device d;
    (void)unused;
    snprintf(address, sizeof address, "unix:%s/socket", folder);
    device_listen_with(&d, address, options);
    assert_true(device_connect(&d, address));
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    device_expect(&d, QS_MSG_HELD);
    tune(&d, 2000, both);
    device_hang_up(&d);
    wait_until(MAX, "1800000\n");
    assert_true(device_connect(&d, address));
    peer_hello(&d.peer, 10000);
    device_expect(&d, QS_MSG_HELLO_AGENT);
    device_expect(&d, QS_MSG_HELD);
    while (!has_fact(&d, "control.restored",
                     "2 of 2, because the host was not heard for as long as its lease", said, sizeof said)) {
        usleep(1000); /* the agent hears of it when all is done */
    }
    expect_new();
    device_terminate(&d);
}

/* A link that is up, and an agent that is stopped: it is ended. */
static void is_put_back_when_the_agent_is_stuck(void **unused)
{
    struct device d;
    int status;
    (void)unused;
    device_start_with(&d, options);
    tune(&d, 2000, both);
    kill(d.agent, SIGSTOP);
    wait_until(MAX, "1800000\n"); /* at the end of the lease already */
    assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    expect_new();
    finish(&d);
}

/* An agent that SIGKILL does not end: nobody hears of its end while somebody traces it (ptrace(2)), as when a
 * driver holds it. What it has changed does not wait for it. */
static void is_put_back_when_the_agent_cannot_be_killed(void **unused)
{
    struct device d;
    int status;
    (void)unused;
    device_start_with(&d, options);
    tune(&d, 60000, both);
    assert_int_equal(ptrace(PTRACE_SEIZE, d.agent, NULL, NULL), 0);
    kill(d.agent, SIGKILL);
    assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    expect_new();
    while (waitpid(d.agent, &status, __WALL) == d.agent && !WIFSIGNALED(status)) {
    }
    finish(&d);
}

/* Without a folder it offers nothing; with one that cannot be used it says so at its start. */
static void needs_a_folder_of_its_own(void **unused)
{
    const char *const argv[] = {getenv("QS_AGENT"), "--stdio", "--state", state, NULL};
    const char *const board[] = {"--sysfs", sysfs, NULL};
    const char *const cache[] = {"--cache", state, "--sysfs", sysfs, NULL};
    char said[256];
    char expected[256];
    struct device d;
    struct device second;
    (void)unused;
    assert_int_equal(unsetenv("HOME") | unsetenv("XDG_STATE_HOME"), 0);
    device_start(&d);
    assert_int_equal(d.peer.agent.features & QS_FEATURE_CONTROL, 0);
    expect_fact(&d, "control.journal", "none");
    device_stop(&d);
    assert_int_equal(setenv("HOME", folder, 1), 0);
    device_start(&d); /* its own, on the device itself */
    assert_int_not_equal(d.peer.agent.features & QS_FEATURE_CONTROL, 0);
    device_stop(&d);
    snprintf(said, sizeof said, "%s/.local/state/quiesce-agent/control/control.journal", folder);
    assert_int_equal(access(said, F_OK), 0);
    device_start_with(&d, board); /* on a test bed it wants one to be named */
    assert_int_equal(d.peer.agent.features & QS_FEATURE_CONTROL, 0);
    device_stop(&d);
    device_start_with(&d, cache); /* the folder for files serves, too */
    assert_int_not_equal(d.peer.agent.features & QS_FEATURE_CONTROL, 0);
    assert_int_equal(device_say(argv, said, sizeof said), 3);
    snprintf(expected, sizeof expected,
             "quiesce-agent: cannot use --state: no journal in '%s': another agent has it (process %d, ",
             state, (int)d.pid);
    assert_int_equal(strncmp(said, expected, strlen(expected)), 0);
    device_start_with(&second, cache); /* it has its files, but changes nothing */
    assert_int_equal(second.peer.agent.features & QS_FEATURE_CONTROL, 0);
    expect_fact(&second, "control.journal", "another agent has it");
    device_stop(&second);
    device_stop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(is_put_back_by_the_host, as_new),
        cmocka_unit_test_setup(is_put_back_when_the_link_ends, as_new),
        cmocka_unit_test_setup(is_put_back_when_the_agent_is_killed, as_new),
        cmocka_unit_test_setup(is_put_back_by_the_next_agent, as_new),
        cmocka_unit_test(is_put_back_from_the_middle_of_it),
        cmocka_unit_test(is_put_back_from_the_middle_of_it_by_the_next),
        cmocka_unit_test(is_handed_over_to_the_next_agent),
        cmocka_unit_test_setup(is_put_back_when_the_lease_ends, as_new),
        cmocka_unit_test_setup(is_put_back_when_the_agent_is_stuck, as_new),
        cmocka_unit_test_setup(is_put_back_when_the_agent_cannot_be_killed, as_new),
        cmocka_unit_test_setup(needs_a_folder_of_its_own, as_new),
    };
    return cmocka_run_group_tests_name("agent.control", tests, group_setup, group_teardown);
}
