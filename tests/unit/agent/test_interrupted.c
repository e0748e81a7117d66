/* Reads and writes that are interrupted go on; those that fail say so, and nothing that came before is lost.
 */
#include "folder.h"
#include "linux/child.h"
#include "linux/io.h"
#include "linux/link.h"
#include "linux/memory.h"
#include "linux/pull.h"
#include "linux/stream.h"
#include "linux/port.h"
#include "refusals.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void reads_files(void **state)
{
    char text[8];
    (void)state;
    put("file", "12345");
    int before = open_descriptors();
    refuse_call("pread", 1, EINTR);
    assert_int_equal(qs_io_read("file", text, sizeof text), 5);
    assert_true(was_refused());
    assert_string_equal(text, "12345");
    refuse_call("pread", 1, EIO);
    assert_int_equal(qs_io_read("file", text, sizeof text), -1);
    assert_string_equal(text, "");
    refuse_call("pread", 2, EIO); /* where nothing more can be had, what came counts */
    assert_int_equal(qs_io_read("file", text, sizeof text), 5);
    assert_true(was_refused());
    assert_string_equal(text, "12345");
    assert_int_equal(open_descriptors(), before);
}

/* Each read of a driver's file asks the driver: a short line that is whole is not asked for again. */
static void reads_a_line_once(void **state)
{
    char text[600], longer[400];
    (void)state;
    put("file", "40000\n");
    refuse_call("pread", 2, EIO);
    assert_int_equal(qs_io_read("file", text, sizeof text), 6);
    assert_false(was_refused());
    assert_string_equal(text, "40000\n");
    refuse_call(NULL, 0, 0);
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 2] = '\n';
    longer[sizeof longer - 1] = '\0';
    put("file", longer);
    refuse_call("pread", 2, EINTR); /* more may follow what came of a longer text */
    assert_int_equal(qs_io_read("file", text, sizeof text), sizeof longer - 1);
    assert_true(was_refused());
}

/* What a program of stream mode wrote. */
static void writes_all(void **state)
{
    static char bytes[1000], got[1001];
    const struct rlimit few = {600, RLIM_INFINITY}, any = {RLIM_INFINITY, RLIM_INFINITY};
    int fd = open("written", O_RDWR | O_CREAT | O_TRUNC, 0600);
    (void)state;
    memset(bytes, 'x', sizeof bytes);
    refuse_call("write", 1, EINTR);
    assert_true(qs_io_write(fd, bytes, sizeof bytes));
    assert_true(was_refused());
    assert_int_equal(pread(fd, got, sizeof got, 0), sizeof bytes);
    assert_memory_equal(got, bytes, sizeof bytes);
    refuse_call(NULL, 0, 0);
    assert_int_equal(ftruncate(fd, 0) | (int)lseek(fd, 0, SEEK_SET), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    bool all = qs_io_write(fd, bytes, sizeof bytes); /* first less than all, then an error */
    int why = errno;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &any), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_false(all);
    assert_int_equal(why, EFBIG);
    assert_int_equal(pread(fd, got, sizeof got, 0), 600);
    close(fd);
}

static void takes_documents(void **state)
{
    const struct qs_msg_run_begin run = {.mode = QS_RUN_STREAM,
                                         .stream = {.source = QS_STREAM_STDOUT, .document_max_bytes = 10}};
    static const struct {
        const char *call;
        int error;
        enum qs_pull_status status;
        size_t n;
    } cases[] = {{"pread", EINTR, QS_PULL_OK, 5},
                 {"pread", EIO, QS_PULL_UNREADABLE, 0},
                 {"lseek", EIO, QS_PULL_UNREADABLE, 0}};
    struct qs_port_document document;
    struct qs_linux_stream stream;
    struct qs_port_fault fault;
    uint8_t memory[16];
    (void)state;
    qs_stream_init(&stream);
    qs_stream_begin(&stream, &run, AT_FDCWD, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int before = open_descriptors();
        assert_true(qs_stream_window(&stream, &fault));
        assert_int_equal(write(stream.spool_fd, "hello", 5), 5);
        refuse_call(cases[i].call, 1, cases[i].error);
        qs_stream_take(&stream, memory, sizeof memory, &document);
        assert_true(was_refused());
        assert_int_equal(document.status, cases[i].status);
        assert_int_equal(document.n, cases[i].n);
        assert_int_equal(document.total_bytes, cases[i].n);
        assert_string_equal(document.why, cases[i].n ? "" : strerror(EIO));
        assert_int_equal(open_descriptors(), before);
    }
    qs_stream_end(&stream);
}

/* A file whose size says more than there is to read: all of sysfs. */
static void takes_no_more_than_there_is(void **state)
{
    const struct qs_msg_run_begin run = {
        .mode = QS_RUN_STREAM,
        .stream = {.source = QS_STREAM_FILE, .path = qs_text_of("/sys/devices/system/cpu/possible")}};
    struct qs_port_document document;
    struct qs_linux_stream stream;
    uint8_t memory[4096];
    char text[256];
    (void)state;
    long n = qs_io_read("/sys/devices/system/cpu/possible", text, sizeof text);
    if (n <= 0) {
        print_message("# why: no sysfs here\n");
        skip();
    }
    qs_stream_init(&stream);
    qs_stream_begin(&stream, &run, AT_FDCWD, NULL);
    qs_stream_take(&stream, memory, sizeof memory, &document);
    assert_int_equal(document.status, QS_PULL_OK);
    assert_int_equal(document.n, n);
    assert_int_equal(document.total_bytes, n);
    assert_memory_equal(memory, text, (size_t)n);
}

static void reads_the_kernels_log(void **state)
{
    static const int errors[] = {EINTR, EPIPE, EIO}; /* EPIPE: records were lost before this one */
    static struct qs_pull pull;
    const struct qs_msg_pull m = {.source = QS_PULL_KERNEL_LOG, .max_bytes = 100};
    struct qs_port_piece piece;
    int log[2];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, log), 0);
        pull = (struct qs_pull){.log_fd = log[0]};
        assert_int_equal(write(log[1], "6,1,1,-;x\n", 10), 10);
        refuse_call("read", 1, errors[i]);
        qs_pull_piece(&pull, AT_FDCWD, NULL, &m, &piece);
        assert_true(was_refused());
        assert_int_equal(piece.total_bytes, errors[i] == EIO ? 0 : strlen("[0.000001] x\n"));
        close(log[0]);
        close(log[1]);
    }
    const struct qs_msg_pull file = {.source = QS_PULL_FILE, .path = qs_text_of("file"), .max_bytes = 3};
    put("file", "12345");
    int before = open_descriptors();
    refuse_call("pread", 1, EIO);
    qs_pull_piece(&pull, AT_FDCWD, NULL, &file, &piece);
    assert_int_equal(piece.status, QS_PULL_UNREADABLE);
    assert_string_equal(piece.why, strerror(EIO));
    assert_int_equal(open_descriptors(), before);
}

static void hears_a_child(void **state)
{
    struct qs_linux_child child = {.capture = {.read_fd = -1}, .errors = {.read_fd = -1}};
    struct qs_port_output out;
    (void)state;
    assert_true(qs_child_hear(&child, true, true, 10));
    assert_int_equal(write(child.capture.write_fd, "said", 4), 4);
    refuse_call("read", 1, EINTR);
    qs_child_output(&child, 2, &out);
    assert_true(was_refused());
    assert_int_equal(out.kept_bytes, 4);
    refuse_call("read", 1, EIO);
    assert_int_equal(write(child.capture.write_fd, "more", 4), 4);
    qs_child_output(&child, 2, &out);
    assert_int_equal(out.total_bytes, 4);
    qs_capture_close(&child.capture);
    qs_capture_close(&child.errors);
}

static void carries_bytes(void **state)
{
    uint8_t bytes[8];
    int ends[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    struct qs_link link = {
        .kind = QS_LINK_UNIX, .in_fd = ends[0], .out_fd = ends[0], .listen_fd = -1, .stop_fd = -1};
    for (int i = 0; i < 2; i++) {
        refuse_call("write", 1, i ? EAGAIN : EINTR);
        assert_true(qs_link_send(&link, (const uint8_t *)"abc", 3));
        assert_true(was_refused());
        assert_int_equal(read(ends[1], bytes, sizeof bytes), 3);
    }
    refuse_call("write", 1, EPIPE);
    assert_false(qs_link_send(&link, (const uint8_t *)"abc", 3));
    assert_int_equal(write(ends[1], "xy", 2), 2);
    static const int errors[] = {EAGAIN, EINTR, ECONNRESET};
    for (int i = 0; i < 3; i++) {
        refuse_call("read", 1, errors[i]);
        assert_int_equal(qs_link_receive(&link, bytes, sizeof bytes), i < 2 ? 0 : -1);
    }
    assert_int_equal(qs_link_unread(&link), 2);
    assert_int_equal(qs_link_receive(&link, bytes, sizeof bytes), 2);
    close(ends[1]);
    assert_int_equal(qs_link_receive(&link, bytes, sizeof bytes), -1);
    qs_link_drop(&link);
    assert_int_equal(qs_link_unread(&link), 0);
}

/* A client whose user the kernel does not tell is told why it may not come in. */
static void lets_nobody_in_whom_it_does_not_know(void **state)
{
    static const char wanted[] = "quiesce-agent: only its own user, or root, may use this socket\n";
    char error[QS_LINK_ERROR_BYTES], text[100] = "";
    struct sockaddr address = {.sa_family = AF_UNIX, .sa_data = "door"};
    struct qs_link link;
    (void)state;
    assert_true(qs_link_listen(&link, "unix:door", error));
    for (int known = 0; known < 2; known++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, &address, sizeof address), 0);
        refuse_call(known ? NULL : "getsockopt", 1, EPERM);
        int before = open_descriptors();
        int taken = qs_link_accept(&link);
        assert_int_equal(taken >= 0, known);
        assert_int_equal(open_descriptors() - before, known);
        if (known) {
            close(taken);
        }
        assert_int_equal(read(fd, text, sizeof text), known ? 0 : (ssize_t)strlen(wanted));
        assert_string_equal(text, wanted);
        close(fd);
    }
    qs_link_close(&link);
}

static struct qs_linux os;

static void has_random_bytes(void **state)
{
    static const uint8_t none[16];
    uint8_t bytes[16];
    char error[QS_LINK_ERROR_BYTES];
    (void)state;
    qs_linux_init(&os, "/sys");
    assert_true(qs_linux_start(&os, error));
    for (int i = 0; i < 2; i++) { /* ENOSYS: a kernel before 3.17 */
        int before = open_descriptors();
        memset(bytes, 0, sizeof bytes);
        refuse_call("getrandom", 1, i ? ENOSYS : EINTR);
        os.agent.port.random(&os, bytes, sizeof bytes - 1);
        assert_true(was_refused());
        assert_memory_not_equal(bytes, none, sizeof bytes - 1);
        assert_int_equal(bytes[15], 0);
        assert_int_equal(open_descriptors(), before);
    }
    refuse_always("getrandom", ENOSYS);
    refuse_call("read", 1, EINTR);
    os.agent.port.random(&os, bytes, sizeof bytes);
    assert_true(was_refused());
    for (int i = 0; i < 2; i++) { /* none at all: no session */
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            signal(SIGABRT, SIG_DFL);
            refuse_call(i ? "read" : "open", 1, EIO);
            os.agent.port.random(&os, bytes, sizeof bytes);
            _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
    refuse_always(NULL, 0);
    close(os.signal_fd);
    close(os.link.stop_fd);
}

/* What a kernel never lets go of is given up: its descriptors are closed, and somebody else may run. */
static void gives_a_process_up(void **state)
{
    static uint8_t memory[64];
    struct qs_build words;
    struct qs_port_child end;
    struct qs_port_fault fault;
    char error[QS_LINK_ERROR_BYTES];
    (void)state;
    qs_linux_init(&os, "/sys");
    assert_true(qs_linux_start(&os, error));
    const struct qs_port *port = &os.agent.port;
    int before = open_descriptors();
    for (int round = 0; round < 2; round++) {
        const char *argv[] = {"/bin/sleep", round ? "0" : "1000"};
        qs_build_init(&words, memory, sizeof memory);
        assert_true(qs_build_text(&words, qs_text_of(argv[0])) && qs_build_text(&words, qs_text_of(argv[1])));
        const struct qs_msg_hook m = {
            .argv = qs_build_list(&words), .cwd = qs_text_of("/"), .output_max_bytes = 9};
        assert_true(port->start_hook(&os, &m, &fault));
        pid_t pid = os.child.process.pid;
        if (round == 0) {
            assert_false(qs_child_reap(&os.child, &end));
            port->abandon_child(&os);
            assert_true(qs_child_reap(&os.child, &end));
            assert_int_equal(end.how, QS_PORT_LOST);
            assert_int_equal(kill(pid, SIGKILL), 0); /* it lives still */
            assert_int_equal(waitpid(pid, NULL, 0), pid);
        } else {
            while (!qs_child_reap(&os.child, &end)) {
            }
            assert_int_equal(end.how, QS_PORT_EXITED);
        }
        assert_int_equal(end.code, 0);
        assert_true(os.child.start_ns == end.start_ns && end.start_ns < end.end_ns);
        assert_false(os.child.runs);
        qs_capture_close(&os.child.capture);
        qs_commands_close(&os.hook);
        assert_int_equal(open_descriptors(), before);
    }
    close(os.signal_fd);
    close(os.link.stop_fd);
}

/* Facts by their place; nothing is behind the last. */
static void tells_facts_and_who_is_busy(void **state)
{
    struct qs_port_fact fact = {.key = ""};
    char text[64] = "old";
    size_t count = 0;
    (void)state;
    for (; os.agent.port.fact(&os, count, &fact); count++) {
        assert_string_not_equal(fact.key, "");
        if (count == 0) {
            struct qs_port_fact direct;
            assert_true(qs_facts_get(&os.facts, 0, &direct));
            assert_string_equal(fact.key, direct.key);
            assert_string_equal(fact.value, direct.value);
        }
    }
    assert_in_range(count, 5, 100);
    os.agent.port.busiest(&os, text, sizeof text);
    assert_string_equal(text, ""); /* there is nothing to compare with */
    assert_true(os.probe.proc_count > 0);
}

/* Memory that cannot be sealed is cut: zeros there, and the signal where it is not ours. */
static void outlives_memory_that_is_cut(void **state)
{
    enum { BYTES = 8192 };
    (void)state;
    for (int other = 0; other < 2; other++) {
        int fds[2];
        for (int i = 0; i < 2; i++) {
            char path[] = "memory-XXXXXX";
            fds[i] = mkstemp(path);
            assert_true(fds[i] >= 0);
            assert_int_equal(ftruncate(fds[i], BYTES), 0);
        }
        unsigned char *ours = qs_memory_map(fds[0], BYTES);
        unsigned char *theirs = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fds[1], 0);
        assert_non_null(ours);
        ours[0] = ours[BYTES - 1] = 7;
        assert_int_equal(ftruncate(fds[other], 0), 0);
        pid_t pid = fork();
        if (pid == 0) {
            volatile unsigned char *p = other ? theirs : ours + BYTES - 1;
            _exit(*p == 0 && ours[0] == 0 ? 3 : 4);
        }
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(other ? WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS
                          : WIFEXITED(status) && WEXITSTATUS(status) == 3);
        qs_memory_unmap(ours, BYTES);
        munmap(theirs, BYTES);
        close(fds[0]);
        close(fds[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_files),
        cmocka_unit_test(reads_a_line_once),
        cmocka_unit_test(writes_all),
        cmocka_unit_test(takes_documents),
        cmocka_unit_test(takes_no_more_than_there_is),
        cmocka_unit_test(reads_the_kernels_log),
        cmocka_unit_test(hears_a_child),
        cmocka_unit_test(carries_bytes),
        cmocka_unit_test(lets_nobody_in_whom_it_does_not_know),
        cmocka_unit_test(has_random_bytes),
        cmocka_unit_test(gives_a_process_up),
        cmocka_unit_test(tells_facts_and_who_is_busy),
        cmocka_unit_test(outlives_memory_that_is_cut),
    };
    return cmocka_run_group_tests_name("agent.interrupted", tests, enter_folder, leave_folder);
}
