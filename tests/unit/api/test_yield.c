/* A daemon that finds its place taken: for whom it waits, and for whom it does not. */
#include "api/yield.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"

struct fixture {
    char dir[64], place[96], db[96];
    FILE *file;
    struct qs_log *log;
    struct qs_heir heir;
    struct qs_err why;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/qs-yield-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->place, sizeof f->place, "%s/api.sock", f->dir);
    snprintf(f->db, sizeof f->db, "%s/q.db", f->dir);
    f->file = tmpfile();
    f->log = qs_log_new(f->file, QS_LOG_INFO, NULL);
    qs_fail(&f->why, QS_E_SOCKET_PLACE, "the place is taken");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    qs_log_free(f->log);
    fclose(f->file);
    (void)unlink(f->place);
    assert_int_equal(rmdir(f->dir), 0);
    free(f);
    return 0;
}

static bool tries_again(struct fixture *f)
{
    return qs_heir_waits(&f->heir, f->db, f->place, &f->why, f->log);
}

/* How often the log says it. */
static int said(struct fixture *f, const char *words)
{
    char line[1024];
    int count = 0;
    rewind(f->file);
    while (fgets(line, sizeof line, f->file))
        count += strstr(line, words) != NULL;
    return count;
}

static void what_is_no_socket_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    FILE *plain = fopen(f->place, "w");
    assert_non_null(plain);
    fclose(plain);
    assert_false(tries_again(f));
    assert_int_equal(unlink(f->place), 0);
    assert_int_equal(mkdir(f->place, 0700), 0);
    assert_false(tries_again(f));
    assert_int_equal(rmdir(f->place), 0);
    assert_int_equal(symlink("nowhere", f->place), 0);
    assert_false(tries_again(f));
    assert_int_equal(said(f, ""), 0);
}

/* Its owner may be about to listen, or to end. */
static void silence_is_waited_for_and_said_once(void **state)
{
    struct fixture *f = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char words[200];
    assert_true(tries_again(f)); /* nothing is there */
    memcpy(address.sun_path, f->place, strlen(f->place));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_true(tries_again(f)); /* nobody listens */
    close(fd);
    snprintf(words, sizeof words,
             "the place is taken; asked it at %s to make room, waiting up to 15 s for an answer", f->place);
    assert_int_equal(said(f, words), 1);
    assert_int_equal(said(f, ""), 1);
}

static void who_cannot_be_asked_is_not_waited_for(void **state)
{
    struct fixture *f = *state;
    qs_fail(&f->why, QS_E_STORE_TAKEN, "somebody has it");
    assert_false(tries_again(f));
    qs_fail(&f->why, QS_E_DENIED, "not allowed");
    assert_false(tries_again(f));
    assert_int_equal(said(f, ""), 0);
}

/* Another daemon: answers each connection with the next of some texts. */
struct owner {
    int fd;
    const char *const *answers;
    size_t count, asked;
};

static void *serve(void *arg)
{
    static const char wanted[] = "POST /api/v1/daemon:yield HTTP/1.1\r\n";
    struct owner *o = arg;
    for (; o->asked < o->count; o->asked++) {
        char request[400] = "";
        int fd = accept(o->fd, NULL, NULL);
        size_t n = 0;
        while (fd >= 0 && !strstr(request, "\r\n\r\n") && n < sizeof request - 1) {
            ssize_t got = recv(fd, request + n, sizeof request - 1 - n, 0);
            if (got <= 0)
                break;
            n += (size_t)got;
        }
        const char *answer = strncmp(request, wanted, sizeof wanted - 1) == 0 ? o->answers[o->asked] : "";
        (void)!send(fd, answer, strlen(answer), MSG_NOSIGNAL);
        close(fd);
    }
    return NULL;
}

static pthread_t own(struct fixture *f, struct owner *o)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t thread;
    memcpy(address.sun_path, f->place, strlen(f->place));
    o->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(o->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(o->fd, 4), 0);
    assert_int_equal(pthread_create(&thread, NULL, serve, o), 0);
    return thread;
}

static void disown(struct owner *o, pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(o->asked, o->count);
    close(o->fd);
}

#define SECOND_NS INT64_C(1000000000)

/* It is asked again after a second, two, four and so on, up to a minute; meanwhile it is waited for. */
static void who_makes_room_is_waited_for(void **state)
{
    static const char yields[] = "HTTP/1.1 202 Accepted\r\n\r\n";
    static const char *const answers[] = {yields, yields, yields, "HTTP/1.1 202"};
    static const int64_t paused_s[] = {1, 2, 29, 30}, next_s[] = {2, 4, 58, 60};
    struct fixture *f = *state;
    struct owner owner = {.answers = answers, .count = 4};
    pthread_t thread = own(f, &owner);
    for (size_t i = 0; i < 4; i++) {
        if (i > 0) {
            f->heir.due_ns = 0;
            f->heir.pause_ns = paused_s[i] * SECOND_NS;
        }
        assert_true(tries_again(f));
        assert_true(f->heir.granted);
        assert_int_equal(f->heir.pause_ns, next_s[i] * SECOND_NS);
        assert_true(f->heir.due_ns >= f->heir.since_ns + paused_s[i] * SECOND_NS);
        assert_int_equal(
            said(f, "the place is taken; it is embedded and makes room as soon as no job runs on it, "
                    "waiting (0 s so far)"),
            i + 1);
    }
    assert_true(tries_again(f)); /* not asked: it is not yet time */
    disown(&owner, thread);
    f->heir.since_ns -= 100 * SECOND_NS; /* it has said that it goes: its silence is its end */
    f->heir.due_ns = 0;
    assert_true(tries_again(f));
    assert_int_equal(said(f, ""), 4);
    qs_fail(&f->why, QS_E_STORE_TAKEN, "the place is taken");
    assert_true(tries_again(f)); /* it has ended just now */
    qs_fail(&f->why, QS_E_STORE_TAKEN, "another one has it");
    assert_false(tries_again(f));
}

static void who_keeps_its_place_is_not_waited_for(void **state)
{
    static const char *const answers[] = {"HTTP/1.1 409 Conflict\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
                                          "NONSENSE 202", "HTTP/1.1 20"};
    struct fixture *f = *state;
    struct owner owner = {.answers = answers, .count = 4};
    pthread_t thread = own(f, &owner);
    for (size_t i = 0; i < 3; i++)
        assert_false(tries_again(f));
    assert_int_equal(said(f, ""), 0);
    assert_true(tries_again(f)); /* less than an answer */
    assert_int_equal(said(f, "waiting up to 15 s"), 1);
    disown(&owner, thread);
    f->heir.since_ns -= 14 * SECOND_NS;
    assert_true(tries_again(f));
    f->heir.since_ns -= 2 * SECOND_NS;
    assert_false(tries_again(f));
    assert_int_equal(said(f, ""), 1);
}

static void the_longest_path(void **state)
{
    struct fixture *f = *state;
    char path[109];
    memset(path, 'x', sizeof path);
    memcpy(path, f->dir, strlen(f->dir));
    path[strlen(f->dir)] = '/';
    path[108] = '\0';
    assert_false(qs_heir_waits(&f->heir, f->db, path, &f->why, f->log)); /* no socket can lie there */
    path[107] = '\0';
    assert_true(qs_heir_waits(&f->heir, f->db, path, &f->why, f->log));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_socket_is_not_waited_for),   TEST(silence_is_waited_for_and_said_once),
        TEST(who_cannot_be_asked_is_not_waited_for), TEST(who_makes_room_is_waited_for),
        TEST(who_keeps_its_place_is_not_waited_for), TEST(the_longest_path),
    };
    return cmocka_run_group_tests_name("yield", tests, NULL, NULL);
}
