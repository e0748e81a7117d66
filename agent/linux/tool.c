#include "linux/tool.h"

#include "core/print.h"
#include "linux/io.h"
#include "linux/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STRAYS_BUDGET_NS INT64_C(1000000000)

enum {
    WORDS_MAX = 64,
    WORDS_BYTES = 4096,
    LOOK_MS = 10, /* whether it has ended, where its end of the pipe is somebody else's, too */
    DRAIN_MAX = 64,
    NO_PROGRAM = 127, /* as a shell says it */
    NO_RIGHT = 126
};

/* The words of one line. */
struct words {
    char *at[WORDS_MAX + 1]; /* NULL ends them */
    size_t count;
    char bytes[WORDS_BYTES];
};

bool qs_tool_is(const char *path)
{
    return strchr(path, '\n') != NULL;
}

bool qs_tool_is_blind(const char *path)
{
    return qs_tool_is(path) && memchr(path, '\t', strcspn(path, "\n")) == NULL;
}

void qs_tool_name(const char *path, char *ret, size_t cap)
{
    size_t end = strcspn(path, "\n");
    size_t from = strcspn(path, "\t") + 1;
    if (from > end) { /* nothing asks: what sets it */
        from = end + 1;
        end = from + strcspn(path + from, "\n");
    }
    qs_print(ret, cap, "%.*s", (int)(end - from), path + from);
    for (char *c = ret; *c != '\0'; c++) {
        *c = *c == '\t' ? ' ' : *c;
    }
}

/* A word with each "{}" replaced. False: there is no room. */
static bool put_word(struct words *w, size_t *used, const char *word, size_t n, const char *value)
{
    if (w->count == WORDS_MAX) {
        return false;
    }
    w->at[w->count++] = w->bytes + *used;
    for (size_t i = 0; i < n;) {
        bool here = value && i + 1 < n && word[i] == '{' && word[i + 1] == '}';
        size_t add = here ? strlen(value) : 1;
        if (*used + add >= sizeof w->bytes) {
            return false;
        }
        memcpy(w->bytes + *used, here ? value : word + i, add);
        *used += add;
        i += here ? 2 : 1;
    }
    w->bytes[(*used)++] = '\0';
    return *used < sizeof w->bytes;
}

/* value NULL: braces are left. */
static bool take_line(const char *line, const char *value, struct words *ret)
{
    size_t used = 0;
    bool fits = true;
    ret->count = 0;
    for (size_t n = strcspn(line, "\t\n"); fits && *line != '\n' && *line != '\0';
         n = strcspn(line, "\t\n")) {
        fits = put_word(ret, &used, line, n, value);
        line += n + (line[n] == '\t');
    }
    ret->at[ret->count] = NULL;
    return fits;
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : NULL;
}

/* The line of this value behind the second; NULL: it has none. */
static const char *line_of(const char *path, const char *value)
{
    size_t n = strlen(value);
    const char *line = next_line(path);
    for (line = line ? next_line(line) : NULL; line; line = next_line(line)) {
        if (strncmp(line, value, n) == 0 && line[n] == '\t') {
            return line + n + 1;
        }
    }
    return NULL;
}

/* The command that sets it to this value. False: there is none. */
static bool find_command(const char *path, const char *value, struct words *ret)
{
    const char *set = next_line(path);
    const char *own = line_of(path, value);
    if (own && !take_line(own, NULL, ret)) {
        return false;
    }
    if (own && ret->count > 1) {
        return true;
    }
    char word[QS_HAND_PATH_BYTES];
    qs_print(word, sizeof word, "%s", own && ret->count == 1 ? ret->at[0] : value);
    return set && *set != '\n' && *set != '\0' && take_line(set, word, ret) && ret->count > 0;
}

/* In the child. Whatever it starts ends with it; nothing of ours is blocked or ignored in it. */
static void become(char *const *argv, int out_fd, bool errors)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(out_fd, STDOUT_FILENO);
    if (errors) {
        dup2(out_fd, STDERR_FILENO);
    }
    execvp(argv[0], argv);
    _exit(errno == ENOENT ? NO_PROGRAM : NO_RIGHT);
}

/* Takes what is there; what does not fit is dropped. False: nothing more will come. */
static bool hear(int fd, struct qs_hand_result *ret)
{
    char dropped[4096];
    bool room = ret->n < QS_HAND_TEXT_BYTES;
    ssize_t got =
        read(fd, room ? ret->text + ret->n : dropped, room ? QS_HAND_TEXT_BYTES - ret->n : sizeof dropped);
    ret->n += room && got > 0 ? (uint32_t)got : 0;
    return got > 0;
}

/* False: it has not ended in time. */
static bool wait_for(pid_t pid, int fd, int64_t limit_ns, struct qs_hand_result *ret, int *status)
{
    int64_t end_ns = qs_io_now_ns(CLOCK_MONOTONIC) + limit_ns;
    struct pollfd in = {.fd = fd, .events = POLLIN};
    while (waitpid(pid, status, WNOHANG) == 0) {
        if (qs_io_now_ns(CLOCK_MONOTONIC) >= end_ns) {
            return false;
        }
        if (poll(&in, 1, LOOK_MS) > 0 && !hear(fd, ret)) {
            in.fd = -1; /* it has closed it; its end is still to come */
        }
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    for (int i = 0; i < DRAIN_MAX && hear(fd, ret); i++) {
    }
    return true;
}

/* What it writes is text, and whether it succeeded is the end. errors: what it writes to standard error
 * counts, too. */
static void run(char *const *argv, bool errors, int64_t limit_ns, struct qs_hand_result *ret)
{
    int fds[2];
    int status = 0;
    ret->end = QS_HAND_FAILED;
    if (pipe2(fds, O_CLOEXEC) != 0) {
        ret->error = errno;
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        become(argv, fds[1], errors);
    }
    ret->error = pid < 0 ? errno : 0;
    qs_io_close(&fds[1]);
    if (pid > 0 && !wait_for(pid, fds[0], limit_ns, ret, &status)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        ret->end = QS_HAND_LATE;
        ret->error = ETIMEDOUT;
        ret->n = 0;
    } else if (pid > 0) {
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ret->end = code == 0 ? QS_HAND_DONE : code == NO_PROGRAM ? QS_HAND_MISSING : QS_HAND_FAILED;
        ret->error = code == NO_PROGRAM ? ENOENT : code == NO_RIGHT ? EACCES : 0;
    }
    qs_io_close(&fds[0]);
    if (pid > 0) {
        qs_spawn_end_strays(pid, 0, STRAYS_BUDGET_NS);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* One line in the place of what it wrote, without blanks around it, and nothing that is no text. */
static void keep(struct qs_hand_result *ret, const char *from, size_t n)
{
    while (n > 0 && is_blank(*from)) {
        from++;
        n--;
    }
    while (n > 0 && is_blank(from[n - 1])) {
        n--;
    }
    memmove(ret->text, from, n);
    ret->n = (uint32_t)n;
    ret->text[n] = '\0';
    for (size_t i = 0; i < n; i++) {
        bool text = (unsigned char)ret->text[i] >= 0x20 && ret->text[i] != 0x7f;
        if (!text && ret->end == QS_HAND_DONE) {
            ret->end = QS_HAND_FAILED;
            ret->error = EILSEQ;
        }
        ret->text[i] = text ? ret->text[i] : ' ';
    }
}

void qs_tool_read(const char *path, int64_t limit_ns, struct qs_hand_result *ret)
{
    static struct words w;
    static struct words unused;
    ret->n = 0;
    ret->error = 0;
    ret->end = QS_HAND_DONE;
    if (!take_line(path, NULL, &w) || w.count == 0) {
        ret->end = QS_HAND_OUTSIDE;
        return;
    }
    if (w.count == 1) { /* nothing asks it */
        keep(ret, w.at[0], strlen(w.at[0]));
        return;
    }
    run(w.at + 1, false, limit_ns, ret);
    ret->text[ret->n] = '\0';
    if (ret->end != QS_HAND_DONE || ret->n == QS_HAND_TEXT_BYTES) {
        keep(ret, ret->text, ret->n < QS_HAND_TEXT_BYTES ? ret->n : 0);
        ret->error = ret->end == QS_HAND_DONE ? E2BIG : ret->error;
        ret->end = ret->end == QS_HAND_DONE ? QS_HAND_FAILED : ret->end;
        return;
    }
    const char *after = w.at[0][0] ? strstr(ret->text, w.at[0]) : NULL;
    const char *from = after ? after + strlen(w.at[0]) : ret->text;
    from += after ? strspn(from, " \t") : 0;
    keep(ret, from, after ? strcspn(from, " \t\r\n,;") : ret->n);
    if (ret->end == QS_HAND_DONE && !find_command(path, ret->text, &unused)) {
        ret->end = ret->n == 0 ? QS_HAND_MISSING : QS_HAND_FAILED;
        ret->error = ret->n == 0 ? ENODATA : EDOM;
    }
}

void qs_tool_write(const char *path, const char *value, int64_t limit_ns, struct qs_hand_result *ret)
{
    static struct words w;
    ret->n = 0;
    ret->error = EDOM;
    ret->end = QS_HAND_FAILED;
    if (!find_command(path, value, &w)) {
        return;
    }
    run(w.at, true, limit_ns, ret);
    ret->text[ret->n] = '\0';
    keep(ret, ret->text, strcspn(ret->text, "\n"));
}
