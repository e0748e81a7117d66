#include "base/loop_lanes.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

enum { THREADS_MOST = 4 };

/* Commits never wait for a reader; short reads never wait for a computation; two computations leave
 * processors to the rest. */
static const struct {
    unsigned threads;
    bool rests; /* its works begin and go on only while nothing is held */
} kinds[QS_LANES] = {[QS_LANE_WRITE] = {1, false}, [QS_LANE_QUICK] = {4, true}, [QS_LANE_LONG] = {2, true}};

struct work {
    struct work *next;
    enum qs_lane lane;
    qs_loop_fn *work;
    struct qs_lane_done done;
};

struct queue {
    struct work *first, *last;
    size_t count;
};

struct lane {
    struct qs_lanes *all; /* borrowed */
    enum qs_lane which;
    struct queue waiting;
    pthread_cond_t cond;
    pthread_t threads[THREADS_MOST];
    unsigned started, idle;
};

struct qs_lanes {
    pthread_mutex_t mutex;   /* of all that follows, but for what says otherwise */
    pthread_cond_t released; /* held fell to 0 */
    struct lane lanes[QS_LANES];
    struct queue done;
    atomic_uint held; /* written under the mutex; read without it by who would rest */
    size_t resting;
    bool roused, ending;
    size_t given, reading; /* of the loop's thread: not taken yet, of all lanes and of those that rest */
    void (*on_done)(void *user);
    void *user;
};

static void push(struct queue *q, struct work *w)
{
    w->next = NULL;
    if (q->last)
        q->last->next = w;
    else
        q->first = w;
    q->last = w;
    q->count++;
}

static struct work *pop(struct queue *q)
{
    struct work *w = q->first;
    q->first = w->next;
    q->last = q->first ? q->last : NULL;
    q->count--;
    return w;
}

struct qs_lanes *qs_lanes_new(void (*on_done)(void *user), void *user)
{
    struct qs_lanes *l = qs_calloc(1, sizeof *l);
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->released, NULL);
    for (unsigned i = 0; i < QS_LANES; i++) {
        l->lanes[i].all = l;
        l->lanes[i].which = (enum qs_lane)i;
        pthread_cond_init(&l->lanes[i].cond, NULL);
    }
    l->on_done = on_done;
    l->user = user;
    return l;
}

/* With the mutex held: the next work of the lane, or NULL when there will be none. */
static struct work *await(struct lane *lane)
{
    struct qs_lanes *l = lane->all;
    while (!lane->waiting.first || (kinds[lane->which].rests && l->held > 0)) {
        if (l->ending) /* nothing is held then */
            return NULL;
        lane->idle++;
        pthread_cond_wait(&lane->cond, &l->mutex);
        lane->idle--;
    }
    return pop(&lane->waiting);
}

static void *serve(void *user)
{
    struct lane *lane = user;
    struct qs_lanes *l = lane->all;
    struct work *w;
    pthread_mutex_lock(&l->mutex);
    while ((w = await(lane)) != NULL) {
        pthread_mutex_unlock(&l->mutex);
        w->work(w->done.user);
        pthread_mutex_lock(&l->mutex);
        push(&l->done, w);
        l->on_done(l->user);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* Signals are the loop's. */
static bool start_thread(struct lane *lane)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&lane->threads[lane->started], NULL, serve, lane) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    lane->started += ok ? 1 : 0;
    return ok;
}

void qs_lanes_add(struct qs_lanes *l, enum qs_lane which, qs_loop_fn *work, qs_loop_fn *after, void *user)
{
    struct lane *lane = &l->lanes[which];
    struct work *w = qs_malloc(sizeof *w);
    *w = (struct work){.lane = which, .work = work, .done = {after, user}};
    l->given++;
    l->reading += kinds[which].rests ? 1 : 0;
    pthread_mutex_lock(&l->mutex);
    push(&lane->waiting, w);
    bool served = lane->waiting.count <= lane->idle ||
                  (lane->started < kinds[which].threads && start_thread(lane)) || lane->started > 0;
    pthread_cond_signal(&lane->cond);
    if (!served) /* the machine has no thread left: late is better than never */
        push(&l->done, pop(&lane->waiting));
    pthread_mutex_unlock(&l->mutex);
    if (served)
        return;
    work(user);
    l->on_done(l->user);
}

bool qs_lanes_take(struct qs_lanes *l, struct qs_lane_done *ret)
{
    pthread_mutex_lock(&l->mutex);
    QS_FREED struct work *w = l->done.first ? pop(&l->done) : NULL;
    pthread_mutex_unlock(&l->mutex);
    if (!w)
        return false;
    l->given--;
    l->reading -= kinds[w->lane].rests ? 1 : 0;
    *ret = w->done;
    return true;
}

size_t qs_lanes_count(const struct qs_lanes *l)
{
    return l->given;
}

/* While nothing is held, what waits may begin at any moment. */
bool qs_lanes_is_working(struct qs_lanes *l)
{
    size_t still = 0;
    pthread_mutex_lock(&l->mutex);
    for (unsigned i = 0; i < QS_LANES && l->held > 0; i++)
        still += kinds[i].rests ? l->lanes[i].waiting.count : 0;
    still += l->held > 0 ? l->resting : 0;
    pthread_mutex_unlock(&l->mutex);
    return l->reading > still;
}

/* With the mutex held. */
static void wake_all(struct qs_lanes *l)
{
    pthread_cond_broadcast(&l->released);
    for (unsigned i = 0; i < QS_LANES; i++)
        pthread_cond_broadcast(&l->lanes[i].cond);
}

void qs_lanes_hold(struct qs_lanes *l, bool on)
{
    pthread_mutex_lock(&l->mutex);
    if (!l->roused && on)
        l->held++;
    else if (!l->roused && l->held > 0 && --l->held == 0)
        wake_all(l);
    pthread_mutex_unlock(&l->mutex);
}

void qs_lanes_rest(struct qs_lanes *l)
{
    if (l->held == 0)
        return;
    pthread_mutex_lock(&l->mutex);
    l->resting++;
    while (l->held > 0)
        pthread_cond_wait(&l->released, &l->mutex);
    l->resting--;
    pthread_mutex_unlock(&l->mutex);
}

void qs_lanes_rouse(struct qs_lanes *l)
{
    pthread_mutex_lock(&l->mutex);
    l->roused = true;
    l->held = 0;
    wake_all(l);
    pthread_mutex_unlock(&l->mutex);
}

static void free_queue(struct queue *q)
{
    while (q->first)
        free(pop(q));
}

void qs_lanes_free(struct qs_lanes *l)
{
    qs_lanes_rouse(l);
    pthread_mutex_lock(&l->mutex);
    l->ending = true;
    wake_all(l);
    pthread_mutex_unlock(&l->mutex);
    for (unsigned i = 0; i < QS_LANES; i++) {
        for (unsigned k = 0; k < l->lanes[i].started; k++)
            pthread_join(l->lanes[i].threads[k], NULL);
        pthread_cond_destroy(&l->lanes[i].cond);
    }
    free_queue(&l->done);
    pthread_cond_destroy(&l->released);
    pthread_mutex_destroy(&l->mutex);
    free(l);
}
