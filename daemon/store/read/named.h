/* What was measured, by the names that people have for it: of each session the runs of each build and
 * benchmark. Inside a qs_store_read function, as all of store/read/read.h. */
#ifndef QS_STORE_READ_NAMED_H
#define QS_STORE_READ_NAMED_H

#include "store/rows.h"
#include "store/store.h"

struct qs_named {
    int64_t build;           /* a number that grows with each new build; 0: the arm has none */
    int64_t job, session;    /* numbers */
    int64_t started_wall_ns; /* of the session */
    char *label;             /* of the build, NULL without one; owned, as the next two */
    char *benchmark, *device;
    uint32_t runs;
};
struct qs_named_list {
    struct qs_named *at; /* in order of time */
    size_t count;
};
/* NULL: all. label and benchmark: a part of the name, whatever the case; device: the whole name. */
struct qs_named_filter {
    const char *label, *benchmark, *device;
    int64_t since_wall_ns, until_wall_ns; /* sessions that began from the one to the other, both included */
};
/* Of jobs that ended the runs that were done, without pilots. */
bool qs_read_named(struct qs_store_reader *r, const struct qs_named_filter *filter, struct qs_named_list *ret,
                   struct qs_err *err);
/* When the session began that is nearest to this moment, of those that have such a run; *found false: there
 * is none. Asks one run of each session, where the list above counts them all. */
bool qs_read_nearest_session(struct qs_store_reader *r, int64_t wall_ns, bool *found, int64_t *ret_wall_ns,
                             struct qs_err *err);
void qs_named_list_free(struct qs_named_list *list);

#endif
