/* Where a daemon is looked for, how one is started, and what is told of one that fails at once. */
#include "cm.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/client/boot.h"
#include "ctl/client/peer.h"
#include "pages.h"

static char top[] = "/tmp/quiesce-boot-XXXXXX";

/* A file below the test's folder; its path is owned. */
static char *make(const char *name, const char *text, mode_t mode)
{
    char *path = qs_asprintf("%s/%s", top, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void set(const char *name, const char *value)
{
    assert_int_equal(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void the_socket_is_where_it_is_said(void **state)
{
    static const struct {
        const char *given, *env, *runtime, *path;
    } rows[] = {{"/g", "/e", "/r", "/g"},
                {NULL, "/e", "/r", "/e"},
                {NULL, "", "/r", "/r/quiesce/api.sock"},
                {NULL, NULL, "/r", "/r/quiesce/api.sock"},
                {"", NULL, "/r", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_buf path;
        qs_buf_init(&path);
        set("QUIESCE_SOCKET", rows[i].env);
        set("XDG_RUNTIME_DIR", rows[i].runtime);
        assert_true(qs_boot_socket(rows[i].given, &path, &err));
        assert_string_equal(path.data, rows[i].path);
        qs_buf_done(&path);
    }
}

/* Without a folder of the session it is one in /tmp, which nobody else may have made or can open. */
static void a_folder_of_others_is_refused(void **state)
{
    static const char *const runtimes[] = {NULL, "", "relative"};
    static const mode_t modes[] = {0700, 0701, 0710, 0702, 0770};
    char *folder = qs_asprintf("/tmp/quiesce-%u", (unsigned)getuid()),
         *want = qs_asprintf("%s/api.sock", folder);
    (void)state;
    set("QUIESCE_SOCKET", NULL);
    for (size_t i = 0; i < 3 + 5; i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_buf path;
        bool made = i >= 3 && mkdir(folder, 0700) == 0 && chmod(folder, modes[i - 3]) == 0;
        qs_buf_init(&path);
        set("XDG_RUNTIME_DIR", i < 3 ? runtimes[i] : NULL);
        bool ok = qs_boot_socket(NULL, &path, &err);
        assert_string_equal(path.data, want);
        if (made) { /* else somebody works with it */
            assert_int_equal(ok, modes[i - 3] == 0700);
            assert_int_equal(rmdir(folder), 0);
        }
        if (!ok) {
            assert_int_equal(err.code, QS_E_DENIED);
            assert_non_null(strstr(err.text, "is not a folder of mode 0700 that belongs to you"));
        }
        qs_buf_done(&path);
    }
    free(folder);
    free(want);
}

static void the_program_is_found_in_its_places(void **state)
{
    char *good = make("quiesced", "#!/bin/sh\n", 0700), *plain = make("plain", "", 0600), *paths;
    struct {
        const char *given, *path, *found; /* found: NULL: an error */
        const char *says;
    } rows[] = {{good, "", good, NULL},
                {plain, top, NULL, "QUIESCED="},
                {top, top, NULL, " is not a program"},
                {"/no/such", top, NULL, "QUIESCED=/no/such is not a program"},
                {"", top, good, NULL},
                {NULL, top, good, NULL},
                {NULL, "", NULL, "there is no quiesced to start beside ./q, in PATH or in QUIESCED"},
                {NULL, "/no/such:/no/other", NULL, "there is no quiesced to start beside ./q"},
                {NULL, NULL, good, NULL}};
    (void)state;
    paths = qs_asprintf("::/no/such:%s:/no/other", top);
    rows[8].path = paths;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct qs_err err = QS_ERR_INIT;
        struct qs_buf path;
        qs_buf_init(&path);
        set("QUIESCED", rows[i].given);
        set("PATH", rows[i].path);
        bool ok = qs_boot_find("./q", &path, &err);
        assert_int_equal(ok, rows[i].found != NULL);
        if (ok)
            assert_string_equal(path.data, rows[i].found);
        else if (strstr(err.text, rows[i].says) == NULL)
            fail_msg("%zu: %s", i, err.text);
        qs_buf_done(&path);
    }
    set("PATH", "/usr/bin:/bin");
    assert_int_equal(unlink(good), 0);
    free(good);
    free(plain);
    free(paths);
}

/* --- a daemon that ends at once ------------------------------------------------------------------------- */

/* In a process of its own, since each takes two seconds: starts the script, and writes what is told of it. */
static pid_t start(const char *name, const char *script, bool reads, const char *before)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char *program = qs_asprintf("%s/%s.sh", top, name), *state = qs_asprintf("%s/%s.state", top, name);
    char *socket = qs_asprintf("%s/%s.run/deep/api.sock", top, name),
         *out = qs_asprintf("%s/%s.out", top, name);
    char *text = qs_asprintf("#!/bin/sh\n%s\n", script), *own = qs_asprintf("%s.sh", name);
    struct qs_err err = QS_ERR_INIT;
    struct qs_buf tail;
    sigset_t set_of;
    free(make(own, text, 0700));
    set("QUIESCED", program);
    set("XDG_STATE_HOME", state);
    if (before != NULL) {
        char *folder = qs_asprintf("%s.state/quiesce", name), *log = qs_asprintf("%s/quiesced.log", folder);
        char *whole = qs_asprintf("%s/quiesce", state);
        assert_int_equal(mkdir(state, 0700) | mkdir(whole, 0700), 0);
        free(make(log, before, 0600));
        free(folder);
        free(log);
        free(whole);
    }
    signal(SIGPIPE, SIG_IGN);
    signal(SIGINT, SIG_IGN);
    sigemptyset(&set_of);
    sigaddset(&set_of, SIGTERM);
    sigprocmask(SIG_BLOCK, &set_of, NULL);
    qs_buf_init(&tail);
    struct qs_http *http = qs_http_new(socket, &err);
    struct qs_http *reader = reads ? qs_boot_read("./q", &tail, &err) : NULL;
    bool ok = reads ? reader != NULL : qs_boot_start(http, "./q", &tail, &err);
    FILE *f = fopen(out, "w");
    fprintf(f, "%d %s\n%s", (int)ok, err.text, tail.data);
    fclose(f);
    _exit(0);
}

static char *told(const char *name, pid_t pid)
{
    char *path = qs_asprintf("%s/%s.out", top, name);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    char *text = read_file(path);
    assert_non_null(text);
    free(path);
    return text;
}

static const char lines[] = "i=1; while [ $i -le %d ]; do echo line $i >&2; i=$((i + 1)); done; exit %d";
/* What it was started with: words, folder, which of SIGINT and SIGPIPE are ignored, blocked signals below 17,
 * its session, its inputs. */
static const char self[] =
    "echo \"$@\"; pwd; while read -r a b rest; do case $a in SigBlk:) echo $a ${b#????????????};; "
    "SigIgn:) echo $a $((0x${b#????????????} & 0x1002));; esac; done < /proc/self/status; "
    "read -r pid comm s ppid pgrp sid rest < /proc/$$/stat; [ $sid = $$ ] && echo own session; "
    "for n in 0 $([ $1 = --embedded ] || echo 3); do readlink /proc/$$/fd/$n | sed 's/[0-9].*//'; done; exit "
    "4";

static void check_surroundings(pid_t owner, pid_t reader)
{
    char *got = told("self", owner),
         *want = qs_asprintf("0 %s/self.sh ended with exit code 4 before it answered\n"
                             "--embedded --socket %s/self.run/deep/api.sock\n/\n"
                             "SigBlk: 0000\nSigIgn: 0\n"
                             "own session\n/dev/null\n",
                             top, top);
    assert_string_equal(got, want);
    free(got);
    free(want);
    got = told("read", reader);
    want = qs_asprintf("0 %s/read.sh ended with exit code 4 before it answered\n--reading --socket fd:3\n/\n"
                       "SigBlk: 0000\nSigIgn: 0\nown session\npipe:[\nsocket:[\n",
                       top);
    assert_string_equal(got, want);
    free(got);
    free(want);
}

static void what_a_daemon_said_before_it_ended_is_told(void **state)
{
    char many[160], exact[160], few[160], bytes[2049] = "";
    (void)state;
    memset(bytes, 'x', sizeof(bytes) - 1);
    snprintf(many, sizeof(many), lines, 20, 9);
    snprintf(exact, sizeof(exact), lines, 12, 1);
    snprintf(few, sizeof(few), lines, 1, 255);
    const struct {
        const char *name, *script, *before, *why, *tail;
        bool reads;
    } rows[] = {
        {"many", many, NULL, "ended with exit code 9 before it answered",
         "line 9\nline 10\nline 11\nline 12\nline 13\nline 14\nline 15\nline 16\nline 17\nline 18\nline "
         "19\nline 20\n",
         false},
        {"exact", exact, "old\nlines\n", "ended with exit code 1 before it answered",
         "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nline 10\nline 11\nline "
         "12\n",
         false},
        {"few", few, "an old line without its end", "ended with exit code 255 before it answered", "line 1\n",
         false},
        {"killed", "echo last words; kill -9 $$", NULL, "was ended by signal 9 before it answered",
         "last words\n", false},
        {"silent", "exit 2", "old\n", "ended with exit code 2 before it answered", "", false},
        {"open", "printf 'no end'; exit 2", NULL, "ended with exit code 2 before it answered", "no end",
         false},
        {"long", "head -c 3000 /dev/zero | tr '\\0' x; exit 2", "old\n",
         "ended with exit code 2 before it answered", bytes, false},
        {"fits", "head -c 2048 /dev/zero | tr '\\0' x; exit 2", "old\n",
         "ended with exit code 2 before it answered", bytes, false},
        {"reader", few, NULL, "ended with exit code 255 before it answered", "line 1\n", true},
    };
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    pid_t pid[ROWS], owner, reader;
    for (size_t i = 0; i < ROWS; i++)
        pid[i] = start(rows[i].name, rows[i].script, rows[i].reads, rows[i].before);
    owner = start("self", self, false, NULL);
    reader = start("read", self, true, NULL);
    for (size_t i = 0; i < ROWS; i++) {
        char *want = qs_asprintf("0 %s/%s.sh %s\n%s", top, rows[i].name, rows[i].why, rows[i].tail);
        char *got = told(rows[i].name, pid[i]);
        assert_string_equal(got, want);
        free(want);
        free(got);
    }
    check_surroundings(owner, reader);
}

/* The folders that are made for it are the user's alone. */
static void what_is_made_for_it_is_private(void **state)
{
    static const char *const made[] = {"self.run", "self.run/deep", "self.state", "self.state/quiesce",
                                       "self.state/quiesce/quiesced.log"};
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        char *path = qs_asprintf("%s/%s", top, made[i]);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, i < 4 ? 0700 : 0600);
        free(path);
    }
}

/* --- another version ------------------------------------------------------------------------------------ */

static void versions_have_an_order(void **state)
{
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {{"0.1.0", "0.1.0", 0},    {"0.1.0", "0.1.1", -1},
                {"0.1.1", "0.1.0", 1},    {"0.2.0", "0.1.9", 1},
                {"0.9.0", "0.10.0", -1},  {"1.0.0", "0.9.9", 1},
                {"0.9.9", "1.0.0", -1},   {"0.1", "9.9.9", 0},
                {"9.9.9", "0.1", 0},      {"", "", 0},
                {"0.1.0-dev", "0.1.0", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(qs_peer_order(rows[i].a, rows[i].b), rows[i].order);
}

static void what_it_lacks_is_no_mistake_of_ours(void **state)
{
    static const struct {
        const char *error;
        bool lacks;
    } rows[] = {{"{\"error\":{\"code\":\"not-found\",\"routes\":[]}}", true},
                {"{\"error\":{\"code\":\"not-found\",\"routes\":7}}", false},
                {"{\"error\":{\"code\":\"not-found\",\"message\":\"x takes no query; `y`\"}}", false},
                {"{\"error\":{\"code\":\"usage\",\"message\":\"x takes no query; `y`\"}}", true},
                {"{\"error\":{\"code\":\"usage\",\"message\":\"x has no `y` in its query, only: z\"}}", true},
                {"{\"error\":{\"code\":\"usage\",\"message\":\"something else\"}}", false},
                {"{}", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *error = json_loads(rows[i].error, 0, NULL);
        assert_int_equal(qs_peer_lacks(error), rows[i].lacks);
        json_decref(error);
    }
}

static int clean(void **state)
{
    char *command = qs_asprintf("rm -r %s", top);
    (void)state;
    int failed = system(command);
    free(command);
    return failed;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_socket_is_where_it_is_said),
                                       cmocka_unit_test(a_folder_of_others_is_refused),
                                       cmocka_unit_test(the_program_is_found_in_its_places),
                                       cmocka_unit_test(what_a_daemon_said_before_it_ended_is_told),
                                       cmocka_unit_test(what_is_made_for_it_is_private),
                                       cmocka_unit_test(versions_have_an_order),
                                       cmocka_unit_test(what_it_lacks_is_no_mistake_of_ours)};
    (void)argc, (void)argv; /* a folder, which the others take */
    umask(0);
    if (mkdtemp(top) == NULL)
        return 2;
    return cmocka_run_group_tests(tests, NULL, clean);
}
