#include "linux/slow.h"

#include "core/glob.h"
#include "linux/bound.h"
#include "linux/io.h"
#include "linux/which.h"
#include "proto/bind_command.h"
#include "proto/msg_control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A service of a phone answers within a second; one that hangs must not hold up a gate. */
#define LIMIT_NS INT64_C(5000000000)

enum { ARGS_MAX = 32, LINE_BYTES = 512, DIGITS_MAX = 12, STOP_NAPS = 100 };

extern char **environ;

/* ---- what it says ---- */

static bool fits(struct qs_text pattern, const char *line)
{
    char text[QS_CONTROL_PATH_MAX_BYTES + 1];
    qs_text_copy(pattern, text, sizeof text);
    return qs_glob_match(text, line, QS_GLOB_ANY_CASE);
}

/* One more line, without its blanks before and behind, cut; how far it is indented. NULL: there is none. */
static const char *next_line(const char *text, char line[LINE_BYTES], size_t *depth)
{
    size_t n = strcspn(text, "\n");
    const char *next = text + n + (text[n] == '\n');
    if (*text == '\0') {
        return NULL;
    }
    *depth = strspn(text, " \t");
    const char *from = text + (*depth < n ? *depth : n);
    n -= (size_t)(from - text);
    while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t' || from[n - 1] == '\r')) {
        n--;
    }
    n = n < LINE_BYTES - 1 ? n : LINE_BYTES - 1;
    memcpy(line, from, n);
    line[n] = '\0';
    return next;
}

static bool is_spoilt(struct qs_text pattern, const char *text)
{
    char line[LINE_BYTES];
    size_t depth;
    while (pattern.n > 0 && (text = next_line(text, line, &depth)) != NULL) {
        if (fits(pattern, line)) {
            return true;
        }
    }
    return false;
}

/* In thousandths, or bits. */
static bool number_after(const struct qs_bound_file *b, struct qs_text key, const char *line, int64_t *value)
{
    char text[QS_CONTROL_PATH_MAX_BYTES + 1];
    int64_t raw;
    qs_text_copy(key, text, sizeof text);
    const char *p = strstr(line, text);
    if (!p) {
        return false;
    }
    p += key.n;
    p += strspn(p, " \t");
    if (b->flags & QS_BIND_BITS) {
        return qs_bound_bits(p, b->mul, &raw) && qs_bound_scale(b, raw, 0, value);
    }
    return strspn(p + (*p == '-'), "0123456789") <= DIGITS_MAX && qs_io_decimal(&p, 3, &raw) &&
           qs_bound_scale(b, raw, 0, value);
}

uint8_t qs_slow_find(const struct qs_bound_file *b, const struct qs_bind_command *command, const char *text,
                     int64_t *value)
{
    char line[LINE_BYTES];
    size_t depth;
    size_t section = 0;
    bool inside = command->section.n == 0;
    bool found = false;
    *value = 0;
    if (is_spoilt(command->spoilt, text)) {
        return QS_READING_SPOILT;
    }
    while ((text = next_line(text, line, &depth)) != NULL) {
        int64_t v;
        if (command->section.n > 0 && line[0] && (!inside || depth <= section)) {
            inside = fits(command->section, line);
            section = depth;
            continue;
        }
        if (inside && (command->line.n == 0 || fits(command->line, line)) &&
            number_after(b, command->key, line, &v) && (!found || v > *value)) {
            *value = v;
            found = true;
        }
    }
    return found ? QS_READING_OK : QS_READING_UNREADABLE;
}

/* ---- asking it ---- */

static const struct timespec nap = {.tv_nsec = 1000000};

static bool command_of(const struct qs_bound_file *b, struct qs_bind_command *ret)
{
    return (b->flags & QS_BIND_COMMAND) != 0 && qs_bind_command_of(qs_text_of(b->path), ret);
}

/* Its end, for all sensors that have the same command; text NULL: there is nothing to be had of it. */
static void settle(struct qs_probe *probe, const char *text, uint8_t status, int64_t at_ns)
{
    struct qs_bind_command asked, command;
    if (!command_of(&probe->bound[probe->slow.of], &asked)) {
        return;
    }
    for (size_t k = 0; k < probe->count - probe->own; k++) {
        struct qs_bound_file *b = &probe->bound[k];
        if (!command_of(b, &command) || command.argv.n != asked.argv.n ||
            memcmp(command.argv.p, asked.argv.p, asked.argv.n) != 0) {
            continue;
        }
        b->at_ns = at_ns;
        b->value = 0;
        b->status = text ? qs_slow_find(b, &command, text, &b->value) : status;
    }
}

static _Noreturn void run(const char *path, char **argv, int out_fd)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    qs_io_let_go(out_fd);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(out_fd, STDOUT_FILENO) == STDOUT_FILENO) {
        close(out_fd);
        execv(path, argv);
    }
    _exit(127);
}

static bool start(struct qs_probe *probe, size_t k, const struct qs_bind_command *command, int64_t now_ns)
{
    struct qs_slow *slow = &probe->slow;
    char text[QS_CONTROL_PATH_MAX_BYTES + 1];
    char path[QS_PROBE_PATH_BYTES];
    char *argv[ARGS_MAX + 1] = {text};
    int fds[2];
    qs_text_copy(command->argv, text, sizeof text);
    for (size_t n = 1; n < ARGS_MAX && (argv[n] = strchr(argv[n - 1], '\n')) != NULL; n++) {
        *argv[n]++ = '\0';
    }
    slow->of = k;
    if (qs_which(path, sizeof path, argv[0], environ, AT_FDCWD) != 0) {
        settle(probe, NULL, QS_READING_MISSING, now_ns);
        return false;
    }
    pid_t pid = -1;
    if (pipe2(fds, O_CLOEXEC) == 0) {
        fcntl(fds[0], F_SETFL, O_NONBLOCK);
        pid = fork();
        if (pid == 0) {
            run(path, argv, fds[1]);
        }
        qs_io_close(&fds[1]);
    }
    if (pid < 0) {
        settle(probe, NULL, QS_READING_UNREADABLE, now_ns);
        return false;
    }
    setpgid(pid, pid); /* whoever of us is first */
    slow->pid = pid;
    slow->fd = fds[0];
    slow->n = 0;
    slow->began_ns = now_ns;
    slow->until_ns = now_ns + LIMIT_NS;
    return true;
}

bool qs_slow_read(struct qs_probe *probe, size_t i, int64_t now_ns, struct qs_port_reading *reading)
{
    struct qs_bind_command command;
    if (i < probe->own || !command_of(&probe->bound[i - probe->own], &command)) {
        return false;
    }
    const struct qs_bound_file *b = &probe->bound[i - probe->own];
    const int64_t max_ns = (int64_t)command.max_age_ms * 1000000;
    bool due = b->at_ns == 0 || now_ns - b->at_ns > max_ns / 2;
    qs_slow_turn(probe, now_ns);
    due = due && (b->at_ns == 0 || now_ns - b->at_ns > max_ns / 2);
    if (due && !probe->slow.shut) {
        reading->pending = probe->slow.pid != 0 || start(probe, i - probe->own, &command, now_ns);
    }
    reading->age_ns = b->at_ns == 0 ? 0 : now_ns - b->at_ns;
    reading->status = b->at_ns == 0 || reading->age_ns > max_ns ? QS_READING_STALE : b->status;
    reading->value = b->value;
    return true;
}

/* How it ended; false: it has not. */
static bool has_ended(struct qs_slow *slow, bool *well)
{
    int status = 0;
    pid_t pid;
    do {
        pid = waitpid(slow->pid, &status, WNOHANG);
    } while (pid < 0 && errno == EINTR);
    *well = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return pid != 0;
}

/* True: there is no more to come. */
static bool take_in(struct qs_slow *slow)
{
    while (slow->fd >= 0) {
        size_t room = sizeof slow->text - 1 - slow->n;
        ssize_t got = room > 0 ? read(slow->fd, slow->text + slow->n, room) : -1;
        if (got < 0 && room > 0 && (errno == EAGAIN || errno == EINTR)) {
            return false;
        }
        if (got <= 0) {
            qs_io_close(&slow->fd);
        }
        slow->n += got > 0 ? (size_t)got : 0;
    }
    return true;
}

void qs_slow_stop(struct qs_probe *probe)
{
    struct qs_slow *slow = &probe->slow;
    bool well;
    if (slow->pid != 0) {
        kill(-slow->pid, SIGKILL);
        for (int i = 0; !has_ended(slow, &well) && i < STOP_NAPS; i++) {
            nanosleep(&nap, NULL);
        }
        slow->pid = 0;
    }
    qs_io_close(&slow->fd);
}

void qs_slow_turn(struct qs_probe *probe, int64_t now_ns)
{
    struct qs_slow *slow = &probe->slow;
    bool well = false;
    if (slow->pid == 0) {
        return;
    }
    if (take_in(slow) && has_ended(slow, &well)) {
        kill(-slow->pid, SIGKILL); /* what it may have left behind */
        slow->pid = 0;
        slow->text[slow->n] = '\0';
        well = well && slow->n + 1 < sizeof slow->text && strlen(slow->text) == slow->n;
        settle(probe, well ? slow->text : NULL, QS_READING_UNREADABLE, slow->began_ns);
    } else if (now_ns >= slow->until_ns) {
        qs_slow_stop(probe);
        settle(probe, NULL, QS_READING_UNREADABLE, now_ns);
    }
}

/* ---- as evidence ---- */

static bool is_evidence(const struct qs_probe *probe, size_t k)
{
    const struct qs_source *s = &probe->sources[probe->own + k];
    return (probe->bound[k].flags & QS_BIND_COMMAND) != 0 && s->evidence && !s->hidden;
}

bool qs_slow_settled(struct qs_probe *probe, int64_t now_ns)
{
    struct qs_port_reading reading = {.pending = false};
    for (size_t k = 0; k < probe->count - probe->own && !reading.pending; k++) {
        if (is_evidence(probe, k)) {
            (void)qs_slow_read(probe, probe->own + k, now_ns, &reading);
        }
    }
    return !reading.pending;
}

static void ask_again(struct qs_probe *probe, size_t k, clockid_t clock, int64_t until_ns)
{
    struct qs_bind_command command;
    int64_t now_ns = qs_io_now_ns(clock);
    probe->slow.of = k;
    if (!command_of(&probe->bound[k], &command) || !start(probe, k, &command, now_ns)) {
        return;
    }
    probe->slow.until_ns = until_ns;
    while (probe->slow.pid != 0) {
        nanosleep(&nap, NULL);
        qs_slow_turn(probe, qs_io_now_ns(clock));
    }
}

void qs_slow_evidence(struct qs_probe *probe, clockid_t clock, struct qs_port_evidence *rows, size_t n)
{
    const int64_t since_ns = qs_io_now_ns(clock);
    qs_slow_stop(probe);
    for (size_t k = 0; k < probe->count - probe->own; k++) {
        const struct qs_bound_file *b = &probe->bound[k];
        if (!is_evidence(probe, k)) {
            continue;
        }
        if (b->at_ns < since_ns) {
            ask_again(probe, k, clock, since_ns + LIMIT_NS);
        }
        for (size_t i = 0; i < n; i++) {
            if (strcmp(rows[i].kind, probe->sources[probe->own + k].kind) == 0) {
                rows[i].after = b->value;
                rows[i].status = rows[i].status != QS_READING_OK ? rows[i].status : b->status;
            }
        }
    }
}
