/* A daemon that finds its place taken: for whom it waits, and for whom it does not. */
#include "api/yield.h"

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
             "the place is taken; asked at %s whether it makes room, waiting up to 15 s for an answer",
             f->place);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_socket_is_not_waited_for),
        TEST(silence_is_waited_for_and_said_once),
        TEST(who_cannot_be_asked_is_not_waited_for),
    };
    return cmocka_run_group_tests_name("yield", tests, NULL, NULL);
}
