/* Frequency domains: which there are, what they can do, and whether they can be held. */
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"

enum { HZ_FROM = 20000000, KHZ_FROM = 20000 };

size_t qs_domain_khz(enum qs_domain_unit unit, size_t raw)
{
    if (unit == QS_DOMAIN_HZ)
        return raw / 1000;
    return unit == QS_DOMAIN_MHZ ? raw * 1000 : raw;
}

static size_t raw_of(const struct qs_survey_row *row)
{
    int64_t v = 0;
    return qs_row_whole(row, &v) && v > 0 ? (size_t)v : 0;
}

/* The first entry of the table that says some; "a + b" is both. Ascending; a level is a place in it, where
 * repeated frequencies count, too. */
static void read_table(const struct qs_work *w, const struct qs_profile_domain *p, const char *folder,
                       struct qs_board_counts *ret)
{
    for (size_t i = 0; i < p->table.count && ret->count == 0; i++)
        for (const char *at = p->table.at[i]; *at != '\0';) {
            size_t n = strcspn(at, " +");
            QS_FREED char *file = qs_strndup(at, n);
            if (n > 0)
                qs_row_numbers(qs_work_in(w, folder, file), ret);
            at += n + strspn(at + n, " +");
        }
    qs_counts_sort(ret, p->limits == QS_LIMITS_LEVEL);
}

static enum qs_domain_unit unit_of(const struct qs_profile_domain *p, size_t largest)
{
    if (p->unit != QS_DOMAIN_AUTO)
        return p->unit;
    return largest >= HZ_FROM ? QS_DOMAIN_HZ : largest >= KHZ_FROM ? QS_DOMAIN_KHZ : QS_DOMAIN_RAW;
}

static void add_count(struct qs_board_counts *counts, size_t v)
{
    counts->at = qs_grow(counts->at, counts->count, sizeof *counts->at);
    counts->at[counts->count++] = v;
}

/* What the hardware's and the set limits are, in numbers of their files; 0: not known. */
struct limits {
    size_t hw_min, hw_max, min, max;
};

/* Operating points from the table, those that the hardware's limits leave out left out. */
static void take_steps(struct qs_work *w, struct qs_board_domain *d, const struct qs_profile_domain *p,
                       const struct qs_board_counts *table, const struct limits *l)
{
    bool level = p->limits == QS_LIMITS_LEVEL, bounded = !level && l->hw_min > 0 && l->hw_max >= l->hw_min;
    size_t left_out = 0;
    for (size_t i = p->reserved < table->count ? p->reserved : 0; i < table->count; i++) {
        if (level && i + 1 < table->count && table->at[i + 1] == table->at[i])
            continue; /* of several levels of one frequency the first */
        if (bounded && (table->at[i] < l->hw_min || table->at[i] > l->hw_max)) {
            left_out++;
            continue;
        }
        add_count(&d->steps_khz, qs_domain_khz(d->unit, table->at[i]));
        add_count(&d->steps_raw, level ? table->count - 1 - i : table->at[i]);
    }
    if (left_out > 0)
        qs_work_note(w, "%s: %zu listed frequenc%s outside the range that the hardware reports now", d->name,
                     left_out, left_out == 1 ? "y is" : "ies are");
}

static void take_range(struct qs_work *w, struct qs_board_domain *d, const struct limits *l)
{
    bool hardware = l->hw_min > 0 && l->hw_max >= l->hw_min;
    size_t lo = hardware ? l->hw_min : l->min, hi = hardware ? l->hw_max : l->max;
    if (lo == 0 || hi < lo)
        return;
    d->range = true;
    add_count(&d->steps_khz, qs_domain_khz(d->unit, lo));
    add_count(&d->steps_raw, lo);
    if (hi > lo) {
        add_count(&d->steps_khz, qs_domain_khz(d->unit, hi));
        add_count(&d->steps_raw, hi);
    }
    if (!hardware)
        qs_work_note(
            w, "%s: no file says what the hardware can do; the limits that are set now are used instead",
            d->name);
}

static size_t limit_khz(const struct qs_board_domain *d, const struct qs_board_counts *table,
                        const struct qs_survey_row *row)
{
    int64_t v = 0;
    if (d->limits == QS_LIMITS_FREQUENCY)
        return qs_domain_khz(d->unit, raw_of(row));
    bool is_level = qs_row_whole(row, &v) && v >= 0 && (uint64_t)v < table->count;
    return is_level ? qs_domain_khz(d->unit, table->at[table->count - 1 - (size_t)v]) : 0;
}

static void read_frequencies(struct qs_work *w, struct qs_board_domain *d, const struct qs_profile_domain *p,
                             const char *folder)
{
    const struct qs_survey_row *min = qs_work_in(w, folder, p->min), *max = qs_work_in(w, folder, p->max);
    struct qs_board_counts table = {0};
    bool level = p->limits == QS_LIMITS_LEVEL;
    struct limits l = {.hw_min = raw_of(qs_work_in(w, folder, p->hw_min)),
                       .hw_max = raw_of(qs_work_in(w, folder, p->hw_max)),
                       .min = level ? 0 : raw_of(min),
                       .max = level ? 0 : raw_of(max)};
    read_table(w, p, folder, &table);
    size_t largest = table.count > 0 ? table.at[table.count - 1] : l.hw_max > l.max ? l.hw_max : l.max;
    d->unit = unit_of(p, largest);
    d->limits = p->limits;
    if (table.count > 0)
        take_steps(w, d, p, &table, &l);
    if (d->steps_khz.count == 0 && !level)
        take_range(w, d, &l);
    size_t n = d->steps_khz.count;
    d->hw_min_khz = n > 0 ? d->steps_khz.at[0] : 0;
    d->hw_max_khz = n > 0 ? d->steps_khz.at[n - 1] : 0;
    d->min_khz = limit_khz(d, &table, min);
    d->max_khz = limit_khz(d, &table, max);
    d->current_khz = qs_domain_khz(d->unit, raw_of(qs_work_in(w, folder, p->current)));
    free(table.at);
}

static char *path_of(const struct qs_survey_row *row)
{
    return row != NULL ? qs_strdup(row->path) : NULL;
}

/* What nobody may read tells nothing. */
static char *readable(const struct qs_survey_row *row)
{
    return row != NULL && row->status == QS_READING_OK ? qs_strdup(row->path) : NULL;
}

static bool may_write(const struct qs_work *w, const struct qs_survey_row *row)
{
    return row != NULL && row->status == QS_READING_OK && (row->access & QS_BOARD_WRITABLE) != 0 &&
           !qs_work_avoided(w, row->path);
}

static void read_governors(struct qs_work *w, struct qs_board_domain *d, const struct qs_profile_domain *p,
                           const char *folder)
{
    const struct qs_survey_row *file = qs_work_in(w, folder, p->governor);
    char *chosen = NULL;
    qs_row_words(qs_work_in(w, folder, p->governors), &d->governors, &chosen);
    QS_FREED char *text = qs_row_text(file);
    if (chosen != NULL)
        d->governor = chosen;
    else if (text != NULL && strpbrk(text, " \t") == NULL)
        d->governor = qs_strdup(text);
    d->governor_file = may_write(w, file) ? path_of(file) : NULL;
    for (size_t i = 0; i < p->pin.count && d->hold_governor == NULL && may_write(w, file); i++)
        if (qs_strings_have(&d->governors, p->pin.at[i]))
            d->hold_governor = qs_strdup(p->pin.at[i]);
}

static void judge_hold(const struct qs_work *w, struct qs_board_domain *d)
{
    const struct qs_survey_row *min = d->min_file ? qs_work_find(w, d->min_file) : NULL;
    const struct qs_survey_row *max = d->max_file ? qs_work_find(w, d->max_file) : NULL;
    const struct qs_survey_row *const rows[] = {min, max};
    if (min == NULL || max == NULL) {
        d->hold = QS_HOLD_NO_FILE;
        d->why = qs_strdup("the device has no files for its limits");
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        if (may_write(w, rows[i]))
            continue;
        d->hold = qs_work_avoided(w, rows[i]->path) ? QS_HOLD_AVOIDED : QS_HOLD_DENIED;
        d->why =
            d->hold == QS_HOLD_AVOIDED
                ? qs_asprintf("a profile says never to write %s", rows[i]->path)
                : qs_asprintf("%s may not be %s by the agent's user: run the agent as root (a phone: `adb "
                              "root`, or `su`; a board: start it as root)",
                              rows[i]->path, rows[i]->status == QS_READING_OK ? "written" : "read");
        return;
    }
    if (d->steps_khz.count == 0) {
        d->hold = QS_HOLD_NO_NUMBERS;
        d->why = qs_strdup("its files do not say which frequencies it has");
    }
}

static void add_domain(struct qs_work *w, const struct qs_profile_domain *p, const char *folder,
                       const struct qs_cpu_set *cpus)
{
    struct qs_board *b = w->board;
    struct qs_board_domain d = {.kind = p->kind};
    d.name = qs_work_unique(qs_work_name(p->name, &p->each, folder, "", ""), b->domains.at, b->domains.count,
                            sizeof *b->domains.at);
    d.cpus = qs_cpu_set_text(cpus);
    read_frequencies(w, &d, p, folder);
    read_governors(w, &d, p, folder);
    d.min_file = path_of(qs_work_in(w, folder, p->min));
    d.max_file = path_of(qs_work_in(w, folder, p->max));
    d.set_file = path_of(qs_work_in(w, folder, p->set));
    d.current_file = readable(qs_work_in(w, folder, p->current));
    d.residency_file = readable(qs_work_in(w, folder, p->residency));
    d.residency_ms = p->residency_ms;
    d.transitions_file = readable(qs_work_in(w, folder, p->transitions));
    judge_hold(w, &d);
    if (d.hold == QS_HOLD_OK && d.kind == QS_DOMAIN_CPU && d.residency_file == NULL)
        qs_work_note(
            w,
            "%s: residency is not available (no %s): throttling that begins and ends within a window "
            "goes unseen",
            d.name, p->residency != NULL ? p->residency : "file for it");
    b->domains.at = qs_grow(b->domains.at, b->domains.count, sizeof *b->domains.at);
    b->domains.at[b->domains.count++] = d;
}

/* Where the folder is among those that are taken, or belongs. */
static size_t place_of(const struct qs_work *w, const char *folder)
{
    size_t lo = 0, hi = w->taken.count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (strcmp(w->taken.at[mid], folder) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static bool is_taken(const struct qs_work *w, const char *folder)
{
    size_t i = place_of(w, folder);
    if (i < w->taken.count && strcmp(w->taken.at[i], folder) == 0)
        return true;
    for (i = 0; i < w->replaced.count; i++)
        if (qs_glob(w->replaced.at[i], folder))
            return true;
    return false;
}

static void take(struct qs_work *w, const struct qs_profile_domain *p, const char *folder)
{
    size_t i = place_of(w, folder);
    qs_strings_add(&w->taken, NULL);
    memmove(&w->taken.at[i + 1], &w->taken.at[i], (w->taken.count - 1 - i) * sizeof *w->taken.at);
    w->taken.at[i] = qs_strdup(folder);
    for (size_t k = 0; k < p->replaces.count; k++)
        if (!qs_strings_have(&w->replaced, p->replaces.at[k]))
            qs_strings_add(&w->replaced, qs_strdup(p->replaces.at[k]));
}

static bool is_there(const struct qs_work *w, const struct qs_profile_domain *p, const char *folder)
{
    struct qs_board_counts table = {0};
    if (p->needs != NULL)
        return qs_work_in(w, folder, p->needs) != NULL;
    read_table(w, p, folder, &table);
    bool there =
        table.count > 0 || qs_work_in(w, folder, p->max) != NULL || qs_work_in(w, folder, p->current) != NULL;
    free(table.at);
    return there;
}

static void take_row(struct qs_work *w, const struct qs_profile_domain *p)
{
    QS_SCOPED(qs_strings_done) struct qs_strings folders = {0};
    qs_work_folders(w, &p->each, &folders);
    for (size_t i = 0; i < folders.count; i++) {
        const char *folder = folders.at[i];
        struct qs_cpu_set cpus;
        if (is_taken(w, folder) || !is_there(w, p, folder))
            continue;
        if (w->board->domains.count == QS_BOARD_DOMAINS_MAX) {
            qs_work_note(w, "more than %d frequency domains: the others are left out", QS_BOARD_DOMAINS_MAX);
            return;
        }
        take(w, p, folder);
        if (qs_row_cpus(qs_work_in(w, folder, p->cpus), &cpus)) {
            if (qs_cpu_set_within(&cpus, &w->covered))
                continue; /* the same domain under another processor's name */
            for (size_t cpu = 0; cpu < QS_BOARD_CPUS_MAX; cpu++)
                if (qs_cpu_set_has(&cpus, cpu))
                    qs_cpu_set_add(&w->covered, cpu);
        }
        add_domain(w, p, folder, &cpus);
    }
}

void qs_work_domains(struct qs_work *w)
{
    QS_SCOPED(qs_strings_done) struct qs_strings keys = {0};
    struct qs_board *b = w->board;
    for (size_t l = 0; l < w->layer_count; l++)
        for (size_t i = 0; i < w->layers[l]->domain_count; i++)
            if (!qs_work_seen(&keys, w->layers[l]->domains[i].key))
                take_row(w, &w->layers[l]->domains[i]);
    for (size_t i = 1; i < b->domains.count; i++) /* by kind; stable */
        for (size_t k = i; k > 0 && b->domains.at[k].kind < b->domains.at[k - 1].kind; k--) {
            struct qs_board_domain lower = b->domains.at[k];
            b->domains.at[k] = b->domains.at[k - 1];
            b->domains.at[k - 1] = lower;
        }
}
