/* What a device's sensors say at rest, under load and after it: what each is worth, and how it warms up and
 * cools down. Pure. */
#ifndef QS_DEVICE_BOARD_HEAT_H
#define QS_DEVICE_BOARD_HEAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "stats/cooling.h"
#include "store/model.h"

enum qs_heat_phase { QS_HEAT_REST, QS_HEAT_WARMS, QS_HEAT_COOLS, QS_HEAT_PHASES };
const char *qs_heat_phase_name(enum qs_heat_phase phase); /* "rest", "warms", "cools" */

struct qs_heat_log {  /* the readings of one phase */
    size_t sensors;   /* of each reading */
    double *times_s;  /* owned: ascending */
    double *values_c; /* owned: [reading][sensor], degrees; NaN: it could not be read */
    size_t count, room;
};
void qs_heat_log_begin(struct qs_heat_log *log, size_t sensors); /* forgets what it has */
void qs_heat_log_add(struct qs_heat_log *log, double time_s, const double *values_c);
void qs_heat_log_done(struct qs_heat_log *log);

struct qs_heat_row { /* of a device's model, with the texts that it owns */
    struct qs_model_row row;
    struct qs_buf why, trace;
};
void qs_heat_row_done(struct qs_heat_row *row);

/* What sensor `at` is worth, by all phases: "ok"; "unreadable": in more than a tenth; "jumps": a single
 * reading stands out from both neighbours by more than a temperature can move, 20 degrees a second; "still":
 * it moves by less than 1 degree where `moved_c`, what the others did, is 5 or more. To be done. */
void qs_heat_sensor(const struct qs_heat_log logs[QS_HEAT_PHASES], size_t at, const char *sensor,
                    double moved_c, struct qs_heat_row *ret);
/* From the lowest to the highest reading; NaN: there is none. */
double qs_heat_moved_c(const struct qs_heat_log logs[QS_HEAT_PHASES], size_t at);
/* The curve of sensor `at` in a phase, WARMS or COOLS; domain: whose load it was. To be done. */
void qs_heat_curve(const struct qs_heat_log *log, enum qs_heat_phase phase, size_t at, const char *domain,
                   const char *sensor, struct qs_heat_row *ret);

#endif
