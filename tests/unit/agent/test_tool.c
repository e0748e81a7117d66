/* Switches that are commands, without an agent: the keeper sets them and puts them back. The commands are
 * scripts of the folder "bin" that keep their state in files. */
#include "folder.h"
#include "keeping.h"
#include "linux/tool.h"
#include "proto/msg_control.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define SETTING                                                                                              \
    "\tsettings\tget\tglobal\tscale\nsettings\tput\tglobal\tscale\t{}\n"                                     \
    "null\tsettings\tdelete\tglobal\tscale"
#define RADIO "\tsettings\tget\tglobal\twifi_on\n\n1\tsvc\twifi\tenable\n0\tsvc\twifi\tdisable"
#define FIXED "false\ncmd\tpower\tset-fixed-performance-mode-enabled\t{}"

static void script(const char *name, const char *text)
{
    char path[64];
    char whole[1024];
    snprintf(path, sizeof path, "bin/%s", name);
    snprintf(whole, sizeof whole, "#!/bin/sh\n%s\n", text);
    put(path, whole);
    assert_int_equal(chmod(path, 0755), 0);
}

static int enter(void **state)
{
    char path[600];
    if (enter_folder(state) != 0) {
        return -1;
    }
    snprintf(path, sizeof path, "%s/bin:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("F", folder, 1);
    put("sys/file", "1\n");
    script("settings", "f=\"$F/set-$2-$3\"\n"
                       "case $1 in get) cat \"$f\" 2>/dev/null || echo null;; put) echo \"$4\" >\"$f\";; "
                       "delete) rm -f \"$f\";; esac\n"
                       "echo \"$@\" >>\"$F/log\"");
    script("svc", "case $2 in enable) echo 1;; disable) echo 0;; esac >\"$F/set-global-${1}_on\"");
    script("cmd", "echo \"$@\" >>\"$F/log\"");
    return 0;
}

static void forget_log(void)
{
    put("log", "");
}

static void sets_and_puts_back(void **state)
{
    (void)state;
    put("set-global-scale", "1.0\n");
    put("set-global-wifi_on", "1\n");
    open_keeper();
    order(QS_KEEPER_TUNE, SETTING, "0", QS_TUNE_COMMAND | QS_TUNE_PERSISTENT);
    expect(QS_TUNE_SET, 0, "1.0", "");
    assert_int_equal(qs_journal_find(&keeper.journal, SETTING)->flags, QS_TUNE_COMMAND | QS_TUNE_PERSISTENT);
    tune(RADIO, "0");
    expect(QS_TUNE_SET, 0, "1", "");
    assert_string_equal(text_of("set-global-scale"), "0\n");
    assert_string_equal(text_of("set-global-wifi_on"), "0\n");
    order(QS_KEEPER_LOOK, SETTING, "0", 0);
    expect(QS_TUNE_SET, 0, "", "0");
    order(QS_KEEPER_LOOK, RADIO, "1", 0);
    expect(QS_TUNE_SLIPPED, 0, "", "0");
    tune(RADIO, "0");
    expect(QS_TUNE_SAME, 0, "0", "");
    order(QS_KEEPER_RESTORE, "", "", 1);
    expect_restored(RADIO, QS_TUNE_SET, "1", "1");
    order(QS_KEEPER_RESTORE, "", "", 0);
    expect_restored(SETTING, QS_TUNE_SET, "1.0", "1.0");
    restore_all();
    assert_string_equal(text_of("set-global-scale"), "1.0\n");
    assert_string_equal(text_of("set-global-wifi_on"), "1\n");
    close_keeper();
}

/* What had no value has none again, and not the word for it. */
static void puts_back_that_nothing_was_set(void **state)
{
    (void)state;
    unlink("set-global-scale");
    open_keeper();
    tune(SETTING, "0");
    expect(QS_TUNE_SET, 0, "null", "");
    assert_string_equal(text_of("set-global-scale"), "0\n");
    restore_all();
    assert_int_equal(access("set-global-scale", F_OK), -1);
    close_keeper();
}

/* The commands are in the journal: who comes after a kill needs nothing else. */
static void is_put_back_after_a_kill(void **state)
{
    (void)state;
    put("set-global-scale", "0.5\n");
    open_keeper();
    tune(SETTING, "0");
    close_keeper();
    assert_string_equal(text_of("set-global-scale"), "0\n");
    open_keeper();
    assert_string_equal(text_of("set-global-scale"), "0.5\n");
    assert_string_equal(keeper.notes.restored,
                        "1 of 1, because the agent before was killed together with its supervisor: "
                        "settings get global scale=0.5");
    close_keeper();
}

static void is_put_back_when_the_lease_ends(void **state)
{
    (void)state;
    put("set-global-wifi_on", "1\n");
    open_keeper();
    tune(RADIO, "0");
    lease(1);
    usleep(1000);
    assert_true(qs_keeper_on_time(&keeper));
    assert_string_equal(text_of("set-global-wifi_on"), "1\n");
    close_keeper();
}

static void journal_of_another_boot(const char *path, const char *value, uint8_t flags)
{
    uint8_t bytes[QS_JOURNAL_RECORD_BYTES];
    const struct qs_journal_record head = {
        .kind = QS_JOURNAL_HEAD, .boot = qs_text_of("another"), .root = qs_text_of("sys")};
    const struct qs_journal_record set = {
        .kind = QS_JOURNAL_SET, .flags = flags, .path = qs_text_of(path), .value = qs_text_of(value)};
    FILE *f = fopen("state/control.journal", "w");
    assert_non_null(f);
    fwrite(bytes, 1, qs_journal_encode(&head, bytes, sizeof bytes), f);
    fwrite(bytes, 1, qs_journal_encode(&set, bytes, sizeof bytes), f);
    fclose(f);
}

/* A setting of Android survives a restart, and so does its entry. */
static void is_put_back_after_a_reboot_if_that_did_not(void **state)
{
    (void)state;
    put("set-global-scale", "0\n");
    journal_of_another_boot(SETTING, "1", QS_TUNE_COMMAND);
    open_keeper();
    assert_string_equal(text_of("set-global-scale"), "0\n");
    close_keeper();
    journal_of_another_boot(SETTING, "1", QS_TUNE_COMMAND | QS_TUNE_PERSISTENT);
    open_keeper();
    assert_string_equal(text_of("set-global-scale"), "1\n");
    assert_non_null(strstr(keeper.notes.restored, "restarted"));
    close_keeper();
}

/* Nothing says how it is set: it is always set, and what is taken to have been there is put back. */
static void what_cannot_be_asked_is_taken_to_be_as_it_is_said(void **state)
{
    (void)state;
    assert_true(qs_tool_is_blind(FIXED));
    assert_false(qs_tool_is_blind(RADIO));
    assert_false(qs_tool_is_blind("sys/file"));
    open_keeper();
    forget_log();
    order(QS_KEEPER_TUNE, FIXED, "true", QS_TUNE_COMMAND | QS_TUNE_BLIND);
    expect(QS_TUNE_SET, 0, "false", "");
    order(QS_KEEPER_TUNE, FIXED, "true", QS_TUNE_COMMAND | QS_TUNE_BLIND); /* once */
    expect(QS_TUNE_SAME, 0, "false", "");
    order(QS_KEEPER_TUNE, FIXED, "false", QS_TUNE_COMMAND | QS_TUNE_BLIND);
    expect(QS_TUNE_SET, 0, "false", "");
    restore_all();
    assert_string_equal(text_of("log"), "power set-fixed-performance-mode-enabled true\n"
                                        "power set-fixed-performance-mode-enabled false\n"
                                        "power set-fixed-performance-mode-enabled false\n");
    close_keeper();
}

/* Each is a command that asks, and what comes of it; nothing is ever set then, nor kept. */
static void nothing_is_set_where_what_it_says_is_no_value(void **state)
{
    static const struct {
        const char *text;
        enum qs_tune_outcome outcome;
        int error;
        const char *before;
    } cases[] = {
        {"echo no permission; exit 1", QS_TUNE_UNREADABLE, 0, "no permission"},
        {"kill -9 $$", QS_TUNE_UNREADABLE, 0, ""},
        {"echo 1; echo 2", QS_TUNE_UNREADABLE, EILSEQ, "1 2"},
        {"printf '1\\0332'", QS_TUNE_UNREADABLE, EILSEQ, "1 2"},
        {"printf '1\\0002'", QS_TUNE_UNREADABLE, EILSEQ, "1 2"},
        {"head -c 3000000 /dev/zero | tr '\\0' x", QS_TUNE_UNREADABLE, E2BIG, ""},
        {"exit 0", QS_TUNE_MISSING, ENODATA, ""},
        {"exit 127", QS_TUNE_MISSING, ENOENT, ""},
        {"exit 126", QS_TUNE_UNREADABLE, EACCES, ""},
        {"echo 2", QS_TUNE_UNREADABLE, EDOM, "2"},
    };
    char before[QS_PORT_SAID_BYTES];
    (void)state;
    open_keeper();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        script("odd", cases[i].text);
        script("set", "touch \"$F/was-set\"");
        tune("\todd\n\n0\tset\tx\n1\tset\ty", "0");
        assert_int_equal(got.file.outcome, cases[i].outcome);
        assert_int_equal(got.file.error, cases[i].error);
        if (cases[i].error != E2BIG) {
            snprintf(before, sizeof before, "%s", cases[i].before);
            assert_string_equal(got.file.before, before);
        }
        assert_int_equal(access("was-set", F_OK), -1);
        assert_int_equal(keeper.journal.state.count, 0);
    }
    tune("\tno-such-program\n\n0\tset\tx\n1\tset\ty", "0");
    expect(QS_TUNE_MISSING, ENOENT, "", "");
    script("odd", "head -c 300 /dev/zero | tr '\\0' x");
    tune("\todd\nset\t{}", "0"); /* more than the journal holds */
    assert_int_equal(got.file.outcome, QS_TUNE_UNREADABLE);
    assert_int_equal(got.file.error, E2BIG);
    script("odd", "echo 1");
    tune("\todd\n\n1\tset\ty", "0"); /* a value that it cannot be set to */
    expect(QS_TUNE_REFUSED, EDOM, "1", "");
    assert_int_equal(access("was-set", F_OK), -1);
    restore_all();
    close_keeper();
}

static void one_that_hangs_is_ended(void **state)
{
    (void)state;
    script("hang", "sleep 1000 & echo $! >\"$F/pid\"; sleep 1000");
    open_keeper();
    keeper.hand.tool_ns = 300 * MS;
    tune("\thang\nset\t{}", "0");
    expect(QS_TUNE_TIMEOUT, ETIMEDOUT, "", "");
    assert_int_equal(kill((pid_t)strtol(text_of("pid"), NULL, 10), 0), -1);
    /* a command that sets may have set it: it stays in the journal, and is put back */
    put("set-global-scale", "1\n");
    script("slow", "settings put global scale \"$1\"; sleep 1000");
    tune("\tsettings\tget\tglobal\tscale\nslow\t{}\n1\tsettings\tput\tglobal\tscale\t1", "0");
    expect(QS_TUNE_TIMEOUT, ETIMEDOUT, "1", "");
    restore_all();
    assert_string_equal(text_of("set-global-scale"), "1\n");
    close_keeper();
}

/* Gone, or nobody has asked yet how it ended. */
static bool has_ended(pid_t pid)
{
    char path[64];
    char text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        return true;
    }
    const char *end = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    fclose(f);
    return end == NULL || strncmp(end, ") Z", 3) == 0;
}

/* An agent that is killed leaves no command behind that would go on setting something. */
static void one_whose_agent_is_killed_ends_too(void **state)
{
    static struct qs_hand_result unused;
    (void)state;
    put("pid", "");
    script("hang", "echo $$ >\"$F/new\"; mv \"$F/new\" \"$F/pid\"; exec sleep 1000");
    pid_t agent = fork();
    if (agent == 0) {
        qs_tool_read("\thang\nset\t{}", 1000000 * MS, &unused);
        _exit(0);
    }
    while (text_of("pid")[0] == '\0') {
        usleep(1000);
    }
    pid_t pid = (pid_t)strtol(text_of("pid"), NULL, 10);
    assert_true(pid > 0);
    assert_int_equal(kill(agent, SIGKILL), 0);
    assert_int_equal(waitpid(agent, NULL, 0), agent);
    bool ended = has_ended(pid);
    for (int i = 0; i < 10000 && !ended; i++) {
        usleep(1000);
        ended = has_ended(pid);
    }
    (void)kill(pid, SIGKILL);
    assert_true(ended);
}

/* A process that goes on with our end of the pipe is not waited for, and ended. */
static void one_that_leaves_somebody_behind_is_cleaned_up(void **state)
{
    struct timespec from;
    struct timespec to;
    (void)state;
    script("leaver", "setsid sleep 1000 & echo $! >\"$F/pid\"; echo 1");
    clock_gettime(CLOCK_MONOTONIC, &from);
    open_keeper();
    tune("\tleaver\ntrue\t{}", "0");
    expect(QS_TUNE_SET, 0, "1", "");
    clock_gettime(CLOCK_MONOTONIC, &to);
    assert_true(to.tv_sec - from.tv_sec < 8); /* ten seconds would be its limit */
    assert_int_equal(kill((pid_t)strtol(text_of("pid"), NULL, 10), 0), -1);
    close_keeper();
}

static void says_what_a_command_that_fails_wrote(void **state)
{
    (void)state;
    put("set-global-scale", "1\n");
    script("deny", "echo 'Permission Denial: not root' >&2; exit 255");
    open_keeper();
    tune("\tsettings\tget\tglobal\tscale\ndeny\t{}", "0");
    expect(QS_TUNE_REFUSED, 0, "1", "Permission Denial: not root");
    tune("\tsettings\tget\tglobal\tscale\nno-such-program\t{}", "0");
    expect(QS_TUNE_MISSING, ENOENT, "1", "");
    tune("\tsettings\tget\tglobal\tscale\ntrue\t{}", "0"); /* succeeds and does nothing */
    expect(QS_TUNE_SET, 0, "1", "");
    order(QS_KEEPER_LOOK, "\tsettings\tget\tglobal\tscale\ntrue\t{}", "0", 0);
    expect(QS_TUNE_SLIPPED, 0, "", "1");
    restore_all();
    close_keeper();
}

/* No shell sees it: what it says is one word of the command that puts it back. */
static void a_value_is_one_word(void **state)
{
    (void)state;
    put("set-global-scale", "$(touch $F/owned); touch owned\n");
    open_keeper();
    tune(SETTING, "a b");
    expect(QS_TUNE_SET, 0, "$(touch $F/owned); touch owned", "");
    assert_string_equal(text_of("set-global-scale"), "a b\n");
    restore_all();
    assert_string_equal(text_of("set-global-scale"), "$(touch $F/owned); touch owned\n");
    assert_int_equal(access("owned", F_OK), -1);
    close_keeper();
}

/* The value may follow a word of what is written; a line may have a word of its own for a value. */
static void takes_the_value_out_of_what_is_written(void **state)
{
    static const char ops[] = "RUN: \tops\tget\tp\nops\tset\tp\t{}\nNo operations.\tdefault";
    (void)state;
    script("ops", "case $1 in get) cat \"$F/ops\";; set) echo \"Uid mode: RUN:  $3; time=+3d\" >\"$F/ops\"; "
                  "echo \"$3\" >\"$F/word\";; esac");
    put("ops", "No operations.\n");
    open_keeper();
    tune(ops, "ignore");
    expect(QS_TUNE_SET, 0, "No operations.", "");
    order(QS_KEEPER_LOOK, ops, "ignore", 0);
    expect(QS_TUNE_SET, 0, "", "ignore");
    restore_all();
    assert_string_equal(text_of("word"), "default\n");
    put("ops", "RUN: allow; time=+1h\n");
    tune(ops, "ignore");
    expect(QS_TUNE_SET, 0, "allow", "");
    restore_all();
    assert_string_equal(text_of("word"), "allow\n");
    close_keeper();
}

static void names_are_for_people(void **state)
{
    char name[64];
    (void)state;
    qs_tool_name(SETTING, name, sizeof name);
    assert_string_equal(name, "settings get global scale");
    qs_tool_name(FIXED, name, sizeof name);
    assert_string_equal(name, "cmd power set-fixed-performance-mode-enabled {}");
    qs_tool_name("x\n\n1\tstart\tit", name, sizeof name);
    assert_string_equal(name, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_and_puts_back),
        cmocka_unit_test(puts_back_that_nothing_was_set),
        cmocka_unit_test(is_put_back_after_a_kill),
        cmocka_unit_test(is_put_back_when_the_lease_ends),
        cmocka_unit_test(is_put_back_after_a_reboot_if_that_did_not),
        cmocka_unit_test(what_cannot_be_asked_is_taken_to_be_as_it_is_said),
        cmocka_unit_test(nothing_is_set_where_what_it_says_is_no_value),
        cmocka_unit_test(one_that_hangs_is_ended),
        cmocka_unit_test(one_whose_agent_is_killed_ends_too),
        cmocka_unit_test(one_that_leaves_somebody_behind_is_cleaned_up),
        cmocka_unit_test(says_what_a_command_that_fails_wrote),
        cmocka_unit_test(a_value_is_one_word),
        cmocka_unit_test(takes_the_value_out_of_what_is_written),
        cmocka_unit_test(names_are_for_people),
    };
    return cmocka_run_group_tests_name("agent.tool", tests, enter, leave_folder);
}
