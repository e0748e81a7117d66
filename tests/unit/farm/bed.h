/* A farm of simulated devices over a database of its own, in virtual time, through several lives of the
 * daemon. */
#ifndef QS_TESTS_UNIT_FARM_BED_H
#define QS_TESTS_UNIT_FARM_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/loop.h"
#include "farm/farm_impl.h"
#include "store/files.h"

struct bed {
    char dir[64], *db, *work;
    struct qs_farm_config *config;
    /* what each life is told; set before it begins */
    struct qs_farm_events events;
    struct qs_store_events store_events;
    /* of this life */
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_farm *farm;
    bool stopped;
};

struct qs_farm_config *bed_farm_of(const char *text);
void bed_init(struct bed *b, const char *farm_text);
void bed_done(struct bed *b);
/* One life of the daemon; each draws numbers of its own. */
void bed_begin(struct bed *b, int64_t start_ns, uint64_t seed);
/* Stops it where it has not stopped. */
void bed_end(struct bed *b);
/* Stops the loop; of qs_farm_stop, user: the bed. */
void bed_on_stopped(void *user);
/* By "me"; idem may be NULL. *ret_problem (NULL is allowed): the first, owned by the caller, or NULL. */
bool bed_submit(struct bed *b, const struct qs_submission *sub, const char *idem, qs_store_done_fn *done,
                void *user, char **ret_problem);

#endif
