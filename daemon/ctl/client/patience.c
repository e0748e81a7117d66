#include "ctl/client/patience.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define FIRST_NS INT64_C(3000000000)
#define MOST_NS  INT64_C(600000000000)

void qs_patience_begin(struct qs_patience *p, int64_t now_ns)
{
    *p = (struct qs_patience){.asked_ns = now_ns, .due_ns = now_ns + FIRST_NS};
}

bool qs_patience_line(struct qs_patience *p, int64_t now_ns, int64_t wall_ns, pid_t stopped,
                      struct qs_buf *out)
{
    const int64_t s = 1000000000;
    char since[32];
    struct tm parts;
    int64_t waited_ns = now_ns - p->asked_ns;
    time_t asked_s = (time_t)((wall_ns - waited_ns) / s);
    if (now_ns < p->due_ns)
        return false;
    bool again = p->due_ns > p->asked_ns + FIRST_NS;
    p->due_ns = now_ns + (waited_ns < MOST_NS ? waited_ns : MOST_NS);
    strftime(since, sizeof since, "%H:%M:%S", localtime_r(&asked_s, &parts));
    qs_buf_fmt(out, "  %s since %s (%lld s): ", again ? "still no answer," : "no answer", since,
               (long long)(waited_ns / s));
    if (stopped > 0)
        qs_buf_fmt(out, "the daemon is stopped; `kill -CONT %ld` resumes it\n", (long)stopped);
    else
        qs_buf_str(out, "a daemon that measures on this machine answers after the window\n");
    return true;
}

pid_t qs_patience_stopped(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    char path[64], text[512];
    if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || peer.pid <= 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)peer.pid);
    FILE *f = fopen(path, "re");
    size_t n = f != NULL ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f != NULL)
        fclose(f);
    text[n] = '\0';
    const char *state = strrchr(text, ')'); /* "7 (quiesced) T 1 ...": the name may hold anything */
    return state != NULL && (strncmp(state, ") T", 3) == 0 || strncmp(state, ") t", 3) == 0) ? peer.pid : 0;
}
