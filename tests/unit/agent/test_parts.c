/* Parts of the agent for Linux, each called by itself: texts as numbers, folders, memory, output, users. */
#include "folder.h"
#include "linux/child.h"
#include "linux/io.h"
#include "linux/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The one that is given out next. */
static int free_fd(void)
{
    int fd = open("/dev/null", O_RDONLY);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

static void reads_numbers(void **state)
{
    static const struct {
        const char *text;
        int decimals;
        bool ok;
        int64_t value;
        const char *rest;
    } cases[] = {
        {"12.34", 2, true, 1234, ""},
        {"1.5 x", 3, true, 1500, " x"},
        {"7,8", 2, true, 700, ",8"},
        {" \t-3.25", 2, true, -325, ""},
        {"0.999999", 2, true, 99, ""},
        {"1.", 1, true, 10, ""},
        {"12.34", 0, true, 12, ".34"},
        {"9", 0, true, 9, ""},
        {"99999999999999999", 0, true, 99999999999999999, ""},
        {"100000000000000000999", 0, true, 100000000000000000, ""}, /* what is more is passed over */
        {"x1", 0, false, 0, "x1"},
        {"-", 0, false, 0, "-"},
        {"", 0, false, 0, ""},
        {":", 0, false, 0, ":"},
        {"/", 0, false, 0, "/"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *p = cases[i].text;
        int64_t value = 0;
        assert_int_equal(qs_io_decimal(&p, cases[i].decimals, &value), cases[i].ok);
        assert_int_equal(value, cases[i].value);
        assert_string_equal(p, cases[i].rest);
    }
}

/* proc(5): the name may hold all that a line of that file holds otherwise. */
static void finds_the_fields_behind_a_name(void **state)
{
    (void)state;
    assert_string_equal(qs_io_stat_fields("12 (a) b (c) S 7 8\n"), "7 8\n");
    assert_string_equal(qs_io_stat_fields("1 (a) R "), "");
    assert_null(qs_io_stat_fields("1 (a) R"));
    assert_null(qs_io_stat_fields("1 (a"));
}

static void reads_and_joins_texts(void **state)
{
    char text[8] = "ab";
    (void)state;
    qs_io_append(text, sizeof text, "cd");
    assert_string_equal(text, "abcd");
    qs_io_append(text, sizeof text, "efgh"); /* one more than there is room for */
    assert_string_equal(text, "abcdefg");
    qs_io_append(text, sizeof text, "z");
    assert_string_equal(text, "abcdefg");
    strcpy(text, "abcdef");
    qs_io_append(text, sizeof text, "g");
    assert_string_equal(text, "abcdefg");
    put("text", "one \t\ntwo\n");
    int next_fd = free_fd();
    assert_int_equal(qs_io_read("text", text, sizeof text), 7);
    assert_int_equal(free_fd(), next_fd); /* it is closed again */
    assert_string_equal(text, "one \t\nt");
    assert_true(qs_io_line("text", text, sizeof text));
    assert_string_equal(text, "one");
    put("text", "   \nx\n");
    assert_false(qs_io_line("text", text, sizeof text));
    put("text", "");
    assert_false(qs_io_line("text", text, sizeof text));
    assert_int_equal(qs_io_read("nowhere", text, sizeof text), -1);
    assert_string_equal(text, "");
    strcpy(text, "old");
    assert_int_equal(qs_io_read(".", text, sizeof text), -1); /* opened, not read */
    assert_string_equal(text, "");
    char shown[] = "\x1f \x7e\x7f\xc3z\n";
    qs_io_printable(shown);
    assert_string_equal(shown, "? ~??z?");
}

/* Descriptor 0 is one like others; -1 is none, and errno is nobody's business. */
static void closes_descriptors(void **state)
{
    int kept = dup(0), fd = 0;
    (void)state;
    errno = ENOTUNIQ;
    for (int again = 0; again < 2; again++) {
        qs_io_close(&fd);
        assert_int_equal(fd, -1);
        assert_int_equal(errno, ENOTUNIQ);
    }
    assert_int_equal(fcntl(0, F_GETFD), -1);
    if (kept >= 0) {
        assert_int_equal(dup2(kept, 0) | close(kept), 0);
    }
}

static void lists_processors(void **state)
{
    static const struct {
        const char *said, *printed; /* NULL: it is no list */
    } cases[] = {
        {"0-3,6", "0-3,6"}, {"6,1,2", "1-2,6"}, {"5-5", "5"},  {"", ""},      {"1,", "1"},
        {"1023", "1023"},   {"1024", NULL},     {"3-1", NULL}, {"1-", NULL},  {"-1", NULL},
        {"0-1024", NULL},   {"1,,2", NULL},     {"x", NULL},   {"1 2", NULL}, {"0,1022-1023", "0,1022-1023"}};
    char text[64];
    cpu_set_t cpus;
    (void)state;
    assert_int_equal(QS_CPUS_MAX, 1024);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(qs_cpus_parse(cases[i].said, &cpus), cases[i].printed != NULL);
        if (cases[i].printed) {
            qs_cpus_print(&cpus, text, sizeof text);
            assert_string_equal(text, cases[i].printed);
        }
    }
}

/* More entries than one call of the kernel brings. */
static void lists_a_whole_folder(void **state)
{
    enum { FILES = 600 };
    static struct qs_dir dir;
    static bool seen[FILES];
    size_t n = 0;
    (void)state;
    mkdir("many", 0700);
    for (int i = 0; i < FILES; i++) {
        char path[64];
        snprintf(path, sizeof path, "many/a-name-that-takes-some-room-%d", i);
        put(path, "");
    }
    assert_true(qs_dir_open(&dir, "many"));
    for (const char *name = qs_dir_next(&dir); name; name = qs_dir_next(&dir)) {
        int i = -1;
        if (sscanf(name, "a-name-that-takes-some-room-%d", &i) == 1) {
            assert_false(seen[i]);
            seen[i] = true;
            n++;
        }
    }
    assert_int_equal(n, FILES);
    assert_null(qs_dir_next(&dir));
    qs_dir_close(&dir);
    assert_int_equal(dir.fd, -1);
    assert_false(qs_dir_open(&dir, "nowhere"));
    assert_false(qs_dir_open(&dir, "text")); /* a file is not a folder */
}

static void memory_has_its_size(void **state)
{
    struct stat st;
    (void)state;
    int fd = qs_memory_open("test", 8192);
    assert_true(fd >= 16);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 8192);
    assert_int_equal(ftruncate(fd, 4096), -1);
    assert_int_equal(ftruncate(fd, 16384), -1);
    assert_int_equal(pwrite(fd, "x", 1, 8192), -1);
    unsigned char *at = qs_memory_map(fd, 8192);
    assert_non_null(at);
    at[8191] = 7;
    unsigned char byte = 0;
    assert_int_equal(pread(fd, &byte, 1, 8191), 1);
    assert_int_equal(byte, 7);
    qs_memory_unmap(at, 8192);
    close(fd);
    assert_int_equal(qs_memory_move_up(-1), -1);
    assert_null(qs_memory_map(-1, 8192));
    fd = qs_memory_move_up(open("/dev/null", O_RDONLY));
    assert_true(fd >= 16);
    close(fd);
}

/* What cannot be sealed and is cut: zeros come in its place. Any other such signal still ends the process. */
static void memory_that_is_cut_is_zero(void **state)
{
    int status;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        int cut = open("cut", O_RDWR | O_CREAT, 0600), other = open("other", O_RDWR | O_CREAT, 0600);
        bool ok = ftruncate(cut, 8192) == 0 && ftruncate(other, 8192) == 0;
        volatile unsigned char *theirs = mmap(NULL, 8192, PROT_READ, MAP_SHARED, other, 0);
        volatile unsigned char *ours = qs_memory_map(cut, 8192);
        ours[0] = ours[8191] = 9;
        ok = ok && ftruncate(cut, 0) == 0 && ftruncate(other, 0) == 0 && ours[8191] == 0 && ours[0] == 0;
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        close(open(ok ? "zeros" : "wrong", O_CREAT | O_WRONLY, 0600));
        _exit(theirs[0]);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(access("zeros", F_OK), 0);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

static struct qs_port_output heard(struct qs_capture *c, bool tail, size_t max, const size_t *writes)
{
    static char bytes[65536];
    struct qs_port_output out;
    uint64_t at = 0;
    assert_true(qs_capture_open(c, true, tail, max));
    for (; *writes; writes++) {
        for (size_t i = 0; i < *writes; i++) {
            bytes[i] = (char)((at + i) % 251);
        }
        at += *writes;
        assert_int_equal(write(c->write_fd, bytes, *writes), (ssize_t)*writes);
        qs_capture_drain(c, 1);
    }
    qs_capture_result(c, &out);
    assert_int_equal(out.total_bytes, at);
    for (size_t i = 0; i < out.kept_bytes; i++) {
        uint64_t place = tail ? at - out.kept_bytes + i : i;
        assert_int_equal((unsigned char)out.kept[i], place % 251);
    }
    return out;
}

/* The first bytes of a window, the last ones of a hook, whatever pieces they come in. */
static void keeps_an_end_of_the_output(void **state)
{
    static const size_t few[] = {3, 4, 0}, just[] = {4, 6, 0}, more[] = {7, 7, 0},
                        much[] = {65536, 65536, 65536, 1, 65536, 0};
    static struct qs_capture c = {.read_fd = -1, .write_fd = -1};
    (void)state;
    for (int tail = 0; tail < 2; tail++) {
        assert_int_equal(heard(&c, tail, 10, few).kept_bytes, 7);
        assert_int_equal(heard(&c, tail, 10, just).kept_bytes, 10);
        assert_int_equal(heard(&c, tail, 10, more).kept_bytes, 10);
        assert_int_equal(heard(&c, tail, 0, more).kept_bytes, 0);
        assert_int_equal(heard(&c, tail, 65536, much).kept_bytes, 65536);
        assert_int_equal(heard(&c, tail, 60000, much).kept_bytes, 60000);
    }
    assert_int_equal(write(c.write_fd, "left", 4), 4);
    qs_capture_restart(&c);
    assert_int_equal(c.total, 0);
    assert_int_equal(c.len, 0);
    assert_true(qs_capture_open(&c, false, false, 10)); /* discarded: the pipe before is closed */
    assert_int_equal(c.read_fd, -1);
    assert_int_equal(c.write_fd, -1);
}

static void finds_users(void **state)
{
    struct qs_identity who;
    (void)state;
    for (int by_number = 0; by_number < 2; by_number++) {
        assert_true(qs_identity_find(by_number ? "0" : "root", &who));
        assert_int_equal(who.uid, 0);
        assert_int_equal(who.gid, 0);
        assert_string_equal(who.name, "root");
        assert_string_equal(who.home, "/root");
        assert_true(who.group_count >= 1);
    }
    assert_true(qs_identity_find("54321", &who)); /* whom nobody knows */
    assert_int_equal(who.uid, 54321);
    assert_int_equal(who.gid, 54321);
    assert_int_equal(who.group_count, 1);
    assert_int_equal(who.groups[0], 54321);
    assert_string_equal(who.name, "54321");
    assert_string_equal(who.home, "/");
    assert_string_equal(who.shell, "/bin/sh");
    assert_true(qs_identity_find("4294967294", &who));
    assert_false(qs_identity_find("4294967295", &who)); /* is nobody's number for the kernel */
    assert_false(qs_identity_find("no such user", &who));
    assert_false(qs_identity_find("0x", &who));
    assert_false(qs_identity_find("", &who));
    assert_false(qs_identity_find("-1", &who));
}

/* Rights that could not be given back are not lent: who is in more groups than there is room for keeps them.
 */
static void lends_what_it_can_take_back(void **state)
{
    struct qs_identity who, own;
    gid_t before[QS_GROUPS_MAX], many[QS_GROUPS_MAX + 1];
    int count = getgroups(QS_GROUPS_MAX, before);
    (void)state;
    for (gid_t i = 0; i <= QS_GROUPS_MAX; i++) {
        many[i] = 50000 + i;
    }
    if (count < 0 || setgroups(QS_GROUPS_MAX + 1, many) != 0) {
        puts("# why: only root joins groups");
        skip();
    }
    assert_true(qs_identity_find("54321", &who));
    assert_false(qs_identity_lend(&who, &own));
    assert_int_equal(getgroups(0, NULL), QS_GROUPS_MAX + 1);
    assert_int_equal(setgroups((size_t)count, before), 0);
    assert_true(qs_identity_lend(&who, &own));
    assert_int_equal(getgroups(0, NULL), 1);
    qs_identity_end_loan(&own);
    assert_int_equal(getgroups(0, NULL), count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_numbers),
        cmocka_unit_test(finds_the_fields_behind_a_name),
        cmocka_unit_test(reads_and_joins_texts),
        cmocka_unit_test(closes_descriptors),
        cmocka_unit_test(lists_processors),
        cmocka_unit_test(lists_a_whole_folder),
        cmocka_unit_test(memory_has_its_size),
        cmocka_unit_test(memory_that_is_cut_is_zero),
        cmocka_unit_test(keeps_an_end_of_the_output),
        cmocka_unit_test(finds_users),
        cmocka_unit_test(lends_what_it_can_take_back),
    };
    return cmocka_run_group_tests_name("agent.parts", tests, enter_folder, leave_folder);
}
