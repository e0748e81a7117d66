/* A board by ssh, without ssh and the board: a command that runs the script here, with a home of the test's,
 * or one that answers as nobody should. */
#include "link_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "link/link_impl.h"
#include "proto/auth.h"
#include "proto/limits.h"

#define PATIENCE_NS INT64_C(60000000000)

/* What ssh does with its last word, whatever stands before it. */
#define LOGIN "for w; do :; done; exec sh -c \"$w\""
/* What the script says first, with its answer read. */
#define HELLO "echo quiesce-deploy machine x86_64; read -r h n; "

static char folder[] = "/tmp/qs-link-ssh-XXXXXX", home[64], agents[64];

struct qs_timer *__real_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, void (*fn)(void *),
                                       void *user);
struct qs_timer *__wrap_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, void (*fn)(void *),
                                       void *user);

/* Its patience, where that is waited for; everything else takes its time. */
static int64_t patience_ns;
struct qs_timer *__wrap_qs_timer_start(struct qs_loop *loop, int64_t delay_ns, void (*fn)(void *), void *user)
{
    return __real_qs_timer_start(loop, delay_ns == PATIENCE_NS ? patience_ns : delay_ns, fn, user);
}

static int run(const char *fmt, const char *a, const char *b)
{
    char line[1024];
    snprintf(line, sizeof line, fmt, a, b);
    return system(line);
}

/* The agent for whatever this machine is: it says its version, and gives back what it is sent. */
static void write_agent(const char *text)
{
    static const char *const names[] = {"", "-arm64", "-armhf", "-riscv64"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/quiesce-agent-static%s", agents, names[i]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
    }
}

static const char echo_agent[] =
    "#!/bin/sh\ncase $1 in --version) echo quiesce-agent 0;; --stdio) umask >&2; exec cat;; esac\n";

static int group_setup(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(home, sizeof home, "%s/home of a user", folder);
    snprintf(agents, sizeof agents, "%s/agents", folder);
    assert_int_equal(mkdir(home, 0700) | mkdir(agents, 0700), 0);
    return setenv("HOME", home, 1);
}

static int group_teardown(void **state)
{
    (void)state;
    return run("rm -rf '%s'%s", folder, "");
}

static int clean(void **state)
{
    (void)state;
    patience_ns = PATIENCE_NS;
    write_agent(echo_agent);
    assert_int_equal(setenv("HOME", home, 1), 0);
    return run("rm -rf '%s/.cache' && mkdir -p '%s/.cache/quiesce'", home, home);
}

/* Where a board of this text is kept there. */
static void name_there(const char *text, char path[256])
{
    struct qs_sha256 s;
    uint8_t sum[QS_SHA256_BYTES];
    char hex[2 * QS_SHA256_BYTES + 1];
    qs_sha256_init(&s);
    qs_sha256_add(&s, text, strlen(text));
    qs_sha256_final(&s, sum);
    qs_hex(sum, sizeof sum, hex);
    snprintf(path, 256, "%s/.cache/quiesce/quiesce-agent-%s", home, hex);
}

static void start(struct fixture *f, const char *script)
{
    char *words[] = {(char *)"sh", (char *)"-c", (char *)script, (char *)"ssh"};
    const struct qs_farm_device device = {.name = (char *)"board",
                                          .link = QS_LINK_SSH,
                                          .argv = {.at = words, .count = 4},
                                          .host = (char *)"user@board",
                                          .agents = agents};
    fixture_init(f, &device);
    assert_true(fixture_open(f));
    qs_loop_run(f->loop);
}

static void comes_up(struct fixture *f, const char *script)
{
    start(f, script);
    if (f->ups != 1 || f->downs != 0)
        fail_msg("it is not up: %s", f->why.text);
}

/* Returns how many bytes went there before the first of the session. */
static uint64_t talks(const char *script)
{
    struct fixture f;
    struct qs_link_counters before;
    comes_up(&f, script);
    qs_link_counters(f.link, &before);
    f.want = 5;
    fixture_send(&f, "hello", 5);
    qs_loop_run(f.loop);
    assert_string_equal(f.got.data, "hello");
    fixture_done(&f);
    return before.bytes_out;
}

static char last_why[QS_ERR_TEXT_BYTES];

static void fails(const char *script, enum qs_errc code, const char *const *parts)
{
    struct fixture f;
    start(&f, script);
    assert_int_equal(f.ups, 0);
    assert_int_equal(f.downs, 1);
    for (size_t i = 0; parts[i]; i++) {
        if (f.why.code != code || !strstr(f.why.text, parts[i]))
            fail_msg("%s: %s \"%s\" is not %s \"%s\"", script, qs_errc_slug(f.why.code), f.why.text,
                     qs_errc_slug(code), parts[i]);
    }
    snprintf(last_why, sizeof last_why, "%s", f.why.text);
    fixture_done(&f);
}

#define FAILS(script, code, ...) fails(script, code, (const char *const[]){__VA_ARGS__, NULL})

static void the_agent_is_brought_once(void **state)
{
    (void)state;
    enum { ANSWER = 64 + 1 + 4 + 1 }; /* the hash, its length, at most */
    char path[256], other[300];
    struct stat st;
    snprintf(other, sizeof other, "%s/.cache/quiesce/quiesce-agent-0123", home);
    assert_int_equal(run("rm -r '%s/.cache'%s", home, ""), 0);
    assert_true(talks(LOGIN) > strlen(echo_agent));
    snprintf(path, sizeof path, "%s/.cache/quiesce", home);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700); /* nobody else's to write */
    name_there(echo_agent, path);
    assert_int_equal(run("rm '%s' && touch '%s'", path, other), 0);
    assert_in_range(talks(LOGIN), strlen(echo_agent) + 65, strlen(echo_agent) + ANSWER);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(st.st_size, strlen(echo_agent));
    assert_int_equal(access(other, F_OK), -1); /* of another version */
    assert_int_equal(run("[ \"$(ls '%s/.cache/quiesce' | wc -l)\" -eq 1 ]%s", home, ""), 0);
    assert_in_range(talks(LOGIN), 65, ANSWER);
    assert_in_range(talks(LOGIN), 65, ANSWER);
}

/* By its size, and where the board has sha256sum by its content. */
static void one_that_is_not_whole_is_brought_again(void **state)
{
    (void)state;
    char path[256];
    const uint64_t whole = strlen(echo_agent);
    name_there(echo_agent, path);
    assert_true(talks(LOGIN) > whole);
    assert_int_equal(run("truncate -s 20 '%s'%s", path, ""), 0);
    assert_true(talks(LOGIN) > whole);
    assert_int_equal(run("printf X | dd of='%s' bs=1 seek=30 conv=notrunc 2>/dev/null%s", path, ""), 0);
    assert_true(talks(LOGIN) > whole);
    assert_true(talks(LOGIN) < whole);
    write_agent("#!/bin/sh\n# another\ncase $1 in --version) echo quiesce-agent 1;; *) exec cat;; esac\n");
    assert_true(talks(LOGIN) > 65 + 70);
    assert_int_equal(access(path, F_OK), -1);
}

/* Without sha256sum the size has to do. The agent is private, but runs with the mask that the login has. */
static void a_board_may_have_little(void **state)
{
    (void)state;
    static const char told[] =
        "#!/bin/sh\n# ...\ncase $1 in --version) echo quiesce-agent 0;; *) umask; exec cat;; esac\n";
    char script[512], path[256];
    struct fixture f;
    assert_int_equal(run("mkdir -p '%s/bin'; for t in sh uname wc head mkdir chmod mv rm tr cat; do "
                         "ln -sf \"$(command -v $t)\" '%s/bin'; done",
                         folder, folder),
                     0);
    snprintf(script, sizeof script, "umask 0026; PATH=%s/bin; export PATH; " LOGIN, folder);
    write_agent(told);
    name_there(told, path);
    for (int time = 0; time < 2; time++) {
        struct qs_link_counters sent;
        comes_up(&f, script);
        qs_link_counters(f.link, &sent);
        assert_true(time == 0 ? sent.bytes_out > strlen(told) : sent.bytes_out < strlen(told));
        f.want = 10;
        fixture_send(&f, "hello", 5);
        qs_loop_run(f.loop);
        assert_string_equal(f.got.data, "0026\nhello");
        fixture_done(&f);
        assert_int_equal(run("printf x | dd of='%s' bs=1 seek=13 conv=notrunc 2>/dev/null%s", path, ""), 0);
    }
}

static void a_banner_is_told_with_the_agents_first_bytes(void **state)
{
    (void)state;
    static const char *const banners[] = {"Last login: Monday\nmail\n", "no end of line", "quiesce-deploy",
                                          "\n"};
    for (size_t i = 0; i < sizeof banners / sizeof *banners; i++) {
        struct fixture f;
        char script[256], want[64];
        snprintf(script, sizeof script, "printf '%s'; " LOGIN, banners[i]);
        comes_up(&f, script);
        assert_int_equal(f.got.len, 0);
        snprintf(want, sizeof want, "%shello", banners[i]);
        f.want = strlen(want);
        fixture_send(&f, "hello", 5);
        qs_loop_run(f.loop);
        assert_string_equal(f.got.data, want);
        fixture_send(&f, "again", 5); /* told once */
        f.want += 5;
        qs_loop_run(f.loop);
        assert_string_equal(f.got.data + strlen(want), "again");
        qs_link_close(f.link);
        qs_loop_run(f.loop);
        fixture_done(&f);
    }
}

static void a_banner_is_bounded(void **state)
{
    (void)state;
    struct fixture f;
    comes_up(&f, "head -c 65536 /dev/zero | tr '\\0' x; " LOGIN);
    f.want = 65541;
    fixture_send(&f, "hello", 5);
    qs_loop_run(f.loop);
    assert_int_equal(f.got.len, 65541);
    fixture_done(&f);
    FAILS("echo Welcome; head -c 65529 /dev/zero | tr '\\0' x; " LOGIN, QS_E_PROTOCOL,
          "board: its shell does not answer as it was asked to: Welcome");
}

static void answers_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char wrong[] = "board: its shell does not answer as it was asked to: ";
    static const struct {
        const char *script, *quoted;
    } cases[] = {
        {"echo 'quiesce-deploy machine $(reboot)'; sleep 60", "machine $(reboot)"},
        {"echo quiesce-deploy machine; sleep 60", "machine"},
        {"echo quiesce-deploy machine 0123456789012345678901234567890123; sleep 60", "machine 0123456789"},
        {"printf 'quiesce-deploy machine x86_64\\0\\n'; sleep 60", "machine x86_64\\x00"},
        {"echo quiesce-deploy want; sleep 60", "want"},
        {"echo quiesce-deploy ready; sleep 60", "ready"},
        {"echo quiesce-deploy no room; sleep 60", "no room"},
        {HELLO "echo hello; sleep 60", "hello"},
        {HELLO "printf quiesce_; sleep 60", "quiesce_"},
        {HELLO "echo quiesce-deploy machine x86_64; sleep 60", "machine x86_64"},
        {HELLO "echo quiesce-deploy readyness; sleep 60", "readyness"},
        {HELLO "echo quiesce-deploy want; echo quiesce-deploy want; sleep 60", "want"},
        {HELLO "echo quiesce-deploy want; echo; sleep 60", ""},
        {"printf quiesce-deploy\\ ; head -c 1100 /dev/zero | tr '\\0' x; sleep 60", "quiesce-deploy xxxx"},
        {HELLO "printf quiesce-deploy\\ ; head -c 1100 /dev/zero | tr '\\0' x; sleep 60",
         "quiesce-deploy xxxx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        FAILS(cases[i].script, QS_E_PROTOCOL, wrong, cases[i].quoted);
}

static void what_keeps_it_from_running_is_told(void **state)
{
    (void)state;
    write_agent("#!/no/such/interpreter\n");
    FAILS(LOGIN, QS_E_AGENT, "board: cannot run ", "/.cache/quiesce/quiesce-agent-", "not found");
    write_agent("#!/bin/sh\nprintf 'one\\ntwo\\n'\n");
    FAILS(LOGIN, QS_E_AGENT, "board: cannot run ", ": one two");
    clean(NULL);
    assert_int_equal(setenv("HOME", "/dev/null", 1), 0);
    FAILS(LOGIN, QS_E_AGENT, "board: cannot write /dev/null/.cache/quiesce/quiesce-agent-",
          "/dev/null/.cache");
    FAILS(HELLO "echo 'quiesce-deploy no cannot run x: sh: 1: x: Permission denied'; sleep 60", QS_E_SPACE,
          "board: cannot run x: sh: 1: x: Permission denied; its user needs a home that can be written, on a "
          "file "
          "system that is not mounted noexec");
    FAILS(HELLO "echo 'quiesce-deploy no x: No space left on device'; sleep 60", QS_E_SPACE,
          "x: No space left on device; free space");
    FAILS(HELLO "echo 'quiesce-deploy no a:  '; sleep 60", QS_E_AGENT, "board: a:");
    assert_string_equal(last_why, "board: a:");
    FAILS(HELLO "echo quiesce-deploy no \"$(printf 'a\\033b')\"; sleep 60", QS_E_AGENT, "board: a\\x1bb");
    FAILS("echo quiesce-deploy machine mips64; sleep 60", QS_E_CONFIG,
          "board: there is no agent for the ABI `mips64`");
    assert_int_equal(run("truncate -s 1000000 '%s/quiesce-agent-static'%s", agents, ""), 0);
    FAILS(HELLO "echo \"quiesce-deploy no $n\"; sleep 60", QS_E_AGENT, "board: 1000000");
    assert_int_equal(run("truncate -s 1000001 '%s/quiesce-agent-static'%s", agents, ""), 0);
    FAILS(HELLO, QS_E_CONFIG, "board: the agent for x86_64 has 1000001 bytes, more than the 1000000");
    assert_int_equal(run("rm '%s'/*%s", agents, ""), 0);
    FAILS("echo quiesce-deploy machine aarch64; sleep 60", QS_E_CONFIG, "the agent for arm64 is not here",
          "`./dev agent arm64` builds it");
}

static void what_ssh_says_comes_with_advice(void **state)
{
    (void)state;
    static const struct {
        const char *said, *advice;
    } cases[] = {
        {"Host key verification failed.",
         "; its host key is not known here, or is another one than before: log in "},
        {"me@board: Permission denied (publickey,password).",
         "; it does not let us in without asking: give it a key"},
        {"ssh: Could not resolve hostname x: Name or service not known",
         "; correct `host`, or say in ~/.ssh/config"},
        {"ssh: connect to host x port 22: Connection refused", "; it is there, but no sshd listens"},
        {"ssh: connect to host x port 22: Connection timed out", "; is it on"},
        {"ssh: connect to host x port 22: No route to host", "; is it on"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char script[256], said[256];
        snprintf(script, sizeof script, "echo '%s' >&2; exit 255", cases[i].said);
        snprintf(said, sizeof said, "sh ended with exit code 255: %s", cases[i].said);
        FAILS(script, QS_E_LINK, said, cases[i].advice);
    }
    FAILS("echo 'This account is not available.'; exit 1", QS_E_LINK,
          "sh ended with exit code 1; it said instead: This account is not available.");
    FAILS(HELLO "exit 7", QS_E_LINK, "sh ended with exit code 7");
    FAILS(HELLO "printf qui; exit 7", QS_E_LINK, "sh ended with exit code 7; it said instead: qui");
}

static void stop(void *loop)
{
    qs_loop_stop(loop);
}

static void it_is_given_up(void **state)
{
    (void)state;
    patience_ns = 1000000000;
    FAILS("echo Welcome; sleep 60", QS_E_LINK,
          "board: no agent runs there after 60 s; it said instead: Welcome");
    FAILS(HELLO "sleep 60", QS_E_LINK, "board: no agent runs there after 60 s");
    FAILS(HELLO "echo quiesce-deploy want; sleep 60", QS_E_LINK, "board: no agent runs there after 60 s");
    struct fixture f;
    patience_ns = 5000000000;
    comes_up(&f, LOGIN);
    __real_qs_timer_start(f.loop, patience_ns + 300000000, stop, f.loop); /* no longer, once it is up */
    qs_loop_run(f.loop);
    assert_int_equal(f.downs, 0);
    fixture_done(&f);
}

/* What comes last in its words; nothing may ask, and nothing speaks into a window. */
static void ssh_is_told_not_to_ask(void **state)
{
    (void)state;
    struct fixture f;
    static const char *const words[] = {"-T",
                                        "-oBatchMode=yes",
                                        "-oServerAliveInterval=0",
                                        "-oTCPKeepAlive=no",
                                        "-oControlMaster=no",
                                        "-oControlPath=none",
                                        "user@board",
                                        NULL};
    comes_up(&f, "for w; do [ \"${w#exec}\" = \"$w\" ] && printf '%s\\n' \"$w\"; done; " LOGIN);
    f.want = 5;
    fixture_send(&f, "hello", 5);
    qs_loop_run(f.loop);
    for (size_t i = 0; words[i]; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s\n", words[i]);
        assert_non_null(strstr(f.got.data, line));
    }
    assert_non_null(strstr(f.got.data, "\nuser@board\nhello"));
    fixture_done(&f);
}

static void it_may_be_freed_in_any_callback(void **state)
{
    (void)state;
    char *words[] = {(char *)"sh", (char *)"-c", (char *)"printf banner; " LOGIN, (char *)"ssh"};
    struct qs_farm_device device = {
        .link = QS_LINK_SSH, .argv = {.at = words, .count = 4}, .host = (char *)"b", .agents = agents};
    for (int which = 0; which < 3; which++) {
        struct fixture f;
        words[2] = which == 2 ? (char *)"echo quiesce-deploy machine mips" : (char *)"printf banner; " LOGIN;
        fixture_init(&f, &device);
        f.greeting = "hello";
        f.at_up = which == 0 ? DO_FREE : DO_NOTHING;
        f.at_bytes = which == 1 ? DO_FREE : DO_NOTHING;
        f.at_down = DO_FREE;
        assert_true(fixture_open(&f));
        qs_loop_run(f.loop);
        assert_null(f.link);
        assert_int_equal(f.ups, which != 2);
        fixture_done(&f);
    }
}

static void a_host_is_a_word(void **state)
{
    (void)state;
    static const char *const good[] = {"board", "me@board", "10.0.0.7", "ssh://me@board:2222", "b\xc3\xa9"},
                             *const bad[] = {"", "-oProxyCommand=reboot", "a b", "a\tb", "a\nb", "a\x7f"};
    const char *key = "address";
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const struct qs_farm_device device = {.link = QS_LINK_SSH, .host = (char *)good[i]};
        assert_true(qs_link_check_address(&device, &key, NULL));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct qs_farm_device device = {.link = QS_LINK_SSH, .host = (char *)bad[i]};
        struct qs_err err = QS_ERR_INIT;
        assert_false(qs_link_check_address(&device, &key, &err));
        assert_int_equal(err.code, QS_E_CONFIG);
        assert_string_equal(key, "host");
        assert_non_null(strstr(err.text, "is no host as ssh takes it: write NAME or USER@NAME"));
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, clean)
    const struct CMUnitTest tests[] = {
        CASE(the_agent_is_brought_once),
        CASE(one_that_is_not_whole_is_brought_again),
        CASE(a_board_may_have_little),
        CASE(a_banner_is_told_with_the_agents_first_bytes),
        CASE(a_banner_is_bounded),
        CASE(answers_that_are_none_are_refused),
        CASE(what_keeps_it_from_running_is_told),
        CASE(what_ssh_says_comes_with_advice),
        CASE(it_is_given_up),
        CASE(ssh_is_told_not_to_ask),
        CASE(it_may_be_freed_in_any_callback),
        CASE(a_host_is_a_word),
    };
    return cmocka_run_group_tests_name("link ssh", tests, group_setup, group_teardown);
}
