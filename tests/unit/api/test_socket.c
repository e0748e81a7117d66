/* The socket: whose it is, who may come in, and what is left alone. */
#include "api/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/api_impl.h"
#include "fixture.h"

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

static long system_allows(void)
{
    char text[32] = "";
    int fd = open("/proc/sys/net/core/somaxconn", O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) < 0)
        return 0;
    close(fd);
    return strtol(text, NULL, 10);
}

static void refuses(const char *path, enum qs_errc code)
{
    struct qs_listen l;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_listen_open(path, &l, &err));
    assert_int_equal(err.code, code);
    assert_true(strlen(err.text) > 10);
}

static void only_its_owner_comes_in(void **state)
{
    struct fixture *f = *state;
    char folder[96];
    snprintf(folder, sizeof folder, "%s/run", f->dir);
    assert_int_equal(mode_of(folder), 0700);
    assert_int_equal(mode_of(f->socket), 0600);
    assert_true(qs_peer_is_allowed(1000, 1000));
    assert_true(qs_peer_is_allowed(0, 1000));
    assert_false(qs_peer_is_allowed(1001, 1000));
    assert_false(qs_peer_is_allowed(1000, 0));
    uid_t uid = 12345;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_true(qs_peer_uid(pair[0], &uid));
    assert_int_equal(uid, getuid());
    close(pair[0]);
    close(pair[1]);
}

/* A child with another user's identity; where this process may not take one, it asks as itself and is served.
 */
static void ask_as_nobody(const char *path, int out)
{
    static const char ask[] = "GET /healthz HTTP/1.1\r\nHost: q\r\nConnection: close\r\n\r\n";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char bytes[2048];
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (getuid() == 0 && setuid(65534) != 0)
        _exit(2);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0 || write(fd, ask, sizeof ask - 1) < 0)
        _exit(3);
    for (ssize_t n; (n = read(fd, bytes, sizeof bytes)) > 0;) {
        if (write(out, bytes, (size_t)n) != n)
            _exit(4);
    }
    _exit(0);
}

static void on_child_output(unsigned events, void *user)
{
    struct client *c = user;
    char bytes[2048];
    (void)events;
    ssize_t n = read(c->fd, bytes, sizeof bytes);
    if (n > 0)
        qs_buf_add(&c->in, bytes, (size_t)n);
    c->closed = n == 0;
    if (c->closed)
        assert_true(qs_io_update(c->io, 0, NULL));
    qs_loop_stop(c->f->loop);
}

/* Even where the folder and the socket were opened to all, the kernel says who comes. */
static void strangers_are_refused(void **state)
{
    struct fixture *f = *state;
    char folder[96];
    int out[2], status;
    snprintf(folder, sizeof folder, "%s/run", f->dir);
    assert_int_equal(chmod(f->dir, 0755) | chmod(folder, 0755) | chmod(f->socket, 0666), 0);
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    if (pid == 0)
        ask_as_nobody(f->socket, out[1]);
    close(out[1]);
    struct client c = {.f = f, .fd = out[0]};
    qs_buf_init(&c.in);
    assert_int_equal(fcntl(out[0], F_SETFL, O_NONBLOCK), 0);
    c.io = qs_io_start(f->loop, out[0], QS_IO_READ, on_child_output, &c, NULL);
    client_until(&c, NULL);
    qs_io_stop(c.io);
    close(out[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    struct answer a = parse(&c.in);
    if (getuid() == 0) {
        assert_error(a, 403, "denied");
    } else {
        assert_int_equal(a.status, 200);
        answer_done(&a);
    }
    qs_buf_done(&c.in);
}

static void one_daemon_listens(void **state)
{
    struct fixture *f = *state;
    refuses(f->socket, QS_E_SOCKET_PLACE);
    struct answer a = get(f, "/healthz"); /* the first is unharmed */
    assert_int_equal(a.status, 200);
    answer_done(&a);
    stop_api(f);
    assert_int_equal(access(f->socket, F_OK), -1);
    start_api(f);
}

/* Somebody who knows nothing of the lock listens there. */
static void another_program_listens(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/other.sock", f->dir);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    refuses(address.sun_path, QS_E_SOCKET_PLACE);
    assert_int_equal(access(address.sun_path, F_OK), 0);
    close(fd); /* now it is stale */
    struct qs_listen l;
    struct qs_err err = QS_ERR_INIT;
    assert_true(qs_listen_open(address.sun_path, &l, &err));
    qs_listen_close(&l);
}

static void what_is_not_ours_stays(void **state)
{
    struct fixture *f = *state;
    char path[128], deep[256];
    snprintf(path, sizeof path, "%s/plain", f->dir);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    close(fd);
    refuses(path, QS_E_SOCKET_PLACE);
    assert_int_equal(access(path, F_OK), 0);
    snprintf(deep, sizeof deep, "%s/api.sock", path); /* a file where the folder should be */
    refuses(deep, QS_E_CONFLICT);
    snprintf(path, sizeof path, "%s/open", f->dir);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(deep, sizeof deep, "%s/api.sock", path);
    static const mode_t modes[] = {0777, 0702, 0720}; /* all, others, the group */
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        refuses(deep, QS_E_DENIED);
        assert_int_not_equal(access(deep, F_OK), 0);
    }
    struct qs_listen l;
    struct qs_err err = QS_ERR_INIT;
    assert_int_equal(chmod(path, 01777), 0); /* as /tmp: nobody can rename what is mine */
    assert_true(qs_listen_open(deep, &l, &err));
    qs_listen_close(&l);
    memset(deep, 'x', sizeof deep - 1);
    deep[0] = '/';
    deep[sizeof deep - 1] = 0;
    refuses(deep, QS_E_USAGE);
    refuses("", QS_E_USAGE);
}

/* A socket that somebody put in the place of ours is not removed at the end. */
static void a_successor_is_left_alone(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(unlink(f->socket), 0);
    int fd = open(f->socket, O_CREAT | O_WRONLY, 0600);
    close(fd);
    stop_api(f);
    assert_int_equal(access(f->socket, F_OK), 0);
}

/* So many connections wait until the daemon has time for them; one more is told to come again. */
static void a_thousand_wait_in_the_backlog(void **state)
{
    enum { WAITING = 1025, OTHERS = 64 };
    struct fixture *f = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct qs_listen l;
    struct qs_err err = QS_ERR_INIT;
    static int fd[WAITING + 1];
    size_t n = 0;
    if (system_allows() < WAITING - 1 || qs_loop_allow_files(f->loop, WAITING + OTHERS) < WAITING + OTHERS) {
        puts("# why: the system allows fewer connections or descriptors");
        skip();
    }
    snprintf(address.sun_path, sizeof address.sun_path, "%s/full.sock", f->dir);
    assert_true(qs_listen_open(address.sun_path, &l, &err));
    while (n <= WAITING) { /* nobody takes them */
        fd[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        assert_true(fd[n] >= 0);
        bool came = connect(fd[n++], (struct sockaddr *)&address, sizeof address) == 0;
        if (!came)
            break;
    }
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(n - 1, WAITING); /* the kernel lets one more in than it was told */
    while (n > 0)
        close(fd[--n]);
    qs_listen_close(&l);
}

/* Another one made it and listens: no file is made, none is removed. */
static void an_inherited_socket(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct qs_listen l;
    struct qs_err err = QS_ERR_INIT;
    char name[32];
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address.sun_family), 0);
    snprintf(name, sizeof name, "fd:%d", fd);
    refuses(name, QS_E_USAGE); /* nobody listens there */
    assert_int_equal(listen(fd, 1), 0);
    assert_true(qs_listen_open(name, &l, &err));
    assert_int_equal(l.fd, fd);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    qs_listen_close(&l);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    refuses(name, QS_E_USAGE);
    assert_null(qs_listen_contact(name));
    char dir[PATH_MAX], *whole = qs_listen_contact("run/api.sock");
    assert_non_null(getcwd(dir, sizeof dir));
    assert_int_equal(strncmp(whole, dir, strlen(dir)), 0);
    assert_string_equal(whole + strlen(dir), "/run/api.sock");
    free(whole);
    whole = qs_listen_contact("/x/api.sock");
    assert_string_equal(whole, "/x/api.sock");
    free(whole);
    refuses("fd:", QS_E_USAGE);
    refuses("fd:0x", QS_E_USAGE);
}

static void says(const char *path, enum qs_errc code, const char *text)
{
    struct qs_listen l;
    struct qs_err err = QS_ERR_INIT;
    assert_false(qs_listen_open(path, &l, &err));
    assert_int_equal(l.fd, -1);
    assert_int_equal(l.lock_fd, -1);
    assert_int_equal(err.code, code);
    assert_string_equal(err.text, text);
}

/* What the system says against it stands in the error, with the file that it is about. */
static void refusals_are_told(void **state)
{
    struct fixture *f = *state;
    char path[128], lock[140], want[300];
    struct qs_err err = QS_ERR_INIT;
    snprintf(path, sizeof path, "%s/new/api.sock", f->dir);
    snprintf(lock, sizeof lock, "%s/new", f->dir);
    assert_int_equal(mkdir(lock, 0700), 0);
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(mkdir(lock, 0700), 0);
    snprintf(want, sizeof want, "cannot open %s: Is a directory", lock);
    says(path, QS_E_IO, want);
    assert_int_equal(rmdir(lock), 0);
    assert_int_equal(symlink("elsewhere", lock), 0);
    snprintf(want, sizeof want, "cannot open %s: Too many levels of symbolic links", lock);
    says(path, QS_E_IO, want);
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(symlink("elsewhere", path), 0);
    snprintf(want, sizeof want, "%s exists and is not a socket: it is left alone", path);
    says(path, QS_E_SOCKET_PLACE, want);
    snprintf(want, sizeof want, "another quiesced listens on %s", f->socket);
    says(f->socket, QS_E_SOCKET_PLACE, want);
    says("fd:7x", QS_E_USAGE, "fd:7x is not a descriptor of a listening socket");
    says("fd:2147483648", QS_E_USAGE, "fd:2147483648 is not a descriptor of a listening socket");
    uid_t uid = 12345;
    assert_false(qs_peer_uid(-1, &uid));
    assert_int_equal(uid, 12345);
    memset(path, 'x', sizeof path);
    path[108] = '\0';
    assert_false(qs_listen_path_fits(path, &err));
    snprintf(want, sizeof want, "a socket's path has 1 to 107 bytes: `%s`", path);
    assert_string_equal(err.text, want);
    path[107] = '\0';
    assert_true(qs_listen_path_fits(path, &err));
}

/* A folder that is gone has no name; a socket whose path is as long as can be is made. */
static void places_at_the_bounds(void **state)
{
    struct fixture *f = *state;
    char before[PATH_MAX], gone[96], path[108];
    struct qs_listen l;
    struct qs_err err = QS_ERR_INIT;
    snprintf(gone, sizeof gone, "%s/gone", f->dir);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(mkdir(gone, 0700) | chdir(gone) | rmdir(gone), 0);
    assert_null(qs_listen_contact("api.sock"));
    assert_int_equal(chdir(before), 0);
    memset(path, 'x', sizeof path);
    memcpy(path, f->dir, strlen(f->dir));
    path[strlen(f->dir)] = '/';
    path[107] = '\0';
    assert_true(qs_listen_open(path, &l, &err));
    assert_int_equal(fcntl(l.fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    refuses(path, QS_E_SOCKET_PLACE);
    qs_listen_close(&l);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(qs_listen_open(path, &l, &err)); /* the lock is free again */
    qs_listen_close(&l);
}

/* A part that is missing, a place that is taken: told, and tried again. */
static void an_api_that_does_not_start(void **state)
{
    struct fixture *f = *state;
    const struct qs_api_parts whole = f->api->p;
    struct qs_err err = QS_ERR_INIT;
    for (int i = 0; i < 7; i++) {
        struct qs_api_parts parts = whole;
        parts.loop = i == 0 ? NULL : parts.loop;
        parts.farm = i == 1 ? NULL : parts.farm;
        parts.store = i == 2 ? NULL : parts.store;
        parts.files = i == 3 ? NULL : parts.files;
        parts.socket_path = i == 4 ? NULL : i == 6 ? "" : parts.socket_path;
        parts.version = i == 5 ? NULL : parts.version;
        assert_null(qs_api_new(&parts, NULL, &err));
        assert_int_equal(err.code, i == 6 ? QS_E_USAGE : QS_E_INTERNAL);
        if (i < 6)
            assert_string_equal(err.text,
                                "the API needs a loop, a farm, a store, files, a path and a version");
    }
    struct qs_api *second = qs_api_new(&whole, NULL, &err);
    assert_non_null(second);
    assert_false(qs_api_start(second, &err));
    assert_int_equal(err.code, QS_E_SOCKET_PLACE);
    assert_false(qs_api_is_working(second));
    stop_api(f);
    if (!qs_api_start(second, &err))
        fail_msg("%s", err.text);
    f->api = second;
    struct answer a = get(f, "/healthz");
    assert_int_equal(a.status, 200);
    answer_done(&a);
    qs_api_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_its_owner_comes_in, setup, teardown),
        cmocka_unit_test_setup_teardown(strangers_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(one_daemon_listens, setup, teardown),
        cmocka_unit_test_setup_teardown(another_program_listens, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_ours_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(a_successor_is_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thousand_wait_in_the_backlog, setup, teardown),
        cmocka_unit_test(an_inherited_socket),
        cmocka_unit_test_setup_teardown(refusals_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(places_at_the_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(an_api_that_does_not_start, setup, teardown),
    };
    return cmocka_run_group_tests_name("socket", tests, NULL, NULL);
}
