/* How a device cools down by what the store has: as it was characterized, and by the waits of its gates. */
#ifndef QS_REPORT_REFITS_H
#define QS_REPORT_REFITS_H

#include "report/refit.h"
#include "store/store.h"

struct qs_refits {
    struct qs_refit *at; /* owned; a sensor each */
    size_t count;
};
/* Inside a qs_store_read function. Of this system (qs_system_fingerprint). */
bool qs_refits_read(struct qs_store_reader *r, const char *device, const char *fingerprint,
                    struct qs_refits *ret, struct qs_err *err);
void qs_refits_done(struct qs_refits *refits);
struct qs_refit *qs_refits_find(const struct qs_refits *refits, const char *sensor); /* or NULL */

#endif
