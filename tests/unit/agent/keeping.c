#include "keeping.h"

#include "proto/names.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct qs_keeper keeper;
struct qs_keeper_answer got;
int agent_fd = -1;
static uint32_t last_id;

void open_keeper_of(const char *state, const char *sysfs)
{
    int fds[2];
    qs_keeper_open(&keeper, state, sysfs);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    keeper.agent_fd = fds[0];
    agent_fd = fds[1];
}

void open_keeper(void)
{
    open_keeper_of("state", "sys");
}

void close_keeper(void)
{
    close(agent_fd);
    agent_fd = -1;
    qs_keeper_close(&keeper);
    while (waitpid(-1, NULL, 0) > 0) { /* its hands */
    }
}

void order(enum qs_keeper_what what, const char *path, const char *value, uint8_t flags)
{
    struct qs_keeper_order o = {.id = ++last_id, .what = (uint8_t)what, .flags = flags};
    snprintf(o.path, sizeof o.path, "%s", path);
    snprintf(o.value, sizeof o.value, "%s", value);
    assert_int_equal(send(agent_fd, &o, sizeof o, 0), sizeof o);
    qs_keeper_hear(&keeper);
    assert_int_equal(recv(agent_fd, &got, sizeof got, MSG_DONTWAIT), sizeof got);
    assert_int_equal(got.id, last_id);
}

const char *text_of(const char *path)
{
    static char text[600];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

void expect(enum qs_tune_outcome outcome, int error, const char *before, const char *after)
{
    assert_string_equal(qs_tune_outcome_name((enum qs_tune_outcome)got.file.outcome),
                        qs_tune_outcome_name(outcome));
    assert_int_equal(got.file.error, error);
    assert_string_equal(got.file.before, before);
    assert_string_equal(got.file.after, after);
}

void tune(const char *path, const char *value)
{
    order(QS_KEEPER_TUNE, path, value, 0);
}

void expect_restored(const char *path, enum qs_tune_outcome outcome, const char *before, const char *after)
{
    assert_false(got.file.end);
    assert_string_equal(got.file.path, path);
    expect(outcome, got.file.error, before, after);
}

void restore_all(void)
{
    order(QS_KEEPER_RESTORE, "", "", 1);
    while (!got.file.end) {
        order(QS_KEEPER_RESTORE, "", "", 0);
    }
}

void lease(int64_t ns)
{
    const struct qs_keeper_order o = {.what = QS_KEEPER_LEASE, .lease_ns = ns};
    assert_int_equal(send(agent_fd, &o, sizeof o, 0), sizeof o);
    qs_keeper_hear(&keeper);
}

void expect_text(const char *path, const char *wanted)
{
    assert_string_equal(text_of(path), wanted);
}

bool journal_has(const char *word)
{
    char bytes[4096];
    for (;;) {
        int fd = open("state/control.journal", O_RDONLY);
        ssize_t n = read(fd, bytes, sizeof bytes);
        close(fd);
        if (n > 0 && memmem(bytes, (size_t)n, word, strlen(word))) {
            return true;
        }
        usleep(1000);
    }
}
