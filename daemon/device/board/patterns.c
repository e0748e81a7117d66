/* What a survey has to ask for. */
#include <string.h>

#include "base/mem.h"
#include "device/board/impl.h"

static void add(struct qs_strings *all, const char *folder, const char *file)
{
    if (file == NULL)
        return;
    char *pattern = folder != NULL ? qs_asprintf("%s/%s", folder, file) : qs_strdup(file);
    if (qs_strings_have(all, pattern))
        free(pattern);
    else
        qs_strings_add(all, pattern);
}

static void add_domain(struct qs_strings *all, const struct qs_profile_domain *d, const char *folder)
{
    const char *const files[] = {d->needs,  d->governor, d->governors, d->min,
                                 d->max,    d->set,      d->current,   d->hw_min,
                                 d->hw_max, d->cpus,     d->residency, d->transitions};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        add(all, folder, files[i]);
    for (size_t i = 0; i < d->table.count; i++)
        for (const char *at = d->table.at[i]; *at != '\0';) {
            size_t n = strcspn(at, " +");
            QS_FREED char *file = qs_strndup(at, n);
            if (n > 0)
                add(all, folder, file);
            at += n + strspn(at + n, " +");
        }
}

static void add_profile(struct qs_strings *all, const struct qs_profile *p)
{
    add(all, NULL, p->present);
    add(all, NULL, p->online);
    add(all, NULL, p->capacity);
    for (size_t i = 0; i < p->match_count; i++)
        for (size_t k = 0; k < p->match[i].files.count; k++)
            add(all, NULL, p->match[i].files.at[k].key);
    for (size_t i = 0; i < p->domain_count; i++)
        for (size_t k = 0; k < p->domains[i].each.count; k++)
            add_domain(all, &p->domains[i], p->domains[i].each.at[k]);
    for (size_t i = 0; i < p->sensor_count; i++)
        for (size_t k = 0; k < p->sensors[i].each.count; k++) {
            add(all, p->sensors[i].each.at[k], p->sensors[i].type);
            add(all, p->sensors[i].each.at[k], p->sensors[i].value);
            add(all, p->sensors[i].each.at[k], p->sensors[i].wraps);
            add(all, p->sensors[i].each.at[k], p->sensors[i].volts);
            add(all, p->sensors[i].each.at[k], p->sensors[i].status);
        }
    for (size_t i = 0; i < p->switch_count; i++)
        for (size_t k = 0; k < p->switches[i].each.count; k++)
            add(all, p->switches[i].each.at[k], p->switches[i].file);
}

/* Whether all that `other` can stand for is what `wide` stands for, too. A star takes another's wildcards;
 * where ? or [ might have to, both are asked for. */
static bool covers(const char *wide, const char *other)
{
    bool sure = strpbrk(wide, "?[") == NULL || strpbrk(other, "*?[") == NULL;
    return sure && strcmp(wide, other) != 0 && qs_glob(wide, other);
}

void qs_survey_ask(struct qs_strings *patterns, const char *pattern)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (strcmp(patterns->at[i], pattern) == 0 || covers(patterns->at[i], pattern))
            return;
    qs_strings_add(patterns, qs_strdup(pattern));
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void qs_board_survey_patterns(const struct qs_profiles *profiles, struct qs_strings *ret)
{
    struct qs_strings all = {0};
    *ret = (struct qs_strings){0};
    for (size_t i = 0; i < profiles->count; i++)
        add_profile(&all, profiles->at[i]);
    for (size_t i = 0; i < all.count; i++) {
        bool covered = false;
        for (size_t k = 0; k < all.count && !covered; k++)
            covered = covers(all.at[k], all.at[i]);
        if (!covered)
            qs_strings_add(ret, qs_strdup(all.at[i]));
    }
    qs_strings_done(&all);
    if (ret->count > 1)
        qsort(ret->at, ret->count, sizeof *ret->at, by_bytes);
}
