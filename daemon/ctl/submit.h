/* Sending a job: checked first, its files by content, then the text, with a key so that a repeat is no second
 * job. */
#ifndef QS_CTL_SUBMIT_H
#define QS_CTL_SUBMIT_H

#include "ctl/client/api.h"

struct qs_submit {
    const char *text;
    size_t text_bytes;
    const char *name; /* of the job file, for messages */
    const char *dir;  /* where relative paths of files begin, or NULL: here */
    const char *key;  /* Idempotency-Key, or NULL: drawn */
    bool json;        /* the text is JSON, not YAML */
};

/* POST jobs:validate. The answer (owned), or NULL with the reason said. */
json_t *qs_submit_check(struct qs_ctl *ctl, struct qs_http *http, const struct qs_submit *job, int *ret_code);
/* Sends the files that the check named and the daemon lacks, then the job. The answer {id, state, position}
 * (owned), or NULL with the reason said. */
json_t *qs_submit_send(struct qs_ctl *ctl, struct qs_http *http, const struct qs_submit *job,
                       const json_t *check, int *ret_code);

/* SHA-256 of a regular file's content. */
bool qs_submit_hash(const char *path, char hex[65], struct qs_err *err);

#endif
