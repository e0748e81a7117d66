/* What tests look at and change from inside. Nothing in daemon/ includes this but store.c. */
#ifndef QS_STORE_TEST_HOOKS_H
#define QS_STORE_TEST_HOOKS_H

#include "store/migrate.h"
#include "store/store.h"

/* qs_store_open with another list of migrations. */
bool qs_store_open_list(struct qs_loop *loop, const char *path, const struct qs_store_events *events,
                        const struct qs_migration *list, size_t count, struct qs_store **ret_store,
                        struct qs_err *err);
/* Other bounds of the log than 32 MB, in pages, from where it begins anew, and QS_STORE_LOG_MAX_BYTES. Right
 * after opening. */
void qs_store_bound_log(struct qs_store *store, int pages, int64_t full_bytes);
/* What a pragma of the writer's connection reads, on the loop's thread with no commit under way; -1 where it
 * gives nothing. */
int64_t qs_store_test_pragma(struct qs_store *store, const char *pragma);

#endif
