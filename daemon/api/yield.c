#include "api/yield.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "api/handlers.h"
#include "api/reply.h"
#include "base/process.h"
#include "base/json.h"
#include "base/log.h"
#include "store/store.h"

enum { POLL_MS = 200, ANSWER_S = 2 };
#define UNHEARD_NS    INT64_C(15000000000) /* then nobody is waited for who has not said that it yields */
#define PAUSE_NS      INT64_C(1000000000)
#define PAUSE_MOST_NS INT64_C(60000000000)

void qs_handle_yield(struct qs_exchange *ex)
{
    struct qs_api *api = ex->api;
    if (!api->p.embedded || !api->events.on_yield) {
        struct qs_err err;
        qs_fail(&err, QS_E_CONFLICT,
                "this quiesced (process %ld) is not embedded: whoever started it ends it", (long)getpid());
        qs_reply_error(ex, &err);
        return;
    }
    QS_BUF(out);
    struct qs_json j = qs_json_to(&out);
    qs_json_object(&j);
    qs_json_kint(&j, "pid", getpid());
    qs_json_kbool(&j, "working", api->events.on_yield(api->events.user));
    qs_json_object_end(&j);
    qs_reply_json(ex, 202, &out);
}

enum answer { YIELDS, REFUSES, SILENT };

static enum answer talk(int fd)
{
    static const char request[] =
        "POST /api/v1/daemon:yield HTTP/1.1\r\nHost: quiesce\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n";
    char status[] = "HTTP/1.1 000";
    const ssize_t n = sizeof status - 1;
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1 ||
        recv(fd, status, (size_t)n, MSG_WAITALL) != n)
        return SILENT;
    return strcmp(status, "HTTP/1.1 202") == 0 ? YIELDS : REFUSES;
}

static enum answer ask(const char *path)
{
    const struct timeval patience = {.tv_sec = ANSWER_S};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    enum answer answer = SILENT;
    struct stat st;
    if (strlen(path) >= sizeof address.sun_path || (lstat(path, &st) == 0 && !S_ISSOCK(st.st_mode)))
        return REFUSES;
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
        connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        answer = talk(fd);
    if (fd >= 0)
        close(fd);
    return answer;
}

static void tell_silence(struct qs_heir *heir, const char *contact, struct qs_log *log)
{
    if (heir->told || heir->granted)
        return;
    heir->told = true;
    qs_log(log, QS_LOG_WARN, "main", "%s; asked it at %s to make room, waiting up to %d s for an answer",
           heir->why, contact, (int)(UNHEARD_NS / 1000000000));
}

static bool waits(struct qs_heir *heir, const char *contact, const struct qs_err *why, struct qs_log *log)
{
    const struct timespec poll = {.tv_nsec = POLL_MS * 1000000L};
    int64_t now = qs_clock_ns(CLOCK_MONOTONIC);
    if (strcmp(heir->why, why->text) != 0) { /* the first, or another one was faster */
        *heir = (struct qs_heir){.since_ns = now, .due_ns = now, .pause_ns = PAUSE_NS};
        memcpy(heir->why, why->text, sizeof heir->why);
    }
    if (now >= heir->due_ns) {
        enum answer answer = ask(contact);
        if (answer == REFUSES || (answer == SILENT && !heir->granted && now - heir->since_ns > UNHEARD_NS))
            return false;
        if (answer == SILENT)
            tell_silence(heir, contact, log);
        if (answer == YIELDS) {
            heir->granted = true;
            heir->due_ns = now + heir->pause_ns;
            heir->pause_ns = 2 * heir->pause_ns < PAUSE_MOST_NS ? 2 * heir->pause_ns : PAUSE_MOST_NS;
            qs_log(log, QS_LOG_WARN, "main",
                   "%s; it is embedded and makes room as soon as no job runs on it, waiting (%lld s so far)",
                   why->text, (long long)((now - heir->since_ns) / 1000000000));
        }
    }
    nanosleep(&poll, NULL);
    return true;
}

bool qs_heir_waits(struct qs_heir *heir, const char *db, const char *socket_path, const struct qs_err *why,
                   struct qs_log *log)
{
    char *owner = why->code == QS_E_STORE_TAKEN ? qs_store_contact(db) : NULL;
    const char *contact = why->code == QS_E_SOCKET_PLACE ? socket_path : owner;
    bool goes = !contact && heir->granted && strcmp(heir->why, why->text) == 0; /* it has ended just now */
    bool again = goes || (contact && waits(heir, contact, why, log));
    free(owner);
    return again;
}
