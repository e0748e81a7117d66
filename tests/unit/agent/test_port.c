/* The port's operations for Linux, each by its place in the port: pushed files, what a program of stream mode
 * wrote, and who is blamed where a program does not start. */
#include "folder.h"
#include "linux/port.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static struct qs_linux os;
static struct qs_port_fault fault;

static int group_setup(void **state)
{
    char error[QS_LINK_ERROR_BYTES];
    qs_linux_init(&os, "/sys");
    os.link.kind = QS_LINK_UNIX;
    return enter_folder(state) == 0 && qs_linux_start(&os, error) ? 0 : -1;
}

static struct qs_port_key keep(const char *text)
{
    const struct qs_port_files *port = &qs_linux_files_port;
    struct qs_port_key key = {.executable = false};
    struct qs_sha256 sum;
    qs_sha256_init(&sum);
    qs_sha256_add(&sum, text, strlen(text));
    qs_sha256_final(&sum, key.sha256);
    assert_true(port->create(&os, &fault));
    assert_true(port->write(&os, text, strlen(text), &fault));
    assert_true(port->keep(&os, &key, &fault));
    return key;
}

static size_t listed(struct qs_port_item *last)
{
    struct qs_port_item item;
    size_t n = 0;
    while (qs_linux_files_port.next(&os, &item)) {
        *last = item;
        n++;
    }
    return n;
}

static void hands_on_what_is_asked_of_files(void **state)
{
    const struct qs_port_files *port = &qs_linux_files_port;
    const struct timespec used[2] = {{.tv_sec = 1500000000, .tv_nsec = 123456789}, {.tv_nsec = UTIME_OMIT}};
    char error[QS_LINK_ERROR_BYTES], path[QS_PORT_PATH_BYTES], placed[QS_PORT_PATH_BYTES + 8];
    struct qs_port_item item;
    uint8_t sum[QS_SHA256_BYTES];
    uint64_t bytes = 0, total_bytes = 0;
    int64_t stamp = 0;
    struct stat st;
    (void)state;
    assert_true(qs_linux_open_cache(&os, "cache", error));
    assert_true(os.has_cache);
    const struct qs_port_key key = keep("hello");
    assert_true(port->look(&os, &key, &bytes, &stamp));
    assert_int_equal(bytes, 5);
    assert_true(port->sum(&os, &key, sum));
    assert_memory_equal(sum, key.sha256, sizeof sum);
    assert_int_equal(system("touch -a -d @1 cache/1/files/*"), 0);
    assert_int_equal(listed(&item), 1);
    assert_memory_equal(item.key.sha256, key.sha256, sizeof sum);
    assert_int_equal(item.used_ns, 1000000000);
    int dir = open("cache/1/files", O_RDONLY | O_DIRECTORY);
    assert_int_equal(
        utimensat(dir, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824", used, 0), 0);
    close(dir);
    assert_int_equal(listed(&item), 1);
    assert_int_equal(item.used_ns, INT64_C(1500000000123456789));
    port->used(&os, &key);
    assert_int_equal(listed(&item), 1);
    assert_true(item.used_ns > INT64_C(1500000001000000000));
    assert_true(port->space(&os, &bytes, &total_bytes) && total_bytes >= bytes);
    port->path(&os, 3, path, sizeof path);
    assert_true(port->place(&os, 3, "in", &key, &fault));
    snprintf(placed, sizeof placed, "%s/in", path);
    assert_int_equal(stat(placed, &st), 0);
    assert_int_equal(st.st_size, 5);
    (void)port->clear(&os);
    assert_int_equal(stat(placed, &st), -1);
    assert_true(port->create(&os, &fault));
    assert_true(port->write(&os, "half", 4, &fault));
    port->discard(&os);
    assert_int_equal(os.files.part_fd, -1);
    port->remove(&os, &key);
    assert_int_equal(listed(&item), 0);
    assert_false(port->look(&os, &key, &bytes, &stamp));
    qs_files_close(&os.files);
}

static bool begin(const char *program, enum qs_run_mode mode)
{
    static struct qs_port_ready ready;
    static uint8_t memory[100];
    struct qs_build b;
    qs_build_init(&b, memory, sizeof memory);
    assert_true(qs_build_text(&b, qs_text_of(program)));
    const struct qs_msg_run_begin run = {
        .mode = mode, .argv = qs_build_list(&b), .stream = {.document_max_bytes = 100}};
    return os.agent.port.run_begin(&os, &run, &ready, &fault);
}

/* Of its window alone: what the one before wrote is no part of it. */
static void hands_on_what_a_program_wrote(void **state)
{
    const struct qs_port *port = &os.agent.port;
    struct qs_port_document document;
    struct qs_port_child end;
    uint8_t memory[100];
    (void)state;
    put("say", "#!/bin/sh\nprintf written\n");
    assert_int_equal(chmod("say", 0700), 0);
    assert_true(begin("./say", QS_RUN_STREAM));
    for (int i = 0; i < 2; i++) {
        memset(memory, 'x', sizeof memory);
        assert_true(port->window_open(&os, &fault));
        assert_true(port->start(&os, QS_JOB_ITERATION, &fault));
        struct pollfd ended = {.fd = os.child.process.pidfd, .events = POLLIN};
        assert_int_equal(poll(&ended, 1, -1), 1);
        assert_true(qs_child_reap(&os.child, &end));
        assert_int_equal(end.code, 0);
        port->document(&os, memory, sizeof memory, &document);
        assert_int_equal(document.status, QS_PULL_OK);
        assert_int_equal(document.total_bytes, 7);
        assert_int_equal(document.n, 7);
        assert_memory_equal(memory, "writtenx", 8);
    }
    port->run_end(&os);
}

/* A program that was there when the run began, and is not what it was: the operator's. */
static void blames_who_took_the_program_away(void **state)
{
    static const struct {
        const char *change;
        int code;
        const char *why;
    } cases[] = {
        {"rm tool", ENOENT, "(the file is gone, or its interpreter is missing)"},
        {"echo no program >tool", ENOEXEC, "(a script needs a first line such as #!/bin/sh)"},
        {"rm tool; mkdir tool", EACCES, "Permission denied"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(system("rm -rf tool"), 0);
        put("tool", "#!/bin/sh\nexit 0\n");
        assert_int_equal(chmod("tool", 0700), 0);
        assert_true(begin("./tool", QS_RUN_COMMAND));
        assert_int_equal(system(cases[i].change), 0);
        assert_false(os.agent.port.start(&os, QS_JOB_ITERATION, &fault));
        assert_int_equal(fault.code, cases[i].code);
        assert_int_equal(fault.wire_code, QS_CODE_EXECUTABLE);
        assert_int_equal(fault.blame, QS_WIRE_BLAME_OPERATOR);
        assert_non_null(strstr(fault.text, cases[i].why));
        os.agent.port.run_end(&os);
    }
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1000; fd++) {
        count += fcntl(fd, F_GETFD) >= 0;
    }
    return count;
}

/* The folder of a hook is kept for its process, and no longer than to the next hook. */
static void keeps_nothing_of_the_hooks_before(void **state)
{
    static uint8_t memory[100];
    struct qs_port_child end;
    struct qs_build b;
    int after_one = 0;
    (void)state;
    qs_build_init(&b, memory, sizeof memory);
    assert_true(qs_build_text(&b, qs_text_of("/bin/true")));
    const struct qs_msg_hook hook = {
        .argv = qs_build_list(&b), .cwd = qs_text_of(folder), .output_max_bytes = 10};
    for (int i = 0; i < 3; i++) {
        if (!os.agent.port.start_hook(&os, &hook, &fault)) {
            fail_msg("%s", fault.text);
        }
        struct pollfd ended = {.fd = os.child.process.pidfd, .events = POLLIN};
        assert_int_equal(poll(&ended, 1, -1), 1);
        assert_true(qs_child_reap(&os.child, &end));
        assert_int_equal(end.code, 0);
        after_one = i == 0 ? open_descriptors() : after_one;
    }
    assert_int_equal(open_descriptors(), after_one);
}

static int slow_draws = -1; /* of getrandom so far; -1: it is the kernel's */

/* In place of the library's: interrupted at first, then a byte at a time. */
ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
    if (slow_draws < 0) {
        return syscall(SYS_getrandom, bytes, n, flags);
    }
    if (slow_draws++ == 0) {
        errno = EINTR;
        return -1;
    }
    *(uint8_t *)bytes = (uint8_t)slow_draws;
    return 1;
}

static void draws_all_that_is_asked(void **state)
{
    static const uint8_t want[6] = {2, 3, 4, 5, 6, 0};
    uint8_t drawn[6] = {0};
    (void)state;
    slow_draws = 0;
    os.agent.port.random(&os, drawn, 5);
    slow_draws = -1;
    assert_memory_equal(drawn, want, sizeof want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hands_on_what_is_asked_of_files),
        cmocka_unit_test(hands_on_what_a_program_wrote),
        cmocka_unit_test(blames_who_took_the_program_away),
        cmocka_unit_test(keeps_nothing_of_the_hooks_before),
        cmocka_unit_test(draws_all_that_is_asked),
    };
    return cmocka_run_group_tests_name("agent-port", tests, group_setup, leave_folder);
}
