/* How many evaluations an iteration has, as it was found once: kept by all that it depends on. Texts as in
 * rows.h. */
#ifndef QS_STORE_TUNING_H
#define QS_STORE_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

struct qs_tuning {
    uint8_t run_uid[16];                  /* whose windows it was found in */
    bool logistic;                        /* the oracle that decided; else the table */
    int64_t precision_ns, accuracy_ns;    /* of the clock; 0: not known */
    uint32_t tries;                       /* iterations of the scan that were looked at */
    int64_t evaluation_ps;                /* one evaluation: the least of the scan */
    uint32_t table_evals, logistic_evals; /* what each oracle says */
    uint32_t evals;                       /* what is used, >= 1 */
    int64_t found_wall_ns;
};

/* depends_json: canonical; its SHA-256 is the key. The last word of one key stands. */
void qs_store_tuning(struct qs_store *store, const char *depends_json, const struct qs_tuning *tuning,
                     qs_store_done_fn *done, void *user);
/* *ret_found false: nobody has found it yet. Inside a qs_store_read function. */
bool qs_read_tuning(struct qs_store_reader *r, const char *depends_json, struct qs_tuning *ret,
                    bool *ret_found, struct qs_err *err);

#endif
