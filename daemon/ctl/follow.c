#include "ctl/follow.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "ctl/line.h"
#include "ctl/client/boot.h"
#include "ctl/client/sse.h"

enum { RETRIES = 60, RETRY_MS = 500 };
#define CANCEL_LIMIT_NS INT64_C(60000000000)

struct follower {
    struct qs_follow *f;
    struct qs_progress progress;
    struct qs_sse sse;
    struct qs_buf shown; /* the line on the screen, where line_shown */
    bool line_shown;
    bool connected; /* once: then a daemon that is gone is waited for */
    bool cancelling, left;
    int tries; /* to connect again, since the last event */
};

int qs_interrupt_open(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool qs_interrupt_take(int fd)
{
    struct signalfd_siginfo info;
    return fd >= 0 && read(fd, &info, sizeof(info)) == (ssize_t)sizeof(info);
}

void qs_interrupt_close(int fd)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    if (fd >= 0)
        close(fd);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void add_notes(struct follower *w, struct qs_buf *out)
{
    for (const char *s = w->progress.notes.data; *s != '\0';) {
        size_t n = strcspn(s, "\n");
        QS_FREED char *line = qs_strndup(s, n);
        qs_face_wrap(&w->f->ctl->err_face, out, "  ", line, QS_INK_PLAIN);
        s += n + (s[n] == '\n');
    }
    qs_buf_clear(&w->progress.notes);
}

/* Notes stay, the line is drawn again below them; nothing is written where nothing changed. */
static void show(struct follower *w)
{
    QS_BUF(notes);
    QS_BUF(line);
    add_notes(w, &notes);
    if (w->progress.live && w->progress.line.len > 0)
        qs_line_make(&w->f->ctl->err_face, w->progress.line.data, &line);
    if (notes.len > 0 || strcmp(line.data, w->shown.data) != 0 || (line.len > 0 && !w->line_shown)) {
        qs_line_clear(w->f->ctl->err, &w->line_shown);
        qs_ctl_print(w->f->ctl->err, &notes);
        qs_ctl_print(w->f->ctl->err, &line);
        w->line_shown = line.len > 0;
        qs_buf_clear(&w->shown);
        qs_buf_add(&w->shown, line.data, line.len);
    }
}

static bool on_event(int64_t id, const char *kind, const char *data, void *user)
{
    struct follower *w = user;
    json_t *json = json_loads(data, 0, NULL);
    w->tries = 0;
    if (w->f->events_as_json && json != NULL) {
        QS_FREED char *text = json_dumps(json, JSON_COMPACT);
        fprintf(w->f->ctl->out, "{\"id\":%" PRId64 ",\"event\":\"%s\",\"data\":%s}\n", id, kind, text);
        fflush(w->f->ctl->out);
    }
    if (json_is_object(json))
        qs_progress_on_event(&w->progress, kind, json);
    json_decref(json);
    if (!w->f->events_as_json && !w->f->ctl->json)
        show(w);
    qs_buf_clear(&w->progress.notes);
    return !w->progress.ended;
}

static bool on_bytes(const char *bytes, size_t n, void *user)
{
    struct follower *w = user;
    w->connected = true;
    return qs_sse_feed(&w->sse, bytes, n, on_event, w);
}

__attribute__((format(printf, 2, 3))) static void say(struct follower *w, const char *fmt, ...)
{
    va_list ap;
    if (w->f->ctl->json || w->f->events_as_json)
        return;
    qs_line_clear(w->f->ctl->err, &w->line_shown);
    va_start(ap, fmt);
    vfprintf(w->f->ctl->err, fmt, ap);
    va_end(ap);
    fflush(w->f->ctl->err);
}

static void cancel(struct follower *w)
{
    struct qs_http_reply reply = {0};
    char path[64];
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 ":cancel", w->f->job);
    const struct qs_http_request request = {.method = "POST", .path = path, .body = ""};
    struct qs_err err = QS_ERR_INIT;
    qs_buf_init(&reply.body);
    say(w, "  cancelling job %" PRId64 "; Ctrl-C again to leave at once\n", w->f->job);
    if (!qs_http_call(w->f->http, &request, &reply, &err))
        qs_api_fail(w->f->ctl, &err);
    else if (reply.status != 200 && reply.status != 409)
        qs_api_refused(w->f->ctl, w->f->http, &reply);
    qs_buf_done(&reply.body);
    w->cancelling = true;
}

/* Ctrl-C: cancels and waits for the end, or leaves the job alone. True where following goes on. */
static bool interrupted(struct follower *w)
{
    if (!qs_interrupt_take(w->f->interrupt_fd) && w->cancelling)
        say(w, "  job %" PRId64 " does not end\n", w->f->job);
    else if (w->f->cancels && !w->cancelling) {
        cancel(w);
        return true;
    } else
        say(w, "  job %" PRId64 " goes on; `quiesce cancel %" PRId64 "` ends it\n", w->f->job, w->f->job);
    w->left = true;
    return false;
}

/* A daemon that was killed left a database in which the job goes on. */
static void start_again(struct follower *w)
{
    struct qs_err err = QS_ERR_INIT;
    QS_BUF(tail);
    if (!qs_boot_answers(w->f->http) && qs_boot_start(w->f->http, w->f->ctl->self, &tail, &err))
        say(w, "  started it again\n");
}

/* After the connection broke: a little later again. False when it has been tried often enough. */
static bool again(struct follower *w, const struct qs_err *err, int *ret_code)
{
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    if (w->connected && w->tries == 0)
        say(w, "  the daemon is gone, waiting for it to come back\n");
    if (!w->connected || w->tries++ >= RETRIES) {
        qs_line_clear(w->f->ctl->err, &w->line_shown);
        *ret_code = qs_api_fail(w->f->ctl, err);
        return false;
    }
    nanosleep(&pause, NULL);
    if (w->f->starts_daemon && w->tries == 2)
        start_again(w);
    qs_sse_restart(&w->sse);
    return true;
}

static bool one_stream(struct follower *w, int *ret_code)
{
    char path[80];
    struct qs_http_reply reply = {0};
    struct qs_err err = QS_ERR_INIT;
    bool more = false;
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/events?after=%" PRId64, w->f->job,
             w->sse.id > 0 ? w->sse.id : 0);
    const struct qs_http_stream stream = {.path = path,
                                          .last_id = w->sse.id,
                                          .wake_fd = w->f->interrupt_fd,
                                          .limit_ns = w->cancelling ? CANCEL_LIMIT_NS : 0,
                                          .on_bytes = on_bytes,
                                          .user = w};
    qs_buf_init(&reply.body);
    switch (qs_http_follow(w->f->http, &stream, &reply, &err)) {
    case QS_HTTP_ENDED:
        if (!w->progress.ended) {
            qs_fail(&err, QS_E_UNREACHABLE, "the daemon ended the stream of job %" PRId64, w->f->job);
            more = again(w, &err, ret_code);
        }
        break;
    case QS_HTTP_BROKEN:
        more = again(w, &err, ret_code);
        break;
    case QS_HTTP_WOKEN:
        more = interrupted(w);
        qs_sse_restart(&w->sse);
        break;
    case QS_HTTP_REFUSED:
        qs_line_clear(w->f->ctl->err, &w->line_shown);
        *ret_code = qs_api_refused(w->f->ctl, w->f->http, &reply);
        break;
    }
    qs_buf_done(&reply.body);
    return more;
}

static int judge(const struct follower *w)
{
    const struct qs_progress *p = &w->progress;
    bool regression_counts = w->f->fail_on_regression || p->fail_on_regression;
    if (strcmp(p->state, "done") == 0) {
        if (p->exit == QS_EXIT_REGRESSION && !regression_counts)
            return QS_EXIT_OK;
        return p->exit > 0 ? p->exit : QS_EXIT_OK;
    }
    bool known = p->exit == QS_EXIT_INFRASTRUCTURE || p->exit == QS_EXIT_PRECONDITION;
    return known && strcmp(p->state, "failed") == 0 ? p->exit : QS_EXIT_JOB_FAILED;
}

/* What a job that went wrong has to say. The reason may quote what a program printed: it is escaped as it is
 * wrapped. */
static void say_end(const struct follower *w, int code)
{
    const char *state = w->progress.state;
    QS_BUF(text);
    QS_BUF(out);
    if (strcmp(state, "failed") == 0)
        qs_buf_fmt(&text, "job %" PRId64 " failed: %s", w->f->job, w->progress.reason);
    else if (strcmp(state, "done") == 0 && code == QS_EXIT_JOB_FAILED)
        qs_buf_fmt(&text,
                   "job %" PRId64 " is done, but commands failed in it: what they measured is left out, and "
                   "the exit code is 1 (--ignore-failure with run, or `exit: any` in a job "
                   "file, accepts any exit code, but not a time limit or a failed hook)",
                   w->f->job);
    if (text.len > 0)
        qs_face_wrap(&w->f->ctl->err_face, &out, "  ", text.data, QS_INK_PLAIN);
    qs_ctl_print(w->f->ctl->err, &out);
}

int qs_follow_job(struct qs_follow *f, char ret_state[16])
{
    struct follower w = {.f = f};
    int code = -1;
    qs_progress_init(&w.progress, f->ctl->live && !f->ctl->json && !f->silent, f->silent);
    qs_sse_init(&w.sse);
    qs_buf_init(&w.shown);
    while (one_stream(&w, &code))
        continue;
    qs_line_clear(w.f->ctl->err, &w.line_shown);
    fflush(f->ctl->err);
    if (code < 0)
        code = w.left || (w.cancelling && strcmp(w.progress.state, "done") != 0) ? QS_EXIT_INTERRUPTED
                                                                                 : judge(&w);
    snprintf(ret_state, 16, "%s", w.progress.ended ? w.progress.state : "");
    if (w.progress.ended && !f->ctl->json && !f->events_as_json)
        say_end(&w, code);
    qs_progress_done(&w.progress);
    qs_sse_done(&w.sse);
    qs_buf_done(&w.shown);
    return code;
}
