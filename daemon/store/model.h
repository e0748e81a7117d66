/* What a device was found to be like, of one system (store/control.h has the fingerprint): its sensors, how
 * it warms up and cools down, what it sustains. Texts as in rows.h: requests copy them. NaN, 0 where nothing
 * is said below, and NULL: none. */
#ifndef QS_STORE_MODEL_H
#define QS_STORE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct qs_model_row {
    const char *kind; /* "sensor", "warms", "cools", "sustained" */
    const char
        *domain; /* whose load it was: a cluster, or "all"; sustained: the frequency domain; "": of none */
    const char *sensor; /* or "" */
    const char *says;   /* "ok", or what is wrong; of curves qs_cooling_says_name */
    const char *why;    /* the same in words, or NULL */
    double tau_s, tau_lo_s, tau_hi_s;
    double end_mc, end_lo_mc, end_hi_mc;
    double sd_mc;
    double low_mc, high_mc; /* of the readings */
    int64_t khz;            /* sustained */
    int64_t readings;
    double span_s;     /* not NaN */
    const char *trace; /* the readings, "[[ms, mc], ...]", or NULL */
};
struct qs_model_rows {
    const char *device, *fingerprint;
    int64_t job;
    int64_t found_wall_ns;
    const struct qs_model_row *rows;
    size_t count;
};
/* Each replaces the one before of the same (device, fingerprint, kind, domain, sensor). QS_E_NOT_FOUND: no
 * such device. */
void qs_store_models(struct qs_store *store, const struct qs_model_rows *models, qs_store_done_fn *done,
                     void *user);

/* What follows: inside a qs_store_read function. */

struct qs_model_info {
    const char *fingerprint; /* borrowed for the call */
    struct qs_model_row row; /* its texts are borrowed for the call */
    int64_t job, found_wall_ns;
};
typedef void qs_model_fn(const struct qs_model_info *model, void *user);
/* In the order in which they were found; fingerprint NULL: of whatever system. with_traces false: row.trace
 * is NULL. */
bool qs_read_models(struct qs_store_reader *r, const char *device, const char *fingerprint, bool with_traces,
                    qs_model_fn *fn, void *user, struct qs_err *err);

#endif
