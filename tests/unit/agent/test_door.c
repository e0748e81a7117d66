/* The door of an agent, its key, and the byte streams behind it. */
#include "folder.h"
#include "linux/link.h"
#include "proto/enrolled.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct qs_link door;

static int group_setup(void **state)
{
    signal(SIGPIPE, SIG_IGN);
    return enter_folder(state);
}

static void refuses(const char *address, const char *why)
{
    char error[QS_LINK_ERROR_BYTES] = "";
    assert_false(qs_link_listen(&door, address, error));
    if (!strstr(error, why)) {
        fail_msg("%s: '%s' does not say '%s'", address, error, why);
    }
    qs_link_close(&door);
}

static void opens(const char *address)
{
    char error[QS_LINK_ERROR_BYTES] = "";
    if (!qs_link_listen(&door, address, error)) {
        fail_msg("%s", error);
    }
}

static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(address.sun_path, path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

static void takes_numeric_addresses(void **state)
{
    static const char *const good[] = {"tcp:127.0.0.1:0", "tcp:localhost:0", "tcp:127.255.255.254:0",
                                       "tcp:0.0.0.0:0",   "tcp:[::1]:0",     "tcp:[::]:0"},
                             *const none[] = {
                                 "tcp:",
                                 "tcp::1",
                                 "tcp:127.0.0.1",
                                 "tcp:127.0.0.1:",
                                 "tcp:127.0.0.1:x",
                                 "tcp:127.0.0.1:65536",
                                 "tcp:127.0.0.1:-1",
                                 "tcp:[::1:9",
                                 "tcp:1.2.3:9",
                                 "tcp:a-name-that-is-longer-than-any-address-may-be-and-then-some-more-of:1"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (i < 4 || access("/proc/net/if_inet6", F_OK) == 0) {
            opens(good[i]);
            assert_in_range(qs_link_port(&door), 1, 65535);
            qs_link_close(&door);
            assert_int_equal(door.listen_fd, -1);
        }
    }
    refuses("tcp:192.0.2.1:0", strerror(EADDRNOTAVAIL)); /* not this machine's */
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        char error[QS_LINK_ERROR_BYTES];
        assert_false(qs_link_listen(&door, none[i], error));
        assert_int_equal(door.listen_fd, -1);
    }
    refuses("udp:1", "expected unix:PATH, localabstract:NAME or tcp:ADDRESS:PORT");
}

static void has_one_socket_file(void **state)
{
    char path[120];
    struct stat st;
    (void)state;
    opens("unix:door");
    assert_int_equal(lstat("door", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(qs_link_port(&door), 0);
    struct qs_link first = door;
    char error[QS_LINK_ERROR_BYTES];
    assert_false(qs_link_listen(&door, "unix:door", error));
    assert_non_null(strstr(error, "another agent listens there"));
    int fd = connect_to("door"); /* the first is still there */
    close(fd);
    close(first.listen_fd); /* killed: its file is a leftover */
    opens("unix:door");
    close(connect_to("door"));
    qs_link_close(&door);
    assert_int_equal(lstat("door", &st), -1);
    close(open("file", O_CREAT | O_WRONLY, 0600));
    refuses("unix:file", "something that is not a socket is there");
    assert_int_equal(lstat("file", &st), 0);
    refuses("unix:", "a socket's path has 1 to 107 bytes");
    memset(path, 'x', sizeof path);
    memcpy(path, "unix:", 5);
    path[5 + 108] = '\0';
    refuses(path, "a socket's path has 1 to 107 bytes");
    path[5 + 107] = '\0';
    opens(path);
    qs_link_close(&door);
    refuses("unix:no/such/folder", strerror(ENOENT));
}

/* A name of the kernel's, of this length and no other; no file is made, and none is removed. */
static void has_an_abstract_name(void **state)
{
    char name[128], error[QS_LINK_ERROR_BYTES];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)state;
    snprintf(name, sizeof name, "localabstract:qs-door-%ld", (long)getpid());
    opens("unix:own");
    assert_false(door.relayed);
    qs_link_close(&door);
    opens(name);
    assert_true(door.relayed); /* it is adbd that comes there, for whoever asked it to */
    struct qs_link first = door;
    assert_false(qs_link_listen(&door, name, error));
    assert_non_null(strstr(error, "another process has this name; choose another one"));
    qs_link_close(&door);
    size_t n = strlen(name) - strlen("localabstract:");
    memcpy(address.sun_path + 1, name + strlen("localabstract:"), n);
    for (size_t more = 0; more < 2; more++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n + more);
        assert_int_equal(connect(fd, (struct sockaddr *)&address, size), more ? -1 : 0);
        close(fd);
    }
    int guest = qs_link_accept(&first); /* of our own user */
    assert_true(guest >= 0);
    close(guest);
    qs_link_close(&first);
    refuses("localabstract:", "a socket's name has 1 to 107 bytes");
    memset(name + 14, 'x', 108);
    name[14 + 108] = '\0';
    refuses(name, "a socket's name has 1 to 107 bytes");
    name[14 + 107] = '\0';
    opens(name);
    qs_link_close(&door);
}

static void a_name_is_for_its_own_user(void **state)
{
    char name[64], text[100] = "";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int said[2];
    (void)state;
    if (geteuid() != 0) {
        puts("# why: only root can become somebody else");
        skip();
    }
    snprintf(name, sizeof name, "localabstract:door-%d", (int)getpid());
    opens(name);
    memcpy(address.sun_path + 1, name + 14, strlen(name + 14));
    assert_int_equal(pipe(said), 0);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        const size_t n = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name + 14);
        bool there = setuid(54321) == 0 && connect(fd, (struct sockaddr *)&address, (socklen_t)n) == 0;
        ssize_t got = there ? read(fd, text, sizeof text) : 0; /* until it is turned away */
        _exit(got > 0 && write(said[1], text, (size_t)got) == got ? 0 : 1);
    }
    struct pollfd waiting = {.fd = door.listen_fd, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, 60000), 1);
    assert_int_equal(qs_link_accept(&door), -1);
    assert_true(read(said[0], text, sizeof text - 1) > 0);
    assert_non_null(strstr(text, "only its own user, or root"));
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(said[0]);
    close(said[1]);
    qs_link_close(&door);
}

static void reads_a_key_that_is_one(void **state)
{
    static const struct {
        mode_t mode;
        size_t n;
        const char *why; /* NULL: it is a key */
    } cases[] = {{0600, 32, NULL},
                 {0400, 4096, NULL},
                 {0640, 32, "others may read it"},
                 {0604, 32, "others may read it"},
                 {0700, 32, "others may read it, or it is executable"},
                 {0600, 31, "32 to 4096 bytes"},
                 {0600, 4097, "32 to 4096 bytes"},
                 {0600, 0, "32 to 4096 bytes"}};
    static uint8_t key[4096], bytes[4097];
    char error[QS_LINK_ERROR_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i % 253);
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = open("key", O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(fd, bytes, cases[i].n), (ssize_t)cases[i].n);
        assert_int_equal(fchmod(fd, cases[i].mode), 0);
        close(fd);
        assert_int_equal(qs_link_read_key("key", key, sizeof key, error), cases[i].why ? 0 : cases[i].n);
        if (cases[i].why) {
            assert_non_null(strstr(error, cases[i].why));
        } else {
            assert_memory_equal(key, bytes, cases[i].n);
        }
        unlink("key");
    }
    assert_int_equal(qs_link_read_key("nowhere", key, sizeof key, error), 0);
    assert_non_null(strstr(error, strerror(ENOENT)));
    assert_int_equal(qs_link_read_key(".", key, sizeof key, error), 0);
    assert_non_null(strstr(error, "it is not a regular file"));
    if (geteuid() == 0) {
        int fd = open("key", O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(fd, bytes, 32), 32);
        assert_int_equal(fchown(fd, 54321, 54321), 0);
        close(fd);
        assert_int_equal(qs_link_read_key("key", key, sizeof key, error), 0);
        assert_non_null(strstr(error, "it belongs to somebody else"));
        unlink("key");
    }
}

/* What is a key elsewhere, however long, is none of a device. */
static void reads_a_key_of_a_device(void **state)
{
    static const size_t sizes[] = {32, 77, 142, 143, 4096};
    static uint8_t bytes[4096];
    struct qs_enrolled key = {.name = "board", .secret = {5, 6, 7}}, got;
    char error[QS_LINK_ERROR_BYTES], text[QS_ENROLLED_FILE_MAX_BYTES];
    (void)state;
    for (size_t i = 0; i <= sizeof sizes / sizeof sizes[0]; i++) {
        bool good = i == sizeof sizes / sizeof sizes[0];
        size_t n = good ? qs_enrolled_write(&key, text) : sizes[i];
        int fd = open("key", O_CREAT | O_WRONLY, 0600);
        assert_int_equal(write(fd, good ? (const void *)text : bytes, n), (ssize_t)n);
        close(fd);
        assert_int_equal(qs_link_read_enrolled("key", &got, error), good);
        if (!good &&
            !strstr(error, "it is no key of a device; on the host, quiesce devices enroll NAME makes")) {
            fail_msg("%zu bytes: %s", n, error);
        }
        unlink("key");
    }
    assert_memory_equal(&got, &key, sizeof key);
}

/* A handshake is several small writes: none of them waits for the peer to acknowledge the one before. */
static void says_at_once_what_a_handshake_says(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int at_once = 0;
    socklen_t n = sizeof at_once;
    (void)state;
    opens("tcp:127.0.0.1:0");
    address.sin_port = htons((uint16_t)qs_link_port(&door));
    int peer = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(peer, (struct sockaddr *)&address, sizeof address), 0);
    int fd = qs_link_accept(&door);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &at_once, &n), 0);
    assert_true(at_once);
    close(fd);
    close(peer);
    qs_link_close(&door);
}

static void carries_bytes(void **state)
{
    uint8_t bytes[16];
    int ends[2], stop[2];
    static uint8_t much[4 * 1024 * 1024];
    (void)state;
    opens("unix:door");
    ends[1] = connect_to("door");
    ends[0] = qs_link_accept(&door);
    assert_true(ends[0] >= 0);
    assert_int_equal(qs_link_accept(&door), -1); /* nobody else waits */
    qs_link_adopt(&door, ends[0], NULL);
    assert_int_equal(door.peer_pid, getpid());
    assert_int_equal(qs_link_unread(&door), 0);
    assert_int_equal(qs_link_receive(&door, bytes, sizeof bytes), 0);
    assert_int_equal(write(ends[1], "hello", 5), 5);
    assert_int_equal(qs_link_unread(&door), 5);
    assert_int_equal(qs_link_receive(&door, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "hello", 5);
    assert_true(qs_link_send(&door, (const uint8_t *)"back", 4));
    assert_int_equal(read(ends[1], bytes, sizeof bytes), 4);
    assert_memory_equal(bytes, "back", 4);
    assert_int_equal(pipe(stop), 0); /* it is told to end while nobody reads what it sends */
    door.stop_fd = stop[0];
    assert_int_equal(write(stop[1], "x", 1), 1);
    assert_false(qs_link_send(&door, much, sizeof much));
    door.stop_fd = -1;
    close(ends[1]);
    assert_int_equal(qs_link_receive(&door, bytes, sizeof bytes), -1);
    assert_false(qs_link_send(&door, bytes, 1));
    qs_link_drop(&door);
    assert_int_equal(door.in_fd, -1);
    assert_int_equal(door.peer_pid, 0);
    assert_int_equal(qs_link_unread(&door), 0);
    assert_false(qs_link_send(&door, bytes, 1));
    qs_link_close(&door);
    close(stop[0]);
    close(stop[1]);
}

/* These are its standard input and output: which of both waits afterwards? */
static void takes_over(const int fds[2], bool waits[2])
{
    struct qs_link stdio;
    char error[QS_LINK_ERROR_BYTES];
    int before[2] = {dup(0), dup(1)};
    fflush(stdout);
    bool ok = dup2(fds[0], 0) == 0 && dup2(fds[1], 1) == 1 && qs_link_open_stdio(&stdio, 77, error);
    dup2(before[0], 0);
    dup2(before[1], 1);
    close(before[0]);
    close(before[1]);
    assert_true(ok);
    assert_int_equal(stdio.peer_pid, 77);
    waits[0] = !(fcntl(stdio.in_fd, F_GETFL) & O_NONBLOCK);
    waits[1] = !(fcntl(stdio.out_fd, F_GETFL) & O_NONBLOCK);
    close(stdio.in_fd);
    close(stdio.out_fd);
}

/* A pipe or a socket is ours alone and never waits; what a shell may have opened stays as it is. */
static void leaves_what_it_may_share(void **state)
{
    int pipes[2], sockets[2], files[2];
    bool waits[2];
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    files[0] = open("in", O_CREAT | O_RDONLY, 0600);
    files[1] = open("out", O_CREAT | O_WRONLY, 0600);
    takes_over(pipes, waits);
    assert_true(!waits[0] && !waits[1]);
    takes_over(sockets, waits);
    assert_true(!waits[0] && !waits[1]);
    takes_over(files, waits);
    assert_true(waits[0] && waits[1]);
    for (int i = 0; i < 2; i++) {
        close(pipes[i]);
        close(sockets[i]);
        close(files[i]);
    }
}

static void has_one_link_at_a_time(void **state)
{
    struct qs_link link = {.kind = QS_LINK_UNIX, .in_fd = -1, .out_fd = -1, .listen_fd = -1, .stop_fd = -1};
    int first[2], second[2];
    char byte;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, first), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, second), 0);
    qs_link_adopt(&link, first[0], NULL);
    assert_int_equal(link.peer_pid, getpid());
    qs_link_adopt(&link, second[0], NULL);
    assert_int_equal(link.in_fd, second[0]);
    assert_int_equal(recv(first[1], &byte, 1, MSG_DONTWAIT), 0); /* hung up */
    qs_link_drop(&link);
    assert_int_equal(recv(second[1], &byte, 1, MSG_DONTWAIT), 0);
    close(first[1]);
    close(second[1]);
}

static void says_why_it_turns_away(void **state)
{
    char text[64] = "";
    int ends[2];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    qs_link_turn_away(ends[0], NULL, "not now\n");
    assert_int_equal(read(ends[1], text, sizeof text), 8);
    assert_string_equal(text, "not now\n");
    assert_int_equal(read(ends[1], text, sizeof text), 0);
    close(ends[1]);
}

/* Segments of its connection, each way. */
static void counts_segments(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int64_t in[3] = {-1}, out[3] = {-1};
    char byte = 0;
    (void)state;
    opens("unix:door");
    assert_false(qs_link_segments(&door, &in[0], &out[0]));
    qs_link_close(&door);
    opens("tcp:127.0.0.1:0");
    assert_false(qs_link_segments(&door, &in[0], &out[0])); /* nobody is there */
    address.sin_port = htons((uint16_t)qs_link_port(&door));
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    struct pollfd waiting = {.fd = door.listen_fd, .events = POLLIN};
    assert_int_equal(poll(&waiting, 1, 60000), 1);
    qs_link_adopt(&door, qs_link_accept(&door), NULL);
    assert_int_equal(door.peer_pid, 0);
    if (!qs_link_segments(&door, &in[0], &out[0])) {
        puts("# why: this kernel does not count segments");
        skip();
    }
    assert_int_equal(write(fd, &byte, 1), 1);
    waiting.fd = door.in_fd;
    assert_int_equal(poll(&waiting, 1, 60000), 1);
    assert_true(qs_link_segments(&door, &in[1], &out[1]));
    assert_true(in[1] > in[0]);
    assert_true(qs_link_send(&door, (uint8_t *)&byte, 1));
    assert_int_equal(read(fd, &byte, 1), 1);
    assert_true(qs_link_segments(&door, &in[2], &out[2]));
    assert_true(out[2] > out[1]);
    qs_link_drain(&door);
    int left = 1;
    assert_int_equal(ioctl(door.out_fd, TIOCOUTQ, &left), 0);
    assert_int_equal(left, 0);
    close(fd);
    qs_link_close(&door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_numeric_addresses),
        cmocka_unit_test(has_one_socket_file),
        cmocka_unit_test(has_an_abstract_name),
        cmocka_unit_test(a_name_is_for_its_own_user),
        cmocka_unit_test(reads_a_key_that_is_one),
        cmocka_unit_test(reads_a_key_of_a_device),
        cmocka_unit_test(says_at_once_what_a_handshake_says),
        cmocka_unit_test(carries_bytes),
        cmocka_unit_test(leaves_what_it_may_share),
        cmocka_unit_test(has_one_link_at_a_time),
        cmocka_unit_test(says_why_it_turns_away),
        cmocka_unit_test(counts_segments),
    };
    return cmocka_run_group_tests_name("agent.door", tests, group_setup, leave_folder);
}
