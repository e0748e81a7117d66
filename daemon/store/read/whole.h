/* What windows have as a whole: the metrics of the farm, and the job's meters. Owned by the caller, inside a
 * qs_store_read function like store/read/read.h. */
#ifndef QS_STORE_READ_WHOLE_H
#define QS_STORE_READ_WHOLE_H

#include "store/store.h"

struct qs_whole_value {
    uint64_t first_seq, n; /* of the window's iterations */
    char *name;
    int64_t value;
};
struct qs_whole_values {
    struct qs_whole_value *at;
    size_t count;
};
/* Those that are known, in the order of its windows. */
bool qs_read_whole_values(struct qs_store_reader *r, const uint8_t run_uid[16], struct qs_whole_values *ret,
                          struct qs_err *err);
void qs_whole_values_free(struct qs_whole_values *values);

#endif
