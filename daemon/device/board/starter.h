/* A starter profile: what was found on a device as the text of a profile of its own, for people to go on
 * from. Pure. */
#ifndef QS_DEVICE_BOARD_STARTER_H
#define QS_DEVICE_BOARD_STARTER_H

#include "device/board/board.h"
#include "store/knob.h"
#include "store/model.h"

struct qs_starter { /* borrowed */
    const char *device;
    const struct qs_board *board;
    const char *facts_json; /* as for qs_board_new */
    const struct qs_profiles *profiles;
    int64_t probed_wall_ns;
    const struct qs_knob_row *knobs; /* what was tried; none: it was not */
    size_t knob_count;
    const struct qs_model_row *sensors; /* those that cannot be relied on */
    size_t sensor_count;
};
/* Appends it. With it the device has the same board, but for its name among the board's profiles and the
 * sensors that cannot be relied on, which are rejected. *ret_name (owned by the caller): of the profile,
 * which is the device's unless another one has that. */
void qs_starter_profile(const struct qs_starter *of, struct qs_buf *out, char **ret_name);

#endif
