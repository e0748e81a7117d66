/* The loop facade: everything that waits goes through it, in real time (libuv) or in virtual time (a queue
 * ordered by (due time, sequence), whose clock jumps when nothing is left to do at this instant). All
 * callbacks run on the loop's thread; only a work function runs elsewhere, and in virtual time it runs
 * inline.
 *
 * Handles are owned by the loop from start to stop: stop() (NULL is allowed) ends the callbacks at once
 * and gives the memory back when the loop can. A one-shot handle (timer, child) stops itself
 * before its callback: stopping it there does nothing, afterwards the pointer is dead. */
#ifndef QS_BASE_LOOP_H
#define QS_BASE_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct qs_loop;
struct qs_timer;
struct qs_io;
struct qs_child;
struct qs_signal;

/* Real time: clocks are CLOCK_MONOTONIC and CLOCK_REALTIME, randomness is getrandom(2). */
struct qs_loop *qs_loop_new_real(struct qs_err *err);
/* Virtual time: monotonic and wall clock both start at start_ns; randomness is a seeded stream (prng.h):
 * equal seeds and equal calls give equal bytes. io, spawn and signal are refused with QS_E_INTERNAL: nothing
 * real has a place in virtual time.
 */
struct qs_loop *qs_loop_new_virtual(int64_t start_ns, uint64_t seed);
bool qs_loop_is_virtual(const struct qs_loop *loop);
/* Real time: lets this process open up to `most` descriptors, where the system's hard limit is not lower;
 * children keep the limit that it was started with. Returns how many it may open. */
size_t qs_loop_allow_files(struct qs_loop *loop, size_t most);

/* Runs until stopped or until nothing is left that could call back (a forgotten child cannot). May be run
 * again: what was left comes then. */
void qs_loop_run(struct qs_loop *loop);
/* Before a run: that run returns at once. Descriptor events that were already collected are still delivered.
 */
void qs_loop_stop(struct qs_loop *loop);
/* Frees the loop (NULL is allowed), not from a callback; every handle must have been stopped. Returns how
 * many were not (0 = clean): tests assert 0. Posts and works that have not called back count and never will.
 * Real time: waits for works that are running, and runs the loop's closing callbacks first. */
size_t qs_loop_free(struct qs_loop *loop);

/* Real time: tells of each callback that took limit_ns of the processor or more, after it has returned. */
struct qs_loop_slow {
    int64_t cpu_ns, wall_ns;
    const char
        *where; /* the function, as FILE+OFFSET of its program: `addr2line -f -e FILE OFFSET` names it */
    const char *doing; /* qs_loop_note, or NULL */
};
typedef void qs_loop_slow_fn(const struct qs_loop_slow *slow, void *user);
void qs_loop_watch(struct qs_loop *loop, int64_t limit_ns, qs_loop_slow_fn *on_slow, void *user);
/* What the callback under way is doing: borrowed until it returns. */
void qs_loop_note(struct qs_loop *loop, const char *doing);

int64_t qs_loop_now_ns(const struct qs_loop *loop);  /* monotonic, read now, not the turn's start */
int64_t qs_loop_wall_ns(const struct qs_loop *loop); /* since the epoch, UTC */
void qs_loop_random(struct qs_loop *loop, void *bytes, size_t n);

typedef void qs_loop_fn(void *user);

/* One shot after delay_ns >= 0 (real time rounds up to the next millisecond). Equal due times fire in the
 * order they were started. */
struct qs_timer *qs_timer_start(struct qs_loop *loop, int64_t delay_ns, qs_loop_fn *fn, void *user);
void qs_timer_stop(struct qs_timer *timer);

/* Runs fn once, after the current callback has returned and before the loop waits again, in order of posting.
 * Loop thread only. A post cannot be taken back. */
void qs_loop_post(struct qs_loop *loop, qs_loop_fn *fn, void *user);

/* Where a work runs: each lane has threads of its own and takes its works in the order given, so that none
 * waits for another lane. */
enum qs_lane {
    QS_LANE_WRITE, /* one thread: commits */
    QS_LANE_QUICK, /* what is over soon: short reads, one file */
    QS_LANE_LONG,  /* what may take minutes: it asks qs_loop_rest as it goes */
    QS_LANES
};
/* Runs work() on a thread of the lane, then after() on the loop. In virtual time: work() inline, after() as a
 * post. */
void qs_loop_work(struct qs_loop *loop, enum qs_lane lane, qs_loop_fn *work, qs_loop_fn *after, void *user);

/* This machine is to be left alone (a count): until the release no work of QUICK or LONG begins, and those
 * under way rest at their next question. Nothing in virtual time. */
void qs_loop_hold_works(struct qs_loop *loop);
void qs_loop_release_works(struct qs_loop *loop);
/* From inside a work of QUICK or LONG: returns when nothing is held, at once as a rule. */
void qs_loop_rest(struct qs_loop *loop);
/* From now on nothing is held any more: the loop is about to end, and what runs must end before it. */
void qs_loop_rouse(struct qs_loop *loop);
/* A work of QUICK or LONG has not called back yet and does not rest. */
bool qs_loop_is_working(const struct qs_loop *loop);

enum qs_io_events { QS_IO_READ = 1, QS_IO_WRITE = 2, QS_IO_GONE = 4 };
/* Level-triggered readiness of fd (borrowed, non-blocking). `events` is a mask of QS_IO_*, 0 pauses. Those
 * that fired come as a mask too: an error on fd as READ whatever was asked for, a hang-up as what was asked
 * for. GONE: the peer of a socket will send no more, whatever is left to be read of it. One handle a
 * descriptor; fails with QS_E_IO for files that cannot be waited for (regular files), or QS_E_RESOURCE. fd
 * may be closed right after stop. */
typedef void qs_io_fn(unsigned events, void *user);
struct qs_io *qs_io_start(struct qs_loop *loop, int fd, unsigned events, qs_io_fn *fn, void *user,
                          struct qs_err *err);
bool qs_io_update(struct qs_io *io, unsigned events, struct qs_err *err);
void qs_io_stop(struct qs_io *io);

struct qs_spawn {
    const char *const *argv; /* NULL-terminated; argv[0] is searched in PATH (that of env, where given) */
    const char *const *env;  /* NULL-terminated, or NULL: inherit */
    const char *cwd;         /* or NULL: inherit */
    int fd[3];               /* given to the child as 0, 1, 2 (borrowed, made blocking); -1 opens /dev/null */
    bool new_session;        /* setsid: a terminal's Ctrl-C does not reach it */
};
/* exit_code is valid where term_signal is 0. May come before the last of what the child wrote has been read.
 * Failing to start is QS_E_COMMAND (or QS_E_RESOURCE: the host has run out of something); no callback comes
 * then. Other descriptors of this process reach the child unless they are close-on-exec. */
typedef void qs_child_fn(int exit_code, int term_signal, void *user);
struct qs_child *qs_child_start(struct qs_loop *loop, const struct qs_spawn *spec, qs_child_fn *fn,
                                void *user, struct qs_err *err);
pid_t qs_child_pid(const struct qs_child *child);
/* To the process alone, not to its group; a no-op in the exit callback, where the pid may be another's
 * already. */
void qs_child_kill(struct qs_child *child, int signum);
/* Forgets the child, which lives on: no callback will come. It is still reaped, while the loop runs. */
void qs_child_stop(struct qs_child *child);

typedef void qs_signal_fn(int signum, void *user);
struct qs_signal *qs_signal_start(struct qs_loop *loop, int signum, qs_signal_fn *fn, void *user,
                                  struct qs_err *err);
void qs_signal_stop(struct qs_signal *sig);

#endif
