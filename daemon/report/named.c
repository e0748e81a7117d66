#include "report/named.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

struct row {
    const struct qs_named *named; /* borrowed */
    char night[QS_NIGHT_CHARS];
};

/* Rows of one name, in order of time. */
struct group {
    const struct row *rows;
    size_t count;
};

typedef const char *name_fn(const struct row *row);

static const char *label_of(const struct row *row)
{
    return row->named->label;
}

static const char *benchmark_of(const struct row *row)
{
    return row->named->benchmark;
}

static const char *device_of(const struct row *row)
{
    return row->named->device;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Each name once. */
static void put_names(struct qs_json *j, const char *key, const struct group *g, name_fn *name_of)
{
    const char **names = qs_calloc(g->count, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < g->count; i++)
        if (name_of(&g->rows[i]))
            names[n++] = name_of(&g->rows[i]);
    qsort((void *)names, n, sizeof *names, by_text);
    qs_json_karray(j, key);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0)
            qs_json_string(j, names[i]);
    qs_json_array_end(j);
    free((void *)names);
}

/* How many different ones of n there are; they come out sorted, each once. */
static size_t sort_numbers(int64_t *at, size_t n)
{
    size_t kept = 0;
    qsort(at, n, sizeof *at, by_number);
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || at[i] != at[kept - 1])
            at[kept++] = at[i];
    return kept;
}

static void put_counts(struct qs_json *j, const struct group *g)
{
    int64_t *jobs = qs_calloc(g->count, sizeof *jobs), *sessions = qs_calloc(g->count, sizeof *sessions);
    int64_t runs = 0;
    for (size_t i = 0; i < g->count; i++) {
        jobs[i] = g->rows[i].named->job;
        sessions[i] = g->rows[i].named->session;
        runs += g->rows[i].named->runs;
    }
    qs_json_kint(j, "sessions", (int64_t)sort_numbers(sessions, g->count));
    qs_json_kint(j, "runs", runs);
    size_t count = sort_numbers(jobs, g->count);
    qs_json_karray(j, "jobs");
    for (size_t i = 0; i < count; i++)
        qs_json_int(j, jobs[i]);
    qs_json_array_end(j);
    free(jobs);
    free(sessions);
}

static void put_common(struct qs_json *j, const struct group *g)
{
    qs_json_kint(j, "first_wall_ns", g->rows[0].named->started_wall_ns);
    qs_json_kint(j, "last_wall_ns", g->rows[g->count - 1].named->started_wall_ns);
    put_counts(j, g);
    put_names(j, "devices", g, device_of);
    put_names(j, "benchmarks", g, benchmark_of);
}

static void put_build(struct qs_json *j, const struct group *g)
{
    qs_json_object(j);
    qs_json_kstring(j, "build", g->rows[0].named->label);
    qs_json_kstring(j, "first_night", g->rows[0].night);
    qs_json_kstring(j, "last_night", g->rows[g->count - 1].night);
    put_common(j, g);
    qs_json_object_end(j);
}

static void put_night(struct qs_json *j, const struct group *g)
{
    qs_json_object(j);
    qs_json_kstring(j, "night", g->rows[0].night);
    put_common(j, g);
    put_names(j, "builds", g, label_of);
    qs_json_object_end(j);
}

static bool of_one_build(const struct row *a, const struct row *b)
{
    return a->named->build == b->named->build;
}

static bool of_one_night(const struct row *a, const struct row *b)
{
    return strcmp(a->night, b->night) == 0;
}

/* The last groups of the rows, from the last one on. */
static void put_groups(struct qs_json *j, const struct row *rows, size_t count, size_t limit,
                       bool (*of_one)(const struct row *a, const struct row *b),
                       void (*put)(struct qs_json *j, const struct group *g))
{
    qs_json_array(j);
    for (size_t end = count, n = 0; end > 0 && n < limit; n++) {
        size_t from = end - 1;
        while (from > 0 && of_one(&rows[from - 1], &rows[end - 1]))
            from--;
        put(j, &(struct group){.rows = rows + from, .count = end - from});
        end = from;
    }
    qs_json_array_end(j);
}

/* A build that came later comes later; rows of one stay in order of time. */
static int by_build(const void *pa, const void *pb)
{
    const struct qs_named *a = ((const struct row *)pa)->named, *b = ((const struct row *)pb)->named;
    return a->build != b->build ? (a->build > b->build) - (a->build < b->build) : (a > b) - (a < b);
}

void qs_named_put(const struct qs_named_list *list, size_t limit, struct qs_buf *out)
{
    QS_FREED struct row *rows = qs_calloc(list->count, sizeof *rows);
    size_t nameless = 0;
    for (size_t i = 0; i < list->count; i++) {
        rows[i].named = &list->at[i];
        qs_night_name(list->at[i].started_wall_ns, rows[i].night);
        nameless += list->at[i].build == 0;
    }
    QS_FREED struct row *built = qs_calloc(list->count, sizeof *built);
    memcpy(built, rows, list->count * sizeof *rows);
    qsort(built, list->count, sizeof *built, by_build);
    struct qs_json j = qs_json_to(out);
    qs_json_object(&j);
    qs_json_key(&j, "builds");
    put_groups(&j, built + nameless, list->count - nameless, limit, of_one_build, put_build);
    qs_json_key(&j, "nights");
    put_groups(&j, rows, list->count, limit, of_one_night, put_night);
    qs_json_object_end(&j);
}
