/* What the facade and the two loops share: the timers, the posts, and the operations in which they differ.
 * Timers and posts are kept here for both, so that their order is the same in real and in virtual time. */
#ifndef QS_BASE_LOOP_IMPL_H
#define QS_BASE_LOOP_IMPL_H

#include "base/loop.h"

enum { QS_TIMER_IDLE = -1 };

struct qs_timer {
    struct qs_loop *loop; /* borrowed */
    int64_t due_ns;
    uint64_t seq;
    ptrdiff_t index; /* in the heap; QS_TIMER_IDLE while its callback runs */
    qs_loop_fn *fn;
    void *user;
};

/* A binary heap by (due_ns, seq). */
struct qs_timerq {
    struct qs_timer **heap; /* owned, with the timers in it */
    size_t count;
    uint64_t next_seq;
};

struct qs_post {
    qs_loop_fn *fn;
    void *user;
};

/* A ring. */
struct qs_postq {
    struct qs_post *ring; /* owned */
    size_t head;
    size_t count;
    size_t cap; /* a power of two, or 0 */
};

/* The first member of the handles that only real time has. */
struct qs_io {
    struct qs_loop *loop; /* borrowed */
};
struct qs_child {
    struct qs_loop *loop; /* borrowed */
};
struct qs_signal {
    struct qs_loop *loop; /* borrowed */
};

struct qs_loop_ops {
    void (*run)(struct qs_loop *loop);
    /* Asked to stop; NULL where the flag is enough. */
    void (*stop)(struct qs_loop *loop);
    /* Frees the loop; returns how many of its own handles and works were left. */
    size_t (*close)(struct qs_loop *loop);
    int64_t (*now_ns)(const struct qs_loop *loop);
    int64_t (*wall_ns)(const struct qs_loop *loop);
    void (*random)(struct qs_loop *loop, void *bytes, size_t n);
    /* After the first timer changed, after a post came; NULL where nobody waits outside. */
    void (*timers_changed)(struct qs_loop *loop);
    void (*posted)(struct qs_loop *loop);
    void (*work)(struct qs_loop *loop, enum qs_lane lane, qs_loop_fn *work, qs_loop_fn *after, void *user);
    /* NULL in virtual time, from here on. */
    struct qs_lanes *(*lanes)(const struct qs_loop *loop);
    size_t (*allow_files)(struct qs_loop *loop, size_t most);
    struct qs_io *(*io_start)(struct qs_loop *loop, int fd, unsigned events, qs_io_fn *fn, void *user,
                              struct qs_err *err);
    bool (*io_update)(struct qs_io *io, unsigned events, struct qs_err *err);
    void (*io_stop)(struct qs_io *io);
    struct qs_child *(*child_start)(struct qs_loop *loop, const struct qs_spawn *spec, qs_child_fn *fn,
                                    void *user, struct qs_err *err);
    pid_t (*child_pid)(const struct qs_child *child);
    void (*child_kill)(struct qs_child *child, int signum);
    void (*child_stop)(struct qs_child *child);
    struct qs_signal *(*signal_start)(struct qs_loop *loop, int signum, qs_signal_fn *fn, void *user,
                                      struct qs_err *err);
    void (*signal_stop)(struct qs_signal *sig);
};

struct qs_loop_watch {
    int64_t limit_ns;
    qs_loop_slow_fn *on_slow; /* NULL: nobody watches */
    void *user;
    int64_t cpu_ns, wall_ns; /* when the callback under way began */
    const char *doing;
};

/* The first member of both loops. */
struct qs_loop {
    const struct qs_loop_ops *ops;
    struct qs_timerq timers;
    struct qs_postq posts;
    struct qs_loop_watch watch;
    bool stopping;
};

void qs_timerq_push(struct qs_timerq *q, struct qs_timer *t);   /* O(log n); numbers it */
void qs_timerq_remove(struct qs_timerq *q, struct qs_timer *t); /* O(log n); t is in q */
struct qs_timer *qs_timerq_first(const struct qs_timerq *q);    /* NULL while empty */
void qs_timerq_done(struct qs_timerq *q);                       /* frees the timers too */

void qs_postq_push(struct qs_postq *q, struct qs_post post);
struct qs_post qs_postq_pop(struct qs_postq *q); /* q is not empty */
void qs_postq_done(struct qs_postq *q);

/* loop_watch.c: the loop has waited; a callback has returned. */
void qs_loop_woke(struct qs_loop *loop);
void qs_loop_ran(struct qs_loop *loop, uintptr_t fn);

/* Takes t out of the heap, calls it and frees it. */
void qs_loop_fire(struct qs_loop *loop, struct qs_timer *t);
/* Runs the posts that are there now, not those that they add: due timers get their turn in between. Ends
 * early when the loop is stopped. Both loops call it after each callback. */
void qs_loop_run_posts(struct qs_loop *loop);

#endif
