/* The series that stop_study works on. */
#ifndef QS_STUDIES_STOP_SERIES_H
#define QS_STUDIES_STOP_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series {
    double *v; /* owned */
    size_t n;
};

struct set {
    struct series *s; /* owned */
    size_t count;
};

enum { SERIES_FEWEST = 30 }; /* values, what a rule needs to be judged */

/* One series a line, numbers between commas or blanks. False: unreadable, a value that is not a positive
 * number, or a series of fewer than `fewest`. */
bool set_read(struct set *set, const char *path, size_t fewest);
/* 240 series of 3000: eight shapes of warm-up, thirty draws each. */
bool set_generate(struct set *set, uint64_t seed);
/* So that each median is this. */
bool set_scale(struct set *set, double median_ns);
void set_free(struct set *set);

#endif
