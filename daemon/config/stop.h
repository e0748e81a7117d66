/* Stop rules of a run as an expression over `fixed`, `time`, `cov_window` with any/all/not (statistics.md
 * §10), built from a job file, evaluated at window ends on accepted iterations. */
#ifndef QS_CONFIG_STOP_H
#define QS_CONFIG_STOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum qs_stop_kind { QS_STOP_FIXED, QS_STOP_TIME, QS_STOP_COV_WINDOW, QS_STOP_ANY, QS_STOP_ALL, QS_STOP_NOT };

struct qs_stop {
    enum qs_stop_kind kind;
    uint32_t n;            /* FIXED: accepted iterations; COV_WINDOW: the last n */
    int64_t time_ns;       /* TIME: measured time */
    double at_most_ratio;  /* COV_WINDOW */
    struct qs_stop *child; /* ANY, ALL, NOT: owned array */
    size_t child_count;
};

void qs_stop_free(struct qs_stop *stop);

/* True where the rule says stop. durations: accepted iterations of the run in order. The reason (which rule
 * held) is written into `reason` when it stops, e.g. "cov_window(20, 5 %)". */
bool qs_stop_eval(const struct qs_stop *stop, const int64_t *durations_ns, size_t n, int64_t measured_ns,
                  char *reason, size_t reason_bytes);

#endif
