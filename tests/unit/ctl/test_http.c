/* Who answers at a name that is not in the file system. */
#include "ctl/client/http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* A process of user uid listens, says at which name, answers one request, and exits with 1 where it heard any
 * byte of it, else 0. */
static pid_t listener(uid_t uid, char ret_name[32])
{
    static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    int out[2];
    assert_int_equal(pipe(out), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        socklen_t bytes = sizeof address.sun_family;
        char heard[4096], name[32] = "@";
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if ((uid != getuid() && setuid(uid) != 0) || bind(fd, (struct sockaddr *)&address, bytes) != 0 ||
            listen(fd, 4) != 0)
            _exit(2);
        bytes = sizeof address;
        if (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
            _exit(3);
        memcpy(name + 1, address.sun_path + 1, bytes - offsetof(struct sockaddr_un, sun_path) - 1);
        if (write(out[1], name, sizeof name) != (ssize_t)sizeof name)
            _exit(4);
        int peer = accept(fd, NULL, NULL);
        ssize_t n = read(peer, heard, sizeof heard);
        if (n > 0 && write(peer, reply, sizeof reply - 1) < 0)
            _exit(5);
        _exit(n > 0);
    }
    assert_int_equal(read(out[0], ret_name, 32), 32);
    assert_int_equal(close(out[0]) | close(out[1]), 0);
    return pid;
}

static bool call(const char *name, struct qs_err *err)
{
    const struct qs_http_request request = {
        .method = "POST", .path = "/api/v1/analyze", .body = "1 2 3", .body_bytes = 5};
    struct qs_http_reply reply = {0};
    struct qs_http *http = qs_http_new(name, err);
    qs_buf_init(&reply.body);
    bool ok = qs_http_call(http, &request, &reply, err);
    qs_buf_done(&reply.body);
    qs_http_free(http);
    return ok;
}

static int heard_by(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void another_user_hears_nothing(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    char name[32], text[128];
    if (getuid() != 0) {
        puts("# why: only root can be somebody else");
        skip();
    }
    pid_t pid = listener(65534, name);
    assert_false(call(name, &err));
    assert_int_equal(err.code, QS_E_DENIED);
    snprintf(text, sizeof text, "another user's process listens at %s: nothing was sent to it", name);
    assert_string_equal(err.text, text);
    assert_int_equal(heard_by(pid), 0);
}

static void the_same_user_is_asked(void **state)
{
    (void)state;
    struct qs_err err = QS_ERR_INIT;
    char name[32];
    pid_t pid = listener(getuid(), name);
    assert_true(call(name, &err));
    assert_int_equal(heard_by(pid), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_user_hears_nothing),
        cmocka_unit_test(the_same_user_is_asked),
    };
    return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
