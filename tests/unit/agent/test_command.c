/* The commands of a run as the wire says them: words, executables, standard input, processors; what a harness
 * program is given besides. */
#include "folder.h"
#include "linux/aside.h"
#include "linux/command.h"
#include "linux/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { LIST_BYTES = 1 << 20 };

static struct qs_commands commands;
static struct qs_port_fault fault;
static cpu_set_t allowed;

static int group_setup(void **state)
{
    if (enter_folder(state) != 0) {
        return -1;
    }
    return system("mkdir -p a b/deep c; printf '#!/bin/sh\\n' >b/tool; chmod 755 b/tool; cp b/tool a/plain; "
                  "chmod 644 a/plain;"
                  "mkdir c/plain c/tool; cp b/tool c/own; printf in >input; ln -s b/tool here");
}

static struct qs_list list_of(const char *const *texts)
{
    static uint8_t memory[4][LIST_BYTES];
    static size_t next;
    struct qs_build b;
    qs_build_init(&b, memory[next++ % 4], LIST_BYTES);
    for (; texts && *texts; texts++) {
        assert_true(qs_build_text(&b, qs_text_of(*texts)));
    }
    return qs_build_list(&b);
}

struct words {
    const char *const *argv, *const *env, *const *prepare, *const *conclude;
    const char *cwd, *user, *cpus, *stdin_path, *output_path;
};

static bool take(const struct words *w)
{
    const struct qs_msg_run_begin run = {.argv = list_of(w->argv),
                                         .env = list_of(w->env),
                                         .prepare = list_of(w->prepare),
                                         .conclude = list_of(w->conclude),
                                         .cwd = qs_text_of(w->cwd),
                                         .user = qs_text_of(w->user),
                                         .cpus = qs_text_of(w->cpus),
                                         .stdin_kind = w->stdin_path ? QS_STDIN_FILE : QS_STDIN_NULL,
                                         .stdin_path = qs_text_of(w->stdin_path),
                                         .output_kind =
                                             w->output_path ? QS_OUTPUT_KIND_FILE : QS_OUTPUT_KIND_APART,
                                         .output_path = qs_text_of(w->output_path),
                                         .output_max_bytes = 77};
    CPU_ZERO(&allowed);
    CPU_SET(0, &allowed);
    CPU_SET(3, &allowed);
    fault = (struct qs_port_fault){.code = 0};
    return qs_commands_of_run(&commands, &run, &allowed, &fault);
}

static void refuses(const struct words *w, enum qs_wire_code code, int error, const char *why)
{
    assert_false(take(w));
    assert_int_equal(fault.blame, QS_WIRE_BLAME_OPERATOR);
    assert_int_equal(fault.wire_code, code);
    assert_int_equal(fault.code, error);
    if (!strstr(fault.text, why)) {
        fail_msg("'%s' does not say '%s'", fault.text, why);
    }
    assert_int_equal(commands.cwd_fd, AT_FDCWD);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* As a shell finds them: the first that can be executed, folders left out. */
static void finds_executables(void **state)
{
    static const struct {
        const char *name, *path, *found; /* NULL: it is refused, in these words */
        int error;
        const char *why;
    } cases[] = {
        {"tool", "PATH=a:b", "b/tool", 0, ""},
        {"tool", "PATH=c:b", "b/tool", 0, ""},
        {"here", "PATH=a::b", "./here", 0, ""},
        {"here", "PATH=a:", "./here", 0, ""},
        {"b/tool", "PATH=a", "b/tool", 0, ""},
        {"tool", "PATH=a", NULL, ENOENT, "no program 'tool' in PATH (a): give its path, or set PATH in env"},
        {"plain", "PATH=a:b", NULL, EACCES, "'plain' is not executable: try chmod +x"},
        {"plain", "PATH=c:b", NULL, ENOENT, "no program 'plain' in PATH (c:b)"},
        {"a/plain", "PATH=b", NULL, EACCES, "'a/plain' is not executable"},
        {"b/deep", "PATH=b", NULL, EISDIR, "'b/deep' is a folder or a device, not a program"},
        {"x/y", "PATH=b", NULL, ENOENT, "no file 'x/y', seen from the agent's directory"},
        {"/x/y", "PATH=b", NULL, ENOENT, "no file '/x/y'"},
        {"tool -v", "PATH=b", NULL, ENOENT, "is it a whole command line where a list of arguments belongs?"},
        {"", "PATH=b", NULL, ENOENT, "no program ''"},
        {"sh", "HOME=/", "/usr/bin/sh", 0, ""}};
    char text[QS_PORT_PATH_BYTES], whole[300];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct words w = {.argv = WORDS(cases[i].name), .env = WORDS("APATH=b", cases[i].path)};
        if (!cases[i].found) {
            refuses(&w, QS_CODE_EXECUTABLE, cases[i].error, cases[i].why);
            continue;
        }
        assert_true(take(&w));
        assert_string_equal(commands.iteration.path, cases[i].found);
        qs_commands_executable(&commands, &commands.iteration, text, sizeof text);
        const char *name = strncmp(cases[i].found, "./", 2) == 0 ? cases[i].found + 2 : cases[i].found;
        snprintf(whole, sizeof whole, "%s%s%s", name[0] == '/' ? "" : folder, name[0] == '/' ? "" : "/",
                 name);
        assert_string_equal(text, whole);
        qs_commands_close(&commands);
    }
    static char longest[QS_PORT_PATH_BYTES + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    refuses(&(struct words){.argv = WORDS(longest)}, QS_CODE_EXECUTABLE, ENAMETOOLONG, "no file '/xxx");
    longest[0] = 'x'; /* no folder has room for it */
    refuses(&(struct words){.argv = WORDS(longest), .env = WORDS("PATH=b")}, QS_CODE_EXECUTABLE, ENOENT,
            "in PATH (b)");
    refuses(&(struct words){.argv = NULL}, QS_CODE_EXECUTABLE, ENOENT, "no program ''");
}

/* Seen from the job's directory. */
static void works_in_a_directory(void **state)
{
    char text[QS_PORT_PATH_BYTES], whole[300], there[200];
    (void)state;
    assert_true(take(&(struct words){.argv = WORDS("./tool"), .cwd = "b"}));
    assert_true(commands.cwd_fd >= 0);
    qs_commands_executable(&commands, &commands.iteration, text, sizeof text);
    snprintf(whole, sizeof whole, "%s/b/tool", folder);
    assert_string_equal(text, whole);
    qs_commands_close(&commands);
    assert_null(commands.iteration.argv);
    snprintf(there, sizeof there, "%s/b", folder);
    assert_true(take(&(struct words){.argv = WORDS("tool"), .env = WORDS("PATH=."), .cwd = there}));
    qs_commands_executable(&commands, &commands.iteration, text, sizeof text);
    assert_string_equal(text, whole);
    qs_commands_close(&commands);
    refuses(&(struct words){.argv = WORDS("x/y"), .cwd = "b"}, QS_CODE_EXECUTABLE, ENOENT,
            "no file 'x/y', seen from b");
    refuses(&(struct words){.argv = WORDS("tool"), .cwd = "nowhere"}, QS_CODE_UNSUPPORTED, ENOENT,
            "cannot work in the directory 'nowhere': No such file or directory");
    refuses(&(struct words){.argv = WORDS("tool"), .cwd = "input"}, QS_CODE_UNSUPPORTED, ENOTDIR, "'input'");
}

static void keeps_every_word(void **state)
{
    (void)state;
    assert_true(take(&(struct words){.argv = WORDS("b/tool", "", "two words"),
                                     .env = WORDS("A=1", "PATH=b", "EMPTY="),
                                     .prepare = WORDS("tool", "p"),
                                     .conclude = WORDS("./here", "c", "d")}));
    assert_string_equal(commands.iteration.argv[0], "b/tool");
    assert_string_equal(commands.iteration.argv[1], "");
    assert_string_equal(commands.iteration.argv[2], "two words");
    assert_null(commands.iteration.argv[3]);
    assert_string_equal(commands.envp[0], "A=1");
    assert_string_equal(commands.envp[2], "EMPTY=");
    assert_null(commands.envp[3]);
    assert_string_equal(commands.prepare.path, "b/tool");
    assert_string_equal(commands.prepare.argv[1], "p");
    assert_string_equal(commands.conclude.argv[2], "d");
    assert_null(commands.conclude.argv[3]);
    assert_true(commands.capture && commands.apart);
    assert_int_equal(commands.output_max_bytes, 77);
    assert_false(commands.pinned || commands.has_identity);
    assert_null(commands.stdin_path);
    assert_null(commands.output_path);
    qs_commands_close(&commands);
    assert_true(take(&(struct words){.argv = WORDS("b/tool")}));
    assert_null(commands.prepare.argv);
    assert_null(commands.conclude.argv);
    qs_commands_close(&commands);
    for (int at = 0; at < 2; at++) { /* of a hook, one that is not there */
        refuses(&(struct words){.argv = WORDS("b/tool"),
                                .prepare = at ? NULL : WORDS("none"),
                                .conclude = at ? WORDS("none") : NULL},
                QS_CODE_EXECUTABLE, ENOENT, "no program 'none'");
    }
}

/* Who is run as somebody else has that one's home; what the job says itself stays. */
static void has_the_home_of_its_user(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        refuses(&(struct words){.argv = WORDS("b/tool"), .user = "54321"}, QS_CODE_UNSUPPORTED, EPERM,
                "only root's can run as others");
        return;
    }
    assert_true(take(
        &(struct words){.argv = WORDS("b/tool"), .env = WORDS("USERS=x", "SHELL=mine"), .user = "54321"}));
    assert_true(commands.has_identity);
    static const char *const wanted[] = {"USERS=x", "SHELL=mine", "HOME=/", "USER=54321", "LOGNAME=54321"};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(commands.envp[i], wanted[i]);
    }
    assert_null(commands.envp[5]);
    qs_commands_close(&commands);
    assert_true(
        take(&(struct words){.argv = WORDS("b/tool"), .user = "root"})); /* who we are: no other identity */
    assert_false(commands.has_identity);
    assert_string_equal(commands.envp[0], "HOME=/root");
    qs_commands_close(&commands);
    refuses(&(struct words){.argv = WORDS("b/tool"), .user = "no-such-user"}, QS_CODE_UNSUPPORTED, ENOENT,
            "there is no user 'no-such-user' on this device");
}

static void pins_to_what_is_there(void **state)
{
    char text[64];
    (void)state;
    assert_true(take(&(struct words){.argv = WORDS("b/tool"), .cpus = "0-2"}));
    assert_true(commands.pinned);
    qs_cpus_print(&commands.cpus, text, sizeof text);
    assert_string_equal(text, "0");
    qs_commands_close(&commands);
    refuses(&(struct words){.argv = WORDS("b/tool"), .cpus = "1-2"}, QS_CODE_UNSUPPORTED, EINVAL,
            "cpus '1-2': none of them is there; this agent may use 0,3");
    refuses(&(struct words){.argv = WORDS("b/tool"), .cpus = "0;3"}, QS_CODE_UNSUPPORTED, EINVAL,
            "cpus '0;3': not a list such as 0-3,6; this agent may use 0,3");
}

static void opens_what_is_read_and_written(void **state)
{
    struct qs_places places;
    struct stat st;
    char text[8] = "";
    (void)state;
    assert_true(take(&(struct words){
        .argv = WORDS("./tool"), .cwd = "b", .stdin_path = "../input", .output_path = "made"}));
    for (int again = 0; again < 2; again++) { /* from the beginning, and into nothing */
        assert_true(qs_places_open(&places, &commands, &fault));
        assert_int_equal(fcntl(places.in_fd, F_GETFL) & O_NONBLOCK, 0);
        assert_int_equal(fcntl(places.out_fd, F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_WRONLY);
        assert_int_equal(read(places.in_fd, text, sizeof text), 2);
        assert_string_equal(text, "in");
        assert_int_equal(stat("b/made", &st), 0);
        assert_int_equal(st.st_size, 0);
        assert_int_equal(write(places.out_fd, "out", 3), 3);
        qs_places_close(&places);
        assert_int_equal(fcntl(places.in_fd, F_GETFL), -1);
        assert_int_equal(fcntl(places.out_fd, F_GETFL), -1);
    }
    qs_commands_close(&commands);
    assert_true(take(
        &(struct words){.argv = WORDS("b/tool"), .stdin_path = "/dev/zero", .output_path = "/dev/null"}));
    qs_commands_close(&commands);
    assert_true(take(&(struct words){.argv = WORDS("b/tool")}));
    assert_true(qs_places_open(&places, &commands, &fault)); /* nothing was asked for */
    assert_int_equal(places.in_fd, -1);
    assert_int_equal(places.out_fd, -1);
    qs_commands_close(&commands);
}

static void says_what_cannot_be_read_or_written(void **state)
{
    (void)state;
    refuses(&(struct words){.argv = WORDS("b/tool"), .stdin_path = "nowhere"}, QS_CODE_UNSUPPORTED, ENOENT,
            "cannot read standard input from 'nowhere': No such file or directory");
    refuses(&(struct words){.argv = WORDS("./tool"), .cwd = "b", .stdin_path = "x"}, QS_CODE_UNSUPPORTED,
            ENOENT, "cannot read standard input from 'x', seen from b: No such");
    refuses(&(struct words){.argv = WORDS("./tool"), .cwd = "b", .stdin_path = "/x"}, QS_CODE_UNSUPPORTED,
            ENOENT, "from '/x': No such");
    refuses(&(struct words){.argv = WORDS("b/tool"), .stdin_path = "b"}, QS_CODE_UNSUPPORTED, EINVAL,
            "'b': it is neither a file nor a device");
    assert_int_equal(mkfifo("fifo", 0600), 0);
    refuses(&(struct words){.argv = WORDS("b/tool"), .stdin_path = "fifo"}, QS_CODE_UNSUPPORTED, EINVAL,
            "it is neither");
    refuses(&(struct words){.argv = WORDS("b/tool"), .output_path = "nowhere/out"}, QS_CODE_UNSUPPORTED,
            ENOENT, "cannot write standard output to 'nowhere/out': No such file or directory");
    refuses(&(struct words){.argv = WORDS("b/tool"), .output_path = "b"}, QS_CODE_UNSUPPORTED, EISDIR,
            "cannot write standard output to 'b'");
    refuses(&(struct words){.argv = WORDS("b/tool"), .stdin_path = "nowhere", .output_path = "never"},
            QS_CODE_UNSUPPORTED, ENOENT, "'nowhere'");
    assert_int_equal(access("never", F_OK), -1); /* nothing is made for what cannot begin */
}

static void hooks_are_commands_too(void **state)
{
    const struct qs_msg_hook hook = {.argv = list_of(WORDS("b/tool", "x")), .output_max_bytes = 9},
                             none = {.argv = list_of(WORDS("none"))};
    (void)state;
    assert_true(qs_commands_of_hook(&commands, &hook, &fault));
    assert_string_equal(commands.iteration.argv[1], "x");
    assert_true(commands.capture && !commands.apart);
    assert_int_equal(commands.output_max_bytes, 9);
    qs_commands_close(&commands);
    assert_false(qs_commands_of_hook(&commands, &none, &fault));
    assert_int_equal(fault.wire_code, QS_CODE_EXECUTABLE);
    assert_null(commands.iteration.argv);
}

static bool prepare_harness(struct qs_linux_harness *h, uint32_t pad_bytes)
{
    const struct qs_msg_run_begin run = {.harness = {.capacity = 5, .environment_bytes = pad_bytes}};
    return qs_harness_open(h, &run, CLOCK_MONOTONIC, &commands, &fault);
}

/* The job's environment without anybody's old descriptor, with ours, and the padding that the layout asks
 * for. */
static void gives_a_program_what_it_needs(void **state)
{
    static struct qs_linux_harness h;
    (void)state;
    qs_harness_init(&h);
    assert_true(take(&(struct words){.argv = WORDS("b/tool"),
                                     .env = WORDS("QUIESCE_BENCH_FD=9", "QUIESCE_BENCH_FDS=9", "A=1")}));
    assert_true(prepare_harness(&h, 5));
    const char *ours = NULL, *pad = NULL;
    size_t n = 0;
    for (char *const *e = commands.envp; *e; e++, n++) {
        assert_string_not_equal(*e, "QUIESCE_BENCH_FD=9");
        ours = strncmp(*e, "QUIESCE_BENCH_FD=", 17) == 0 ? *e : ours;
        pad = strncmp(*e, "QUIESCE_LAYOUT=", 15) == 0 ? *e : pad;
    }
    assert_int_equal(n, 4);
    assert_string_equal(ours, "QUIESCE_BENCH_FD=3");
    assert_string_equal(pad, "QUIESCE_LAYOUT=xxxxx");
    assert_true(h.wake_fd >= 16 && h.waker_fd >= 16 && h.memory_fd >= 16);
    assert_int_equal(fcntl(h.wake_fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    int wake_fd = h.wake_fd;
    qs_harness_close(&h);
    assert_int_equal(h.wake_fd, -1);
    assert_int_equal(fcntl(wake_fd, F_GETFL), -1);
    qs_commands_close(&commands);
    assert_true(take(&(struct words){.argv = WORDS("b/tool"), .cpus = "0,3"}));
    assert_true(prepare_harness(&h, 0));
    for (char *const *e = commands.envp; *e; e++) {
        assert_int_not_equal(strncmp(*e, "QUIESCE_LAYOUT", 14), 0);
    }
    qs_harness_close(&h);
    qs_commands_close(&commands);
}

/* The run has its processors, the agent what is left of those that it may use, until it is back. */
static void parts_the_processors(void **state)
{
    struct qs_aside aside = {.on = false};
    cpu_set_t before, now, real;
    char text[64];
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_true(take(&(struct words){.argv = WORDS("b/tool")}));
    real = before;
    bool parted = qs_aside_step(&aside, &commands, &real);
    assert_int_equal(parted, CPU_COUNT(&before) > 1);
    assert_true(commands.pinned);
    assert_int_equal(CPU_COUNT(&commands.cpus), CPU_COUNT(&before) > 1 ? CPU_COUNT(&before) - 1 : 1);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    if (parted) { /* the lowest is the agent's */
        size_t lowest = 0;
        while (!CPU_ISSET(lowest, &before)) {
            lowest++;
        }
        assert_int_equal(CPU_COUNT(&now), 1);
        assert_true(CPU_ISSET(lowest, &now));
        assert_false(CPU_ISSET(lowest, &commands.cpus));
    }
    qs_aside_back(&aside);
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&before, &now));
    qs_commands_close(&commands);
    assert_true(take(&(struct words){.argv = WORDS("b/tool"), .cpus = "0,3"}));
    assert_false(qs_aside_step(&aside, &commands, &allowed)); /* nothing is left */
    assert_int_equal(sched_getaffinity(0, sizeof now, &now), 0);
    assert_true(CPU_EQUAL(&before, &now));
    qs_cpus_print(&commands.cpus, text, sizeof text);
    assert_string_equal(text, "0,3");
    qs_commands_close(&commands);
}

static const char *many[QS_WORDS_MAX + 2];
static const char *const tool[] = {"b/tool", NULL};

/* A run whose environment has so many variables, and none but these. */
static struct words of_many(size_t count, const char *const *prepare)
{
    for (size_t i = 0; i < QS_WORDS_MAX; i++) {
        many[i] = i < count ? "A=1" : NULL;
    }
    return (struct words){.argv = tool, .env = many, .prepare = prepare};
}

/* A list ends with a NULL: so many words, and one more, and so many bytes. */
static void words_have_their_bounds(void **state)
{
    static const char whole[] = "the command and its environment are too long",
                      hooks[] = "the commands are too long";
    static char longest[60001];
    char *rest = longest;
    size_t used = strlen("b/tool") + 2; /* with the NUL of the directory */
    struct words w = of_many(QS_WORDS_MAX - 3, NULL);
    (void)state;
    assert_true(take(&w));
    qs_commands_close(&commands);
    for (size_t less = 0; less < 3; less++) {
        w = of_many(QS_WORDS_MAX - less, NULL);
        refuses(&w, QS_CODE_UNSUPPORTED, E2BIG, whole);
    }
    w = of_many(QS_WORDS_MAX - 5, tool);
    assert_true(take(&w));
    qs_commands_close(&commands);
    w = of_many(QS_WORDS_MAX - 4, tool);
    refuses(&w, QS_CODE_UNSUPPORTED, E2BIG, hooks);
    memset(longest, 'x', sizeof longest - 1);
    size_t full = (QS_WORDS_BYTES - used) / sizeof longest;
    rest += sizeof longest - (QS_WORDS_BYTES - used) % sizeof longest;
    for (size_t i = 0; i < full; i++) {
        many[i] = longest;
    }
    many[full] = rest;
    many[full + 1] = NULL;
    w = (struct words){.argv = tool, .env = many};
    assert_true(take(&w));
    assert_int_equal(commands.words.used, QS_WORDS_BYTES);
    qs_commands_close(&commands);
    w.argv = WORDS("b/./tool");
    refuses(&w, QS_CODE_UNSUPPORTED, E2BIG, whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_executables),
        cmocka_unit_test(works_in_a_directory),
        cmocka_unit_test(keeps_every_word),
        cmocka_unit_test(has_the_home_of_its_user),
        cmocka_unit_test(pins_to_what_is_there),
        cmocka_unit_test(opens_what_is_read_and_written),
        cmocka_unit_test(says_what_cannot_be_read_or_written),
        cmocka_unit_test(hooks_are_commands_too),
        cmocka_unit_test(gives_a_program_what_it_needs),
        cmocka_unit_test(parts_the_processors),
        cmocka_unit_test(words_have_their_bounds),
    };
    return cmocka_run_group_tests_name("agent.command", tests, group_setup, leave_folder);
}
