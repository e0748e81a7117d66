#include "studies/stop/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/describe.h"
#include "stats/rng.h"
#include "stats/special.h"

enum { LENGTH = 3000, SHAPES = 8, DRAWS = 30 };

void set_free(struct set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free(set->s[i].v);
    free(set->s);
    *set = (struct set){0};
}

/* Takes the values over. */
static bool add(struct set *set, struct series s)
{
    struct series *grown = realloc(set->s, (set->count + 1) * sizeof *grown);
    if (!grown) {
        free(s.v);
        return false;
    }
    set->s = grown;
    set->s[set->count++] = s;
    return true;
}

static bool push(struct series *s, double v)
{
    if ((s->n & (s->n - 1)) == 0) {
        double *grown = realloc(s->v, (s->n > 0 ? 2 * s->n : 1) * sizeof *grown);
        if (!grown)
            return false;
        s->v = grown;
    }
    s->v[s->n++] = v;
    return true;
}

static bool read_line(char *line, struct series *s)
{
    bool ok = true;
    for (char *save = NULL, *word = strtok_r(line, ", \t\r\n", &save); ok && word;
         word = strtok_r(NULL, ", \t\r\n", &save)) {
        char *end;
        double v = strtod(word, &end);
        ok = *end == '\0' && isfinite(v) && v > 0 && push(s, v);
    }
    return ok;
}

bool set_read(struct set *set, const char *path, size_t fewest)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool ok = f != NULL;
    while (ok && getline(&line, &room, f) > 0) {
        struct series s = {0};
        ok = read_line(line, &s) && s.n >= fewest;
        if (ok)
            ok = add(set, s);
        else
            free(s.v);
    }
    free(line);
    if (f)
        (void)fclose(f);
    return ok && set->count > 0;
}

static double unit(struct qs_rng *rng)
{
    return (double)((qs_rng_next(rng) >> 11) | 1) * 0x1p-53;
}

static double normal(struct qs_rng *rng)
{
    return qs_qnorm(unit(rng));
}

/* Between lo and hi, evenly on the scale of logs. */
static double between(struct qs_rng *rng, double lo, double hi)
{
    return lo * exp(unit(rng) * log(hi / lo));
}

struct shape {
    double steps;       /* levels before the last */
    double first, last; /* where they end, drawn between these */
    double height;      /* of a level over the last, at most */
    double decay;       /* iterations; 0: none */
    double phi, sd;     /* noise AR(1), relative */
    double spikes;      /* share of iterations with a heavy tail */
};

/* What compilers, caches and governors do to a run's beginning. */
static const struct shape shapes[SHAPES] = {
    {0, 0, 0, 0, 0, 0, 0.01, 0},          {0, 0, 0, 0, 0, 0.7, 0.01, 0.01},
    {1, 5, 100, 10, 0, 0.2, 0.01, 0.01},  {2, 10, 400, 5, 0, 0.2, 0.02, 0.02},
    {4, 10, 1000, 2, 0, 0.3, 0.01, 0.02}, {0, 0, 0, 3, 60, 0.2, 0.01, 0.01},
    {0, 0, 0, 1, 300, 0.4, 0.02, 0.02},   {1, 100, 1500, 0.3, 0, 0.2, 0.005, 0.01},
};

enum { LEVELS = 4 };

struct drawn {
    double ends[LEVELS], heights[LEVELS];
    double decay, height;
};

static struct drawn draw(struct qs_rng *rng, const struct shape *shape)
{
    struct drawn d = {0};
    for (size_t k = 0; k < (size_t)shape->steps; k++) {
        d.ends[k] = between(rng, shape->first, shape->last);
        d.heights[k] = shape->height * (0.1 + 0.9 * unit(rng)) / shape->steps;
    }
    if (shape->decay > 0) {
        d.decay = between(rng, shape->decay / 3, shape->decay * 3);
        d.height = shape->height * (0.1 + 0.9 * unit(rng));
    }
    return d;
}

static bool generate_one(struct set *set, struct qs_rng *rng, const struct shape *shape)
{
    struct drawn d = draw(rng, shape);
    struct series s = {.v = calloc(LENGTH, sizeof *s.v), .n = LENGTH};
    double noise = 0;
    if (!s.v)
        return false;
    for (size_t i = 0; i < LENGTH; i++) {
        double level = 1;
        for (size_t k = 0; k < (size_t)shape->steps; k++)
            level += (double)i < d.ends[k] ? d.heights[k] : 0;
        if (d.decay > 0)
            level += d.height * exp(-(double)i / d.decay);
        noise = shape->phi * noise + sqrt(1 - shape->phi * shape->phi) * shape->sd * normal(rng);
        double tail = unit(rng) < shape->spikes ? -0.3 * log(unit(rng)) : 0;
        s.v[i] = level * exp(noise) * (1 + tail);
    }
    return add(set, s);
}

bool set_generate(struct set *set, uint64_t seed)
{
    bool ok = true;
    for (uint64_t i = 0; ok && i < (uint64_t)SHAPES * DRAWS; i++) {
        struct qs_rng rng;
        qs_rng_seed(&rng, seed, i);
        ok = generate_one(set, &rng, &shapes[i / DRAWS]);
    }
    return ok;
}

bool set_scale(struct set *set, double median_ns)
{
    bool ok = true;
    for (size_t i = 0; ok && i < set->count; i++) {
        struct series *s = &set->s[i];
        double median;
        ok = qs_median(s->v, s->n, &median) == QS_OK;
        for (size_t k = 0; ok && k < s->n; k++)
            s->v[k] *= median_ns / median;
    }
    return ok;
}
