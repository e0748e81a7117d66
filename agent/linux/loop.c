/* The loop: whatever happens, one poll wakes us, and the most urgent is looked at first. */
#include "linux/port.h"

#include "linux/io.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    FD_CHILD,
    FD_TRACER,
    FD_WAKE,
    FD_OUTPUT,
    FD_ERRORS,
    FD_LINK,
    FD_SIGNAL,
    FD_LISTEN,
    FD_SUPERVISOR,
    FD_SLOW,
    FD_GUESTS,
    FD_COUNT = FD_GUESTS + QS_GUESTS_MAX
};

/* A link that may be taken, or one to be turned away; in a window nobody is answered. */
static bool door_is_watched(const struct qs_linux *os)
{
    bool ending = os->agent.state == QS_STATE_ENDING;
    return os->link.listen_fd >= 0 && !qs_agent_is_silent(&os->agent) && !ending;
}

static void fill_fds(const struct qs_linux *os, struct pollfd *fds)
{
    const struct qs_linux_child *child = &os->child;
    fds[FD_CHILD].fd = child->runs && !child->lost ? child->process.pidfd : -1;
    fds[FD_TRACER].fd = os->tracer.runs ? os->tracer.process.pidfd : -1;
    fds[FD_WAKE].fd = os->harness.wake_fd;
    fds[FD_OUTPUT].fd = child->runs ? child->capture.read_fd : -1;
    fds[FD_ERRORS].fd = child->runs ? child->errors.read_fd : -1;
    fds[FD_LINK].fd = os->link.in_fd;
    fds[FD_SIGNAL].fd = os->signal_fd;
    fds[FD_SUPERVISOR].fd = os->control.fd;
    fds[FD_SLOW].fd = os->probe.slow.fd;
    fds[FD_LISTEN].fd = door_is_watched(os) ? os->link.listen_fd : -1;
    for (int i = 0; i < QS_GUESTS_MAX; i++) {
        fds[FD_GUESTS + i].fd = door_is_watched(os) ? os->guests.at[i].fd : -1;
    }
    for (int i = 0; i < FD_COUNT; i++) {
        fds[i].events = POLLIN;
        fds[i].revents = 0;
    }
}

/* Of whose end only a signal tells: it may have been taken in together with another's, between a look at who
 * has ended and the next wait. */
static bool somebody_has_no_pidfd(const struct qs_linux *os)
{
    return (os->child.runs && os->child.process.pidfd < 0) ||
           (os->tracer.runs && os->tracer.process.pidfd < 0);
}

static void wait_for_news(struct qs_linux *os, struct pollfd *fds)
{
    bool again = os->heard && somebody_has_no_pidfd(os);
    os->heard = false;
    int64_t deadline = qs_agent_next_deadline_ns(&os->agent);
    int64_t leaves = door_is_watched(os) ? qs_guests_expire(&os->guests, qs_io_now_ns(os->clock)) : INT64_MAX;
    deadline = leaves < deadline ? leaves : deadline;
    if (os->probe.slow.pid != 0 && os->probe.slow.until_ns < deadline) {
        deadline = os->probe.slow.until_ns;
    }
    struct timespec timeout = {0};
    if (deadline != INT64_MAX) {
        int64_t left = deadline - qs_io_now_ns(os->clock);
        left = left > 0 ? left : 0;
        timeout.tv_sec = (time_t)(left / 1000000000);
        timeout.tv_nsec = (long)(left % 1000000000);
    }
    fill_fds(os, fds);
    if ((os->child.lost && os->child.runs) || os->control.has_early || again) {
        timeout = (struct timespec){0};
        deadline = 0;
    }
    (void)!ppoll(fds, FD_COUNT, deadline != INT64_MAX ? &timeout : NULL, NULL); /* where it fails, no news */
    fds[FD_SIGNAL].revents |= again ? POLLIN : 0;
}

/* A signal of a child is only a hint: several become one. The first tells of itself, the kernel of the
 * others, while the child runs. */
static void note_child(struct qs_linux *os, const struct signalfd_siginfo *info)
{
    bool told = (info->ssi_code == CLD_STOPPED || info->ssi_code == CLD_CONTINUED) &&
                (pid_t)info->ssi_pid == os->child.process.pid;
    if (qs_child_was_stopped(&os->child) || told) {
        qs_probe_stopped(&os->probe, false);
    }
}

void qs_linux_hear_signals(struct qs_linux *os)
{
    struct signalfd_siginfo infos[8];
    ssize_t got = read(os->signal_fd, infos, sizeof infos);
    os->heard = os->heard || got > 0;
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof infos[0]; i++) {
        if (infos[i].ssi_signo == SIGCHLD) {
            note_child(os, &infos[i]);
        } else if (infos[i].ssi_signo == SIGCONT) {
            qs_probe_stopped(&os->probe, true);
        } else {
            os->stop = true;
        }
    }
}

/* Its signal is taken in between its end and the next one's start: in nobody's time. */
static void look_after_child(struct qs_linux *os)
{
    struct qs_port_child end;
    if (os->child.runs && qs_child_reap(&os->child, &end)) {
        qs_linux_hear_signals(os);
        qs_agent_on_child(&os->agent, &end);
    }
}

static void look_after_tracer(struct qs_linux *os)
{
    if (qs_tracer_reap(&os->tracer)) {
        os->child.spare = 0;
        qs_agent_on_tracer(&os->agent);
    }
}

static void lose_link(struct qs_linux *os)
{
    qs_link_drop(&os->link);
    os->broken = false;
    qs_agent_on_link_down(&os->agent);
    os->stop = os->stop || os->link.kind == QS_LINK_STDIO;
}

static void hear(struct qs_linux *os)
{
    long n = qs_link_receive(&os->link, os->bytes, sizeof os->bytes);
    if (n > 0) {
        qs_agent_on_bytes(&os->agent, os->bytes, (size_t)n);
    } else if (n < 0) {
        lose_link(os);
    }
}

static const char held[] =
    "quiesce-agent: another session holds this agent; it is free when that one ends or falls silent\n";

/* The agent judges at once: who waits for nothing but its judgement keeps nobody else out. */
static void lead_in(struct qs_linux *os, struct qs_guest *guest)
{
    struct qs_tls_session *session;
    int fd = qs_guest_leave(guest, &session);
    if (!qs_agent_takes_link(&os->agent)) {
        qs_link_turn_away(fd, session, held);
        return;
    }
    qs_link_adopt(&os->link, fd, session);
    if (!qs_agent_on_guest(&os->agent, guest->nonce, guest->bytes, guest->n)) {
        qs_link_refused(&os->link, "no greeting and proof of the key");
        if (os->agent.link_up) {
            lose_link(os);
        }
    }
}

static void hear_guests(struct qs_linux *os, const struct pollfd *fds)
{
    for (int i = 0; i < QS_GUESTS_MAX; i++) {
        struct qs_guest *guest = &os->guests.at[i];
        bool shakes = guest->session != NULL;
        if (!fds[i].revents || fds[i].fd != guest->fd) {
            continue;
        }
        if (qs_guest_hear(guest, &os->agent)) {
            lead_in(os, guest);
        } else if (shakes && guest->fd < 0) {
            qs_link_refused(&os->link, "no handshake with our key");
        }
    }
}

static void open_door(struct qs_linux *os)
{
    int fd = qs_link_accept(&os->link);
    if (fd < 0) {
        return;
    }
    if (os->agent.link_up) {
        hear(os); /* the client before may have hung up since we looked */
    }
    if (!qs_agent_takes_link(&os->agent)) {
        qs_link_turn_away(fd, NULL, held);
        return;
    }
    qs_guests_add(&os->guests, fd, os->link.tls, qs_io_now_ns(os->clock));
}

/* Its answers, and that it has ended. */
static void hear_supervisor(struct qs_linux *os)
{
    struct qs_port_controlled file;
    uint32_t grant;
    switch (qs_control_hear(&os->control, &file, &grant)) {
    case QS_CONTROL_ANSWER:
        qs_agent_on_control(&os->agent, &file);
        break;
    case QS_CONTROL_LEASE:
        qs_agent_on_lease_end(&os->agent, grant);
        break;
    case QS_CONTROL_GONE:
        os->stop = true;
        break;
    case QS_CONTROL_NOTHING:
        break;
    }
}

void qs_linux_run(struct qs_linux *os)
{
    while (!os->stop) {
        struct pollfd fds[FD_COUNT];
        wait_for_news(os, fds);
        if (fds[FD_WAKE].revents && os->harness.wake_fd >= 0) { /* before its end: what it did counts */
            qs_harness_heard(&os->harness);
            qs_agent_on_wake(&os->agent);
        }
        if (fds[FD_CHILD].revents || fds[FD_SIGNAL].revents || os->child.lost) {
            look_after_child(os);
        }
        if (fds[FD_TRACER].revents || fds[FD_SIGNAL].revents) {
            look_after_tracer(os);
        }
        qs_linux_look_after_slow(os);
        if (fds[FD_OUTPUT].revents) {
            qs_capture_drain(&os->child.capture, 1);
        }
        if (fds[FD_ERRORS].revents) {
            qs_capture_drain(&os->child.errors, 1);
        }
        if (fds[FD_SIGNAL].revents) {
            qs_linux_hear_signals(os);
        }
        if (fds[FD_SUPERVISOR].revents || os->control.has_early) {
            hear_supervisor(os);
        }
        if (fds[FD_LINK].revents && os->link.in_fd >= 0) {
            hear(os);
        }
        if (door_is_watched(os)) {
            hear_guests(os, fds + FD_GUESTS);
        }
        if (fds[FD_LISTEN].revents && door_is_watched(os)) {
            open_door(os);
        }
        qs_agent_on_time(&os->agent);
        if (os->broken) {
            lose_link(os);
        }
        if (os->agent.state == QS_STATE_DOWN) {
            qs_spool_rest(&os->spool, &os->agent.ring);
        }
    }
    qs_agent_stop(&os->agent, "the agent was told to end");
    qs_tracer_close(&os->tracer, os->child.runs ? os->child.process.pid : 0);
    qs_child_done(&os->child);
    if (os->has_cache) {
        qs_files_close(&os->files);
    }
    qs_spool_close(&os->spool, &os->agent.ring);
    qs_linux_end_slow(os);
    qs_guests_close(&os->guests);
    qs_link_close(&os->link);
}
