/* Sets of processors, and which of them are alike. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"

enum { KINDS_MAX = 16 };

bool qs_cpu_set_has(const struct qs_cpu_set *set, size_t cpu)
{
    return cpu < QS_BOARD_CPUS_MAX && (set->bits[cpu / 64] >> (cpu % 64) & 1) != 0;
}

void qs_cpu_set_add(struct qs_cpu_set *set, size_t cpu)
{
    if (cpu < QS_BOARD_CPUS_MAX)
        set->bits[cpu / 64] |= UINT64_C(1) << (cpu % 64);
}

bool qs_cpu_set_within(const struct qs_cpu_set *set, const struct qs_cpu_set *all)
{
    for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
        if ((set->bits[i] & ~all->bits[i]) != 0)
            return false;
    return true;
}

static bool is_empty(const struct qs_cpu_set *set)
{
    return qs_cpu_set_within(set, &(struct qs_cpu_set){0});
}

static bool take_cpu(const char **at, const char *end, size_t *ret)
{
    const char *p = *at;
    size_t v = 0;
    for (; p < end && isdigit((unsigned char)*p) && v < QS_BOARD_CPUS_MAX; p++)
        v = v * 10 + (size_t)(*p - '0');
    bool number = p > *at && v < QS_BOARD_CPUS_MAX;
    *at = p;
    *ret = v;
    return number;
}

bool qs_cpu_set_read(const char *text, size_t n, struct qs_cpu_set *ret)
{
    const char *end = text + n, *at = text;
    *ret = (struct qs_cpu_set){0};
    while (at < end) {
        size_t first = 0, last = 0;
        if (isspace((unsigned char)*at) || *at == ',') {
            at++;
            continue;
        }
        if (!take_cpu(&at, end, &first))
            return false;
        last = first;
        if (at < end && *at == '-' && (at++, !take_cpu(&at, end, &last)))
            return false;
        if (last < first || (at < end && *at != ',' && !isspace((unsigned char)*at)))
            return false;
        for (size_t cpu = first; cpu <= last; cpu++)
            qs_cpu_set_add(ret, cpu);
    }
    return !is_empty(ret);
}

bool qs_row_cpus(const struct qs_survey_row *row, struct qs_cpu_set *ret)
{
    *ret = (struct qs_cpu_set){0};
    return row != NULL && row->status == QS_READING_OK && row->value_bytes < QS_BOARD_VALUE_MAX &&
           qs_cpu_set_read(row->value, row->value_bytes, ret);
}

char *qs_cpu_set_text(const struct qs_cpu_set *set)
{
    QS_BUF(out);
    for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++) {
        size_t last = cpu;
        if (!qs_cpu_set_has(set, cpu))
            continue;
        while (qs_cpu_set_has(set, last + 1))
            last++;
        qs_buf_fmt(&out, out.len > 0 ? ",%zu" : "%zu", cpu);
        if (last > cpu)
            qs_buf_fmt(&out, "-%zu", last);
        cpu = last;
    }
    return out.len > 0 ? qs_buf_take(&out) : NULL;
}

struct alike {
    size_t capacity, max_khz;
    struct qs_cpu_set cpus;
};

/* The capacity of each processor that has one, and 0. */
static void read_capacities(const struct qs_work *w, size_t capacities[QS_BOARD_CPUS_MAX])
{
    QS_SCOPED(qs_strings_done) struct qs_strings files = {0};
    for (size_t l = 0; l < w->layer_count && files.count == 0; l++)
        if (w->layers[l]->capacity != NULL)
            qs_work_files(w, w->layers[l]->capacity, &files);
    for (size_t i = 0; i < files.count; i++) {
        const char *slash = strrchr(files.at[i], '/');
        const char *digits = slash;
        int64_t v = 0;
        size_t cpu = 0;
        while (digits != NULL && digits > files.at[i] && isdigit((unsigned char)digits[-1]))
            digits--;
        if (digits == NULL || !take_cpu(&digits, slash, &cpu) || digits != slash ||
            !qs_row_whole(qs_work_find(w, files.at[i]), &v) || v < 1 || v > 1024)
            continue;
        capacities[cpu] = (size_t)v;
    }
}

static void read_highest(const struct qs_work *w, size_t highest[QS_BOARD_CPUS_MAX])
{
    for (size_t i = 0; i < w->board->domains.count; i++) {
        const struct qs_board_domain *d = &w->board->domains.at[i];
        struct qs_cpu_set cpus;
        if (d->kind != QS_DOMAIN_CPU || d->cpus == NULL || !qs_cpu_set_read(d->cpus, strlen(d->cpus), &cpus))
            continue;
        for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++)
            if (qs_cpu_set_has(&cpus, cpu))
                highest[cpu] = d->hw_max_khz;
    }
}

/* Adds the processor to those of its kind, which are kept ascending. False where there are too many kinds. */
static bool put(struct alike *kinds, size_t *count, bool by_capacity, size_t cpu, size_t capacity,
                size_t max_khz)
{
    size_t key = by_capacity ? capacity : max_khz, i = 0;
    while (i < *count && (by_capacity ? kinds[i].capacity : kinds[i].max_khz) < key)
        i++;
    if (i == *count || (by_capacity ? kinds[i].capacity : kinds[i].max_khz) != key) {
        if (*count == KINDS_MAX)
            return false;
        memmove(&kinds[i + 1], &kinds[i], (*count - i) * sizeof *kinds);
        kinds[i] = (struct alike){.capacity = capacity, .max_khz = max_khz};
        ++*count;
    }
    kinds[i].max_khz = kinds[i].max_khz > max_khz ? kinds[i].max_khz : max_khz;
    qs_cpu_set_add(&kinds[i].cpus, cpu);
    return true;
}

static char *cluster_name(size_t i, size_t count)
{
    if (count == 1)
        return qs_strdup("all");
    if (i == 0)
        return qs_strdup("little");
    if (count > 2 && i == count - 1)
        return qs_strdup("prime");
    return i == 1 ? qs_strdup("big") : qs_asprintf("big.%zu", i);
}

void qs_work_clusters(struct qs_work *w)
{
    size_t capacities[QS_BOARD_CPUS_MAX] = {0}, highest[QS_BOARD_CPUS_MAX] = {0}, count = 0;
    struct alike kinds[KINDS_MAX + 1];
    struct qs_cpu_set present = {0}, unknown = {0};
    struct qs_board *b = w->board;
    bool by_capacity = true, fits = true;
    read_capacities(w, capacities);
    read_highest(w, highest);
    if (b->cpus != NULL)
        qs_cpu_set_read(b->cpus, strlen(b->cpus), &present);
    for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++)
        by_capacity = by_capacity && (!qs_cpu_set_has(&present, cpu) || capacities[cpu] > 0);
    for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX && fits; cpu++) {
        if (!qs_cpu_set_has(&present, cpu))
            continue;
        if (by_capacity || highest[cpu] > 0)
            fits = put(kinds, &count, by_capacity, cpu, capacities[cpu], highest[cpu]);
        else
            qs_cpu_set_add(&unknown, cpu);
    }
    if (!fits) {
        qs_work_note(w, "the processors are of more than %d kinds: they are not grouped into clusters",
                     KINDS_MAX);
        return;
    }
    b->clusters.at = qs_calloc(count + 1, sizeof *b->clusters.at);
    for (size_t i = 0; i < count; i++)
        b->clusters.at[b->clusters.count++] = (struct qs_board_cluster){
            cluster_name(i, count), qs_cpu_set_text(&kinds[i].cpus), kinds[i].capacity, kinds[i].max_khz};
    QS_FREED char *left = qs_cpu_set_text(&unknown);
    if (left != NULL && count > 0)
        qs_work_note(
            w, "for the processors %s neither capacity nor frequency is known: they are in no cluster", left);
}

bool qs_board_cpus_within(const char *cpus, const char *all)
{
    struct qs_cpu_set own = {0}, others = {0};
    return qs_cpu_set_read(cpus, strlen(cpus), &own) && qs_cpu_set_read(all, strlen(all), &others) &&
           qs_cpu_set_within(&own, &others);
}
