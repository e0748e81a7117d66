/* What the store has of runs and jobs, as faces show it: JSON arrays, *ret_json owned by the caller. Equal
 * rows give equal bytes. The members are described in schema/openapi.yaml. */
#ifndef QS_REPORT_SHOWN_H
#define QS_REPORT_SHOWN_H

#include "store/store.h"

/* The windows of a run, with gate, evidence and taints. */
bool qs_shown_windows(struct qs_store_reader *r, const uint8_t run_uid[16], char **ret_json,
                      struct qs_err *err);
/* The artifacts of a run. */
bool qs_shown_artifacts(struct qs_store_reader *r, const uint8_t run_uid[16], char **ret_json,
                        struct qs_err *err);
/* Of a job, or (run: its id, else 0) of one of its runs: by point, arm and device the fastest and the slowest
 * iteration, measured and traced, each with a trace to look at. *ret_json stays NULL where there is none. */
bool qs_shown_traces(struct qs_store_reader *r, int64_t job, int64_t run, char **ret_json,
                     struct qs_err *err);
/* The `most` gates of a job that waited longest, with what their sensors said meanwhile. *ret_json, an
 * object, stays NULL where none waited. */
bool qs_shown_waits(struct qs_store_reader *r, int64_t job, size_t most, char **ret_json, struct qs_err *err);
/* Count of each taint code of a job. */
bool qs_shown_taints(struct qs_store_reader *r, int64_t job, char **ret_json, struct qs_err *err);
/* How the number of evaluations of each point and device of a job was found. */
bool qs_shown_evals(struct qs_store_reader *r, int64_t job, char **ret_json, struct qs_err *err);

#endif
