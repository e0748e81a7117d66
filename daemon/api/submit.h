/* Job files: checked, and checked again and stored. */
#ifndef QS_API_SUBMIT_H
#define QS_API_SUBMIT_H

#include "api/exchange.h"
#include "farm/farm.h"

/* The request's Idempotency-Key; NULL: it has none. QS_E_USAGE where it can be no key. */
bool qs_submit_key(struct qs_exchange *ex, const char **ret, struct qs_err *err);

/* Stores a job of the exchange's owner, entering the exchange; done(err, id, ex) leaves it. What is wrong
 * with the job is the answer. name: of its file; key may be NULL. */
void qs_submit_send(struct qs_exchange *ex, struct qs_prepared *job, const char *name, const char *key,
                    qs_store_done_fn *done);

/* Somebody waits for the end of a job: looks whether it has come. */
void qs_submit_tell(struct qs_api *api, int64_t job);

#endif
