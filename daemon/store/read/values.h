/* Which metrics there are. Internal to store. */
#ifndef QS_STORE_READ_VALUES_H
#define QS_STORE_READ_VALUES_H

#include "store/read/arms.h"

struct qs_metric_list {
    struct qs_arm_metric *at; /* owned, as the next */
    int64_t *ids; /* 0: the duration; 1 and more: of table metric; less: minus the number of a sensor */
    size_t count;
};

/* Adds the duration. */
void qs_metric_list_duration(struct qs_metric_list *list);
/* Adds the one of this name (QS_E_NOT_FOUND: there is none), or with NULL all that were declared; job other
 * than 0: those that a measured window of this job has. What is in the list already is not added again. */
bool qs_metric_list_add(struct qs_store_reader *r, const char *name, int64_t job, struct qs_metric_list *list,
                        struct qs_err *err);
void qs_metric_list_done(struct qs_metric_list *list);

#endif
