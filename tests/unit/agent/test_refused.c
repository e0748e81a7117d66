/* Each system call of a step is refused in turn (refusals.h): who fails says why, nothing stays open, and
 * what can be done without is done without. */
#include "folder.h"
#include "linux/child.h"
#include "linux/files.h"
#include "linux/harness.h"
#include "linux/link.h"
#include "linux/memory.h"
#include "linux/pull.h"
#include "linux/stream.h"
#include "linux/trace.h"
#include "linux/port.h"
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* What has no fault of its own tells by errno. */
static bool by_errno(struct qs_port_fault *fault, bool ok)
{
    fault->code = errno;
    snprintf(fault->text, sizeof fault->text, "%s", strerror(errno));
    return ok;
}

static void expect(bool (*act)(struct qs_port_fault *fault), void (*undo)(void), const char *wanted)
{
    const struct deed deed = {act, undo, false};
    assert_string_equal(refuse_each(&deed), wanted);
}

static void expect_of_start(bool (*act)(struct qs_port_fault *fault), const char *wanted)
{
    const struct deed deed = {act, NULL, true};
    assert_string_equal(refuse_each(&deed), wanted);
}

static struct qs_linux_stream stream;

static bool spool(struct qs_port_fault *fault)
{
    const struct qs_msg_run_begin run = {.mode = QS_RUN_STREAM,
                                         .stream = {.source = QS_STREAM_STDOUT, .document_max_bytes = 10}};
    qs_stream_init(&stream);
    qs_stream_begin(&stream, &run, AT_FDCWD, NULL);
    return qs_stream_window(&stream, fault);
}

static void end_spool(void)
{
    qs_stream_end(&stream);
}

static struct qs_linux_child child = {.capture = {.read_fd = -1}, .errors = {.read_fd = -1}};

static bool hear(struct qs_port_fault *fault)
{
    return by_errno(fault, qs_child_hear(&child, true, true, 10)) ||
           (qs_capture_close(&child.capture), false);
}

static void hear_no_more(void)
{
    qs_capture_close(&child.capture);
    qs_capture_close(&child.errors);
}

static void memory_and_pipes(void **state)
{
    (void)state;
    expect(spool, end_spool, "fcntl!. ftruncate!");
    expect(hear, hear_no_more, "pipe2!! fcntl..");
}

static struct qs_trace_file trace;

static bool make_trace(struct qs_port_fault *fault)
{
    qs_trace_file_init(&trace);
    bool ok = by_errno(fault, qs_trace_file_make(&trace, 10));
    if (!ok) {
        qs_trace_file_remove(&trace);
    }
    return ok;
}

static void remove_trace(void)
{
    qs_trace_file_remove(&trace);
}

static bool write_input(struct qs_port_fault *fault)
{
    assert_true(qs_trace_file_make(&trace, 10));
    int fd = qs_trace_file_input(&trace, qs_text_of("given"));
    by_errno(fault, fd >= 0);
    close(fd);
    qs_trace_file_remove(&trace);
    return fd >= 0;
}

static void folders_of_tracers(void **state)
{
    (void)state;
    expect(make_trace, remove_trace, "open. flock.");
    expect(write_input, NULL, "open. openat!. write! lseek! flock.");
}

static bool is_there(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

/* An agent that starts sweeps what nobody has locked: also what another one has made and is about to lock. */
static void a_sweep_takes_no_folder_away(void **state)
{
    struct qs_port_fault fault;
    (void)state;
    before_flock(qs_trace_file_sweep);
    assert_true(make_trace(&fault));
    assert_true(is_there(trace.dir));
    qs_trace_file_sweep(); /* it is locked */
    assert_true(is_there(trace.dir));
    remove_trace();
    refuse_call("flock", 1, EWOULDBLOCK); /* the sweep has it at this moment */
    assert_true(make_trace(&fault));
    assert_true(was_refused());
    size_t prefix = strlen(trace.dir) - strlen("XXXXXX");
    char pattern[QS_TRACE_DIR_BYTES];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%.*s*", (int)prefix, trace.dir);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1); /* the first one is gone */
    globfree(&found);
    remove_trace();
    refuse_always("mkdtemp", EROFS);
    assert_false(make_trace(&fault));
    assert_int_equal(fault.code, EROFS);
    refuse_always(NULL, 0);
}

static struct qs_list list_of(const char *const *texts)
{
    static uint8_t memory[4][256];
    static size_t next;
    struct qs_build b;
    qs_build_init(&b, memory[next++ % 4], sizeof memory[0]);
    for (; texts && *texts; texts++) {
        assert_true(qs_build_text(&b, qs_text_of(*texts)));
    }
    return qs_build_list(&b);
}

static struct qs_commands commands;
static const char *const nothing[] = {"/bin/true", NULL};

static bool take_command(struct qs_port_fault *fault)
{
    const struct qs_msg_run_begin run = {.argv = list_of(nothing),
                                         .cwd = qs_text_of("/"),
                                         .stdin_kind = QS_STDIN_FILE,
                                         .stdin_path = qs_text_of("dev/null"),
                                         .output_kind = QS_OUTPUT_KIND_FILE,
                                         .output_path = qs_text_of("dev/null")};
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    CPU_SET(0, &allowed);
    return qs_commands_of_run(&commands, &run, &allowed, fault);
}

static void close_command(void)
{
    qs_commands_close(&commands);
}

static bool start_child(struct qs_port_fault *fault, struct qs_port_child *end)
{
    bool ok = qs_child_start(&child, QS_JOB_ITERATION, &commands, fault);
    while (ok && !qs_child_reap(&child, end)) {
    }
    return ok;
}

static bool run_child(struct qs_port_fault *fault)
{
    struct qs_port_child end;
    return start_child(fault, &end);
}

static void commands_and_children(void **state)
{
    struct qs_port_fault fault;
    struct qs_port_child end;
    char where[128];
    (void)state;
    expect(take_command, close_command, "open! openat!! fcntl!! fstat!!");
    assert_true(take_command(&fault));
    qs_child_init(&child, CLOCK_MONOTONIC);
    assert_true(start_child(&fault, &end));
    assert_int_equal(end.code, 0);
    refuse_call("wait4", 1, ECHILD); /* somebody else has taken it in: nothing is known of it */
    assert_true(start_child(&fault, &end));
    assert_int_equal(end.how, QS_PORT_EXITED);
    assert_int_equal(end.code, 255);
    for (size_t i = 0; i < QS_PORT_METRICS; i++) {
        assert_int_equal(end.metrics[i], 0);
    }
    expect_of_start(run_child, "openat!! fcntl!! fstat!! clone!");
    refuse_call("clone", 1, EAGAIN);
    assert_true(!start_child(&fault, &end) && fault.wire_code == QS_CODE_RESOURCE);
    put("bad", "no program");
    assert_int_equal(chmod("bad", 0700), 0);
    snprintf(commands.iteration.path, sizeof commands.iteration.path, "%s/bad", getcwd(where, sizeof where));
    int before = open_descriptors();
    assert_false(start_child(&fault, &end));
    assert_int_equal(fault.code, ENOEXEC);
    assert_int_equal(open_descriptors(), before);
    close_command();
}

static struct qs_linux_harness harness;

static bool open_harness(struct qs_port_fault *fault)
{
    const struct qs_msg_run_begin run = {.harness = {.capacity = 16}};
    return qs_harness_open(&harness, &run, CLOCK_MONOTONIC, &commands, fault);
}

static void close_harness(void)
{
    qs_harness_close(&harness);
}

static void harness_runs(void **state)
{
    struct qs_port_fault fault;
    (void)state;
    qs_harness_init(&harness);
    assert_true(take_command(&fault));
    expect(open_harness, close_harness, "pipe2! fcntl!..!! mmap! ftruncate!");
    close_command();
}

static struct qs_linux_files files;

static bool open_files(struct qs_port_fault *fault)
{
    char error[QS_FILES_ERROR_BYTES];
    bool ok = qs_files_open(&files, "cache", error);
    by_errno(fault, ok);
    assert_true(ok || strstr(error, "no cache for files in 'cache': "));
    snprintf(fault->text, sizeof fault->text, "%.300s", error);
    return ok;
}

static void close_files(void)
{
    qs_files_close(&files);
}

static bool keep_file(struct qs_port_fault *fault)
{
    const struct qs_port_key key = {.executable = true};
    bool ok = qs_files_create(&files, fault) && qs_files_write(&files, "12345", 5, fault) &&
              qs_files_keep(&files, &key, fault);
    if (!ok) {
        qs_files_discard(&files);
    }
    return ok;
}

static bool place_file(struct qs_port_fault *fault)
{
    const struct qs_port_key key = {.executable = true};
    return qs_files_place(&files, 1, "a/b", &key, fault);
}

/* On a file system without second names. */
static bool copy_file(struct qs_port_fault *fault)
{
    const struct qs_port_key key = {.executable = true};
    refuse_always("linkat", EXDEV);
    bool ok = qs_files_place(&files, 1, "c", &key, fault);
    refuse_always(NULL, 0);
    return ok;
}

/* So much that it is not left to wait for the disk, to the byte, and as much again. */
static bool write_much(struct qs_port_fault *fault)
{
    static const char bytes[4 << 20];
    bool ok = qs_files_create(&files, fault);
    for (int i = 0; i < 4 && ok; i++) {
        ok = qs_files_write(&files, bytes, i % 2 == 0 ? sizeof bytes - 1 : 1, fault);
    }
    qs_files_discard(&files);
    return ok;
}

static bool ask_for_space(struct qs_port_fault *fault)
{
    uint64_t bytes[2];
    return by_errno(fault, qs_files_space(&files, &bytes[0], &bytes[1]));
}

static void pushed_files(void **state)
{
    struct qs_port_fault fault;
    (void)state;
    expect(open_files, close_files, "openat!!!!. mkdirat!!! fstat??? flock.");
    assert_true(open_files(&fault));
    expect(keep_file, NULL, "openat! write! fchmod! fsync!! renameat!");
    expect(place_file, NULL, "openat!! mkdirat!! linkat.");
    expect(copy_file, NULL, "openat!!! mkdirat! read!! write! fchmod!");
    expect(write_much, NULL, "openat! write!!!! fdatasync!!");
    expect(ask_for_space, NULL, "fstatvfs!");
    close_files();
}

static struct qs_link link_;

static bool listens(struct qs_port_fault *fault, const char *address)
{
    char error[QS_LINK_ERROR_BYTES];
    bool ok = qs_link_listen(&link_, address, error);
    by_errno(fault, ok);
    snprintf(fault->text, sizeof fault->text, "%.300s", ok ? "" : error);
    if (!ok) {
        qs_link_close(&link_);
    }
    return ok;
}

static bool listen_unix(struct qs_port_fault *fault)
{
    return listens(fault, "unix:socket");
}

static bool listen_tcp(struct qs_port_fault *fault)
{
    return listens(fault, "tcp:127.0.0.1:0");
}

static void close_link(void)
{
    qs_link_close(&link_);
}

static bool read_key(struct qs_port_fault *fault)
{
    char error[QS_LINK_ERROR_BYTES];
    uint8_t key[64];
    size_t n = qs_link_read_key("key", key, sizeof key, error);
    by_errno(fault, n == 32);
    snprintf(fault->text, sizeof fault->text, "%.300s", n == 32 ? "" : error);
    return n == 32;
}

/* Standard input and output are the test's own: they come back. */
static bool take_stdio(struct qs_port_fault *fault)
{
    char error[QS_LINK_ERROR_BYTES];
    int kept[2] = {dup(0), dup(1)}, ends[2];
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < 2; i++) {
        dup3(ends[i], i, 0);
        close(ends[i]);
    }
    bool ok = qs_link_open_stdio(&link_, 42, error);
    snprintf(fault->text, sizeof fault->text, "%.300s", ok ? "" : error);
    fault->code = strstr(fault->text, strerror(ENOTUNIQ)) ? ENOTUNIQ : 0;
    assert_true(!ok || (link_.in_fd >= 10 && link_.out_fd >= 10 && link_.peer_pid == 42));
    qs_link_close(&link_);
    for (int i = 0; i < 2; i++) {
        dup3(kept[i], i, 0);
        close(kept[i]);
    }
    return ok;
}

static struct qs_linux os;

static bool start_agent(struct qs_port_fault *fault)
{
    char error[QS_LINK_ERROR_BYTES];
    os.signal_fd = os.link.stop_fd = -1;
    bool ok = qs_linux_start(&os, error);
    by_errno(fault, ok);
    snprintf(fault->text, sizeof fault->text, "%.300s", ok ? "" : error);
    for (int i = 0; i < 2; i++) {
        int fd = i ? os.signal_fd : os.link.stop_fd;
        if (fd >= 0) {
            close(fd);
        }
    }
    return ok;
}

static bool hook(struct qs_port_fault *fault)
{
    const struct qs_msg_hook m = {.argv = list_of(nothing), .cwd = qs_text_of("/"), .output_max_bytes = 9};
    struct qs_port_child end;
    bool ok = os.agent.port.start_hook(&os, &m, fault);
    while (ok && !qs_child_reap(&os.child, &end)) {
    }
    qs_capture_close(&os.child.capture);
    qs_commands_close(&os.hook);
    return ok;
}

static enum qs_run_mode mode;

static bool run_window(struct qs_port_fault *fault)
{
    static struct qs_port_ready ready;
    const struct qs_msg_run_begin run = {.argv = list_of(nothing),
                                         .cwd = qs_text_of("/"),
                                         .output_kind = QS_OUTPUT_KIND_APART,
                                         .output_max_bytes = 9,
                                         .mode = mode,
                                         .stream = {.source = QS_STREAM_STDOUT, .document_max_bytes = 9},
                                         .harness = {.capacity = 16}};
    struct qs_port_child end;
    if (!os.agent.port.run_begin(&os, &run, &ready, fault)) {
        return false;
    }
    bool harness_run = mode == QS_RUN_HARNESS;
    bool ok = harness_run ? os.agent.port.program_start(&os, fault)
                          : os.agent.port.window_open(&os, fault) &&
                                os.agent.port.start(&os, QS_JOB_ITERATION, fault);
    while (ok && !qs_child_reap(&os.child, &end)) {
    }
    os.agent.port.run_end(&os);
    qs_capture_close(&os.child.capture);
    qs_capture_close(&os.child.errors);
    return ok;
}

static void the_whole_agent(void **state)
{
    struct qs_port_fault fault;
    (void)state;
    expect_of_start(take_stdio, "open! dup2!! fcntl!!.... fstat..");
    qs_linux_init(&os, "/sys");
    expect(start_agent, NULL, "signalfd!! getrandom.");
    assert_true(start_agent(&fault));
    expect_of_start(hook, "open! pipe2! fcntl.. read. clone!");
    if (os.pull.log_fd >= 0) { /* a log that cannot be read is given up for good: see test_places.c */
        close(os.pull.log_fd);
        os.pull.log_fd = -1;
    }
    expect_of_start(run_window, "open! openat. pipe2!! fcntl.... fstat. read.. clone!");
    mode = QS_RUN_STREAM;
    expect_of_start(run_window, "open! openat. pipe2!! fcntl!..... fstat. read.. ftruncate! clone!");
    mode = QS_RUN_HARNESS;
    expect_of_start(run_window,
                    "open! openat. pipe2!!! fcntl!..!!.... fstat. read.. mmap! ftruncate! clone!");
}

static void doors(void **state)
{
    (void)state;
    put("key", "0123456789abcdef0123456789abcdef");
    assert_int_equal(chmod("key", 0600), 0);
    expect(listen_unix, close_link, "socket! bind! listen!");
    expect(listen_tcp, close_link, "socket! bind! listen! setsockopt!");
    expect(read_key, NULL, "open! fstat! read!");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_and_pipes),
        cmocka_unit_test(folders_of_tracers),
        cmocka_unit_test(a_sweep_takes_no_folder_away),
        cmocka_unit_test(commands_and_children),
        cmocka_unit_test(harness_runs),
        cmocka_unit_test(pushed_files),
        cmocka_unit_test(doors),
        cmocka_unit_test(the_whole_agent),
    };
    return cmocka_run_group_tests_name("agent.refused", tests, enter_folder, leave_folder);
}
