#include "stats/pelt_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum { STEPS_A_LOOK = 256 };

/* A place where the last segment may start. */
struct place {
    size_t from;
    size_t closes; /* from which end on it may not any more */
    double f;      /* best cost of all that ends at `end`, with this as the start of the last segment */
};

struct state {
    const struct qs_pelt_search *s;
    double *f;          /* owned, as all below: best cost of the first t values, n+1 */
    size_t *from;       /* the start of their last segment, n+1 */
    struct place *open; /* n+1 */
    size_t n_open;
};

static void open_place(struct state *p, size_t from)
{
    p->open[p->n_open++] = (struct place){.from = from, .closes = SIZE_MAX};
}

static void drop_closed(struct state *p, size_t end)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_open; i++)
        if (p->open[i].closes > end)
            p->open[kept++] = p->open[i];
    p->n_open = kept;
}

/* The best last segment of the first `end` values. A place that `end` beats closes as soon as `end` is one.
 */
static void step(struct state *p, size_t end)
{
    const struct qs_pelt_search *s = p->s;
    size_t n = 0;
    drop_closed(p, end);
    p->f[end] = INFINITY;
    for (; n < p->n_open && p->open[n].from + s->least <= end; n++) {
        struct place *a = &p->open[n];
        a->f = p->f[a->from] + s->cost(s->model, a->from, end);
        if (a->f + s->penalty < p->f[end]) {
            p->f[end] = a->f + s->penalty;
            p->from[end] = a->from;
        }
    }
    for (size_t i = 0; i < n; i++)
        if (p->open[i].closes == SIZE_MAX && p->open[i].f > p->f[end])
            p->open[i].closes = end + s->least;
    open_place(p, end);
}

static void trace(const struct state *p, size_t *changes, size_t *count)
{
    size_t k = 0;
    for (size_t t = p->s->n; p->from[t] > 0; t = p->from[t])
        changes[k++] = p->from[t];
    for (size_t i = 0; i < k / 2; i++) {
        size_t other = changes[i];
        changes[i] = changes[k - 1 - i];
        changes[k - 1 - i] = other;
    }
    *count = k;
}

static enum qs_status walk(struct state *p, size_t *changes, size_t *count)
{
    p->f[0] = -p->s->penalty;
    open_place(p, 0);
    for (size_t end = p->s->least; end <= p->s->n; end++) {
        double share = (double)end / (double)p->s->n;
        if (end % STEPS_A_LOOK == 0 && !qs_progress_go_on(p->s->progress, share * share)) /* they grow */
            return QS_ECANCELED;
        step(p, end);
    }
    trace(p, changes, count);
    return QS_OK;
}

enum qs_status qs_pelt_search(const struct qs_pelt_search *search, size_t *changes, size_t *count)
{
    size_t room = search->n + 1;
    struct state p = {.s = search,
                      .f = calloc(room, sizeof *p.f),
                      .from = calloc(room, sizeof *p.from),
                      .open = calloc(room, sizeof *p.open)};
    enum qs_status status = p.f && p.from && p.open ? walk(&p, changes, count) : QS_ENOMEM;
    free(p.f);
    free(p.from);
    free(p.open);
    return status;
}
