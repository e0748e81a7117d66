/* What the agent reads, keeps and removes on a file system: outputs of a program, what a run has left, the
 * folder of a tracer, pushed files. */
#include "folder.h"
#include "linux/pull.h"
#include "linux/stream.h"
#include "linux/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096 };

static bool is_there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static struct qs_linux_stream stream;
static uint8_t memory[PAGE * 2];

static void begin_stream(enum qs_stream_source source, uint32_t max_bytes)
{
    const struct qs_msg_run_begin run = {
        .mode = QS_RUN_STREAM,
        .stream = {.source = source, .path = qs_text_of("out"), .document_max_bytes = max_bytes}};
    qs_stream_init(&stream);
    assert_false(stream.on);
    qs_stream_begin(&stream, &run, AT_FDCWD, NULL);
    assert_true(stream.on);
}

/* What a process has written to its standard output, and how much of it is kept. */
static struct qs_port_document spooled(const char *bytes, size_t n, off_t seek, size_t cap)
{
    struct qs_port_document document;
    struct qs_port_fault fault;
    assert_true(qs_stream_window(&stream, &fault));
    assert_true(qs_stream_start(&stream, &fault));
    assert_int_equal(write(stream.spool_fd, bytes, n), (ssize_t)n);
    if (seek >= 0) {
        assert_int_equal(lseek(stream.spool_fd, seek, SEEK_SET), seek);
    }
    qs_stream_take(&stream, memory, cap, &document);
    assert_int_equal(stream.spool_fd, -1);
    return document;
}

static void keeps_what_a_program_says(void **state)
{
    static char page[PAGE + 1];
    (void)state;
    begin_stream(QS_STREAM_STDOUT, 10);
    struct qs_port_document d = spooled("hello", 5, -1, 10);
    assert_int_equal(d.status, QS_PULL_OK);
    assert_int_equal(d.n, 5);
    assert_int_equal(d.total_bytes, 5);
    assert_memory_equal(memory, "hello", 5);
    d = spooled("0123456789", 10, -1, 10);
    assert_int_equal(d.n, 10);
    assert_int_equal(d.total_bytes, 10);
    d = spooled("0123456789ab", 12, -1, 10);
    assert_int_equal(d.n, 10);
    assert_int_equal(d.total_bytes, 12);
    d = spooled("", 0, -1, 10);
    assert_int_equal(d.n, 0);
    assert_int_equal(d.total_bytes, 0);
    d = spooled("far", 3, (off_t)1 << 50, 10); /* where its next byte would go is for the program to say */
    assert_int_equal(d.status, QS_PULL_OK);
    assert_int_equal(d.n, 10);
    assert_int_equal(d.total_bytes, PAGE);
    begin_stream(QS_STREAM_STDOUT, PAGE); /* a byte beyond is room as well: it shows that there was more */
    d = spooled(page, PAGE + 1, -1, PAGE);
    assert_int_equal(d.n, PAGE);
    assert_int_equal(d.total_bytes, PAGE + 1);
    qs_stream_end(&stream);
    assert_false(stream.on);
}

static struct qs_port_document made(const char *command, size_t cap)
{
    struct qs_port_document document;
    struct qs_port_fault fault;
    assert_true(qs_stream_window(&stream, &fault));
    assert_int_equal(stream.spool_fd, -1);
    assert_true(qs_stream_start(&stream, &fault));
    assert_int_equal(system(command), 0);
    qs_stream_take(&stream, memory, cap, &document);
    return document;
}

/* A file is the program's where it was not there before; it is read, no link is followed, and it goes. */
static void takes_what_a_program_makes(void **state)
{
    struct qs_port_fault fault;
    (void)state;
    begin_stream(QS_STREAM_FILE, 10);
    struct qs_port_document d = made("printf 0123456789ab >out", 10);
    assert_int_equal(d.status, QS_PULL_OK);
    assert_int_equal(d.n, 10);
    assert_int_equal(d.total_bytes, 12);
    assert_memory_equal(memory, "0123456789", 10);
    assert_false(is_there("out"));
    d = made(":", 10);
    assert_int_equal(d.status, QS_PULL_MISSING);
    assert_string_equal(d.why, strerror(ENOENT));
    put("target", "of somebody");
    d = made("ln -s target out", 10);
    assert_int_equal(d.status, QS_PULL_NO_FILE);
    assert_string_equal(d.why, "a symbolic link");
    assert_false(is_there("out"));
    assert_true(is_there("target"));
    d = made("mkfifo out", 10);
    assert_int_equal(d.status, QS_PULL_NO_FILE);
    assert_string_equal(d.why, "not a regular file");
    assert_int_equal(unlink("out"), 0); /* what is no file stays */
    assert_int_equal(made("mkdir out", 10).status, QS_PULL_NO_FILE);
    for (int link = 0; link < 2; link++) {
        assert_int_equal(link ? symlink("nowhere", "out") : 0, 0);
        assert_false(qs_stream_start(&stream, &fault));
        assert_int_equal(fault.blame, QS_WIRE_BLAME_OPERATOR);
        assert_int_equal(fault.wire_code, QS_CODE_STATE);
        assert_int_equal(fault.code, EEXIST);
        assert_non_null(strstr(fault.text, "'out' is there before"));
        assert_int_equal(link ? unlink("out") : rmdir("out"), 0);
    }
}

/* A process that was started and ended without its window makes no file for the next one; what nobody has
 * started is not ours to remove. */
static void removes_what_it_has_started(void **state)
{
    struct qs_port_fault fault;
    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        begin_stream(QS_STREAM_FILE, 10);
        put("out", "of somebody");
        if (ends) {
            qs_stream_end(&stream);
        } else {
            assert_true(qs_stream_window(&stream, &fault));
        }
        assert_true(is_there("out"));
        assert_int_equal(unlink("out"), 0);
        begin_stream(QS_STREAM_FILE, 10);
        assert_true(qs_stream_start(&stream, &fault));
        put("out", "of its process");
        if (ends) {
            qs_stream_end(&stream);
        } else {
            assert_true(qs_stream_window(&stream, &fault));
        }
        assert_false(is_there("out"));
    }
}

static void says_that_there_is_no_memory(void **state)
{
    struct rlimit before, none;
    struct qs_port_fault fault = {.code = 0};
    (void)state;
    begin_stream(QS_STREAM_STDOUT, 10);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool ok = qs_stream_window(&stream, &fault);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_false(ok);
    assert_int_equal(fault.blame, QS_WIRE_BLAME_DEVICE);
    assert_int_equal(fault.wire_code, QS_CODE_RESOURCE);
    assert_int_equal(fault.code, EMFILE);
    assert_non_null(strstr(fault.text, strerror(EMFILE)));
}

static struct qs_pull pull;

static struct qs_port_piece piece_of(enum qs_pull_source source, const char *path, uint64_t offset,
                                     uint32_t max)
{
    const struct qs_msg_pull m = {
        .source = source, .path = qs_text_of(path), .offset = offset, .max_bytes = max};
    struct qs_port_piece piece;
    qs_pull_piece(&pull, AT_FDCWD, NULL, &m, &piece);
    return piece;
}

static void says(const struct qs_port_piece *piece, const char *text, uint64_t total_bytes)
{
    assert_int_equal(piece->status, QS_PULL_OK);
    assert_int_equal(piece->total_bytes, total_bytes);
    assert_int_equal(piece->n, strlen(text));
    assert_memory_equal(piece->bytes, text, piece->n);
}

/* Records as the kernel hands them out, one for each reading. */
static void reads_the_kernels_log(void **state)
{
    static const char first[] = "6,339,5140900,-;NET: Registered\n SUBSYSTEM=net\n",
                      second[] = "4,340,12000042,5,6;second\n",
                      shown[] = "[5.140900] NET: Registered\n[12.000042] second\n";
    static char many[8000];
    int log[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, log), 0);
    pull = (struct qs_pull){.log_fd = log[0]};
    assert_int_equal(write(log[1], first, strlen(first)), (ssize_t)strlen(first));
    assert_int_equal(write(log[1], "6,1,2,-", 7), 7); /* no record */
    assert_int_equal(write(log[1], second, strlen(second)), (ssize_t)strlen(second));
    struct qs_port_piece piece = piece_of(QS_PULL_KERNEL_LOG, "", 0, 1000);
    says(&piece, shown, strlen(shown));
    piece = piece_of(QS_PULL_KERNEL_LOG, "", 5, 4);
    says(&piece, "0900", strlen(shown));
    piece = piece_of(QS_PULL_KERNEL_LOG, "", strlen(shown) - 2, 100);
    says(&piece, "d\n", strlen(shown));
    piece = piece_of(QS_PULL_KERNEL_LOG, "", 100000, 100);
    says(&piece, "", strlen(shown));
    memset(many, 'x', sizeof many);
    memcpy(many, "6,1,1,-;", 8); /* 12 + 7992 + 1 of them are told */
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(write(log[1], many, sizeof many), (ssize_t)sizeof many);
        piece = piece_of(QS_PULL_KERNEL_LOG, "", 0, QS_KERNEL_LOG_BYTES);
        uint64_t total = strlen(shown) + (i + 1) * (strlen("[0.000001] ") + sizeof many - 8 + 1);
        assert_int_equal(piece.total_bytes, total);
        assert_int_equal(piece.n, total < QS_KERNEL_LOG_BYTES ? total : QS_KERNEL_LOG_BYTES);
    }
    close(log[0]);
    close(log[1]);
    for (int no_entry = 0; no_entry < 2; no_entry++) {
        pull = (struct qs_pull){.log_fd = -1, .log_errno = no_entry ? ENOENT : EPERM};
        piece = piece_of(QS_PULL_KERNEL_LOG, "", 0, 10);
        assert_int_equal(piece.status, no_entry ? QS_PULL_MISSING : QS_PULL_UNREADABLE);
        assert_string_equal(piece.why, strerror(no_entry ? ENOENT : EPERM));
    }
}

/* A run does not see what the kernel had said before it; a log that has no end is none. */
static void a_run_begins_at_the_end_of_the_log(void **state)
{
    int log[2];
    (void)state;
    put("log", "6,1,1,-;before\n");
    pull = (struct qs_pull){.log_fd = open("log", O_RDONLY), .log_len = 3, .log_total = 3};
    qs_pull_begin(&pull);
    struct qs_port_piece piece = piece_of(QS_PULL_KERNEL_LOG, "", 0, 100);
    says(&piece, "", 0);
    close(pull.log_fd);
    assert_int_equal(pipe(log), 0);
    pull = (struct qs_pull){.log_fd = log[0]};
    qs_pull_begin(&pull);
    assert_int_equal(pull.log_fd, -1);
    assert_int_equal(pull.log_errno, ESPIPE);
    close(log[1]);
}

static void fetches_pieces_of_files(void **state)
{
    struct stat st;
    (void)state;
    put("left", "0123456789");
    assert_int_equal(stat("left", &st), 0);
    pull = (struct qs_pull){.log_fd = -1, .began = st.st_ctim};
    struct qs_port_piece piece = piece_of(QS_PULL_FILE, "left", 4, 3);
    says(&piece, "456", 10);
    assert_string_equal(piece.why, "");
    piece = piece_of(QS_PULL_FILE, "left", 8, 100);
    says(&piece, "89", 10);
    piece = piece_of(QS_PULL_FILE, "left", 11, 100);
    says(&piece, "", 10);
    static const struct {
        time_t s;
        long ns;
        bool older;
    } times[] = {{0, 1, true}, {1, -1, true}, {-1, 1, false}, {0, -1, false}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        pull.began.tv_sec = st.st_ctim.tv_sec + times[i].s;
        pull.began.tv_nsec = st.st_ctim.tv_nsec + times[i].ns;
        piece = piece_of(QS_PULL_FILE, "left", 0, 1);
        assert_int_equal(piece.why[0] != '\0', times[i].older);
    }
    assert_int_equal(piece_of(QS_PULL_FILE, "nowhere", 0, 1).status, QS_PULL_MISSING);
    assert_int_equal(piece_of(QS_PULL_FILE, "left/below", 0, 1).status, QS_PULL_MISSING);
    piece = piece_of(QS_PULL_FILE, ".", 0, 1);
    assert_int_equal(piece.status, QS_PULL_NO_FILE);
    assert_string_equal(piece.why, "not a regular file");
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(piece_of(QS_PULL_FILE, "loop", 0, 1).status, QS_PULL_UNREADABLE);
}

static struct qs_trace_file trace;

static struct qs_port_traced look_at_trace(void)
{
    struct qs_port_traced traced = {.there = false};
    qs_trace_file_look(&trace, &traced);
    return traced;
}

static void expect_no_trace(const char *why)
{
    const struct qs_msg_pull m = {.source = QS_PULL_TRACE, .max_bytes = 10};
    struct qs_port_piece piece;
    struct qs_port_traced traced = look_at_trace();
    assert_false(traced.there);
    assert_string_equal(traced.why, why);
    qs_trace_file_piece(&trace, &m, &piece);
    assert_int_equal(piece.status, QS_PULL_NO_FILE);
    assert_string_equal(piece.why, why);
}

static struct qs_port_piece piece_of_trace(uint64_t offset, uint32_t max)
{
    const struct qs_msg_pull m = {.source = QS_PULL_TRACE, .offset = offset, .max_bytes = max};
    struct qs_port_piece piece;
    qs_trace_file_piece(&trace, &m, &piece);
    return piece;
}

/* Its one file counts where it is a regular one with one name, up to the bound. */
static void believes_no_tracer(void **state)
{
    char path[128], other[128];
    (void)state;
    qs_trace_file_init(&trace);
    assert_int_equal(piece_of_trace(0, 10).status, QS_PULL_MISSING);
    assert_true(qs_trace_file_make(&trace, 10));
    qs_trace_file_path(&trace, path, sizeof path);
    snprintf(other, sizeof other, "%s/other", trace.dir);
    expect_no_trace("the tracer has written no file");
    assert_int_equal(symlink("/etc/passwd", path), 0);
    expect_no_trace("the tracer wrote a symbolic link in place of its file");
    assert_int_equal(unlink(path), 0);
    put(path, "012345678");
    assert_int_equal(link(path, other), 0);
    expect_no_trace("what the tracer wrote is not a regular file with a single name");
    assert_int_equal(unlink(other), 0);
    struct qs_port_traced traced = look_at_trace();
    assert_true(traced.there);
    assert_int_equal(traced.total_bytes, 9);
    assert_int_equal(traced.flags, 0);
    assert_string_equal(traced.why, "");
    struct qs_port_piece piece = piece_of_trace(4, 3);
    says(&piece, "456", 9);
    put(path, "0123456789ab");
    traced = look_at_trace();
    assert_true(traced.there);
    assert_int_equal(traced.flags, QS_TRACE_CUT);
    piece = piece_of_trace(8, 100);
    says(&piece, "89", 12);
    piece = piece_of_trace(10, 100);
    says(&piece, "", 12);
    piece = piece_of_trace(11, 100);
    says(&piece, "", 12);
    put(path, "0123456789");
    assert_int_equal(look_at_trace().flags, QS_TRACE_CUT); /* it might have been more */
    put(path, "");
    traced = look_at_trace();
    assert_false(traced.there);
    assert_string_equal(traced.why, "the tracer's file is empty");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_no_trace("what the tracer wrote is not a regular file with a single name");
    qs_trace_file_remove(&trace);
    assert_false(is_there(path));
}

static void gives_a_tracer_its_folder(void **state)
{
    char text[8], path[128];
    struct stat st;
    (void)state;
    assert_true(qs_trace_file_make(&trace, 10));
    assert_int_equal(stat(trace.dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    int fd = qs_trace_file_input(&trace, qs_text_of("given"));
    assert_int_equal(read(fd, text, sizeof text), 5);
    assert_memory_equal(text, "given", 5);
    assert_int_equal(qs_trace_file_input(&trace, qs_text_of("twice")), -1);
    close(fd);
    assert_int_equal(qs_trace_file_tail(&trace, text, 4), 0);
    fd = qs_trace_file_said(&trace);
    assert_int_equal(write(fd, "abc", 3), 3);
    assert_int_equal(qs_trace_file_tail(&trace, text, 4), 3);
    assert_memory_equal(text, "abc", 3);
    assert_int_equal(write(fd, "defg", 4), 4);
    assert_int_equal(qs_trace_file_tail(&trace, text, 4), 4);
    assert_memory_equal(text, "defg", 4);
    close(fd);
    char dir[QS_TRACE_DIR_BYTES], command[400];
    snprintf(dir, sizeof dir, "%s", trace.dir);
    put("kept", "of somebody");
    snprintf(command, sizeof command,
             "cd %s && mkdir -p a/b/c/d && touch a/b/c/d/f a/f && ln -s %s/kept a/link && ln -s %s linked",
             dir, folder, folder);
    assert_int_equal(system(command), 0);
    qs_trace_file_remove(&trace);
    assert_false(is_there(dir));
    assert_int_equal(trace.dir_fd, -1);
    assert_true(is_there("kept"));
    qs_trace_file_remove(&trace); /* there is none: no harm */
    snprintf(path, sizeof path, "%s/kept", folder);
    assert_true(is_there(path));
}

/* The folder of an agent that was killed goes, that of one that lives stays. */
static void sweeps_what_nobody_holds(void **state)
{
    static struct qs_trace_file other;
    char dir[QS_TRACE_DIR_BYTES], path[128];
    (void)state;
    assert_true(qs_trace_file_make(&trace, 10));
    assert_true(qs_trace_file_make(&other, 10));
    snprintf(dir, sizeof dir, "%s", trace.dir);
    snprintf(path, sizeof path, "%s/trace", dir);
    put(path, "x");
    close(trace.dir_fd);
    qs_trace_file_sweep();
    assert_false(is_there(dir));
    assert_true(is_there(other.dir));
    qs_trace_file_remove(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_a_program_says),   cmocka_unit_test(takes_what_a_program_makes),
        cmocka_unit_test(removes_what_it_has_started), cmocka_unit_test(says_that_there_is_no_memory),
        cmocka_unit_test(reads_the_kernels_log),       cmocka_unit_test(a_run_begins_at_the_end_of_the_log),
        cmocka_unit_test(fetches_pieces_of_files),     cmocka_unit_test(believes_no_tracer),
        cmocka_unit_test(gives_a_tracer_its_folder),   cmocka_unit_test(sweeps_what_nobody_holds),
    };
    return cmocka_run_group_tests_name("agent.places", tests, enter_folder, leave_folder);
}
