/* Names, and the nearest one to a name that is not there. */
#ifndef QUIESCE_PARTS_NAMES_H
#define QUIESCE_PARTS_NAMES_H

#include "quiesce/parts/author.h"

/* How many letters have to change, up to 31 of each. */
QUIESCE_FN uint32_t quiesce_i_distance(const char *a, const char *b)
{
    uint32_t row[32], above, best;
    for (uint32_t j = 0; j < 32; j++) {
        row[j] = j;
    }
    for (uint32_t i = 0; a[i] && i < 31; i++) {
        above = row[0]++;
        for (uint32_t j = 0; b[j] && j < 31; j++) {
            best = above + (a[i] != b[j]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
            above = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[strlen(b) < 31 ? strlen(b) : 31];
}

/* Keeps the nearer of two names. */
QUIESCE_FN void quiesce_i_nearer(const char *wanted, const char *name, const char **best)
{
    uint32_t far = quiesce_i_distance(wanted, name);
    if (far <= 1 + strlen(name) / 3 && (!*best || far < quiesce_i_distance(wanted, *best))) {
        *best = name;
    }
}

QUIESCE_FN struct quiesce_param *quiesce_i_find(struct quiesce_param *list, uint32_t count, const char *name,
                                                const char **best)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, name) == 0) {
            return &list[i];
        }
        quiesce_i_nearer(name, list[i].name, best);
    }
    return NULL;
}

#endif
