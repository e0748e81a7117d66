/* What the core asks of a port about the files that say what a device is and does (sysfs). Included by
 * port.h, whose rules hold. Paths are those of the wire: relative to the port's root for them, never leading
 * out of it. */
#ifndef QS_AGENT_CORE_PORT_SURVEY_H
#define QS_AGENT_CORE_PORT_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/limits.h"

struct qs_binding;

struct qs_port_found {
    char path[QS_CONTROL_PATH_MAX_BYTES + 1];
    uint8_t access; /* enum qs_file_access of the wire */
    int32_t error;  /* of reading it; 0: value holds n bytes of it */
    size_t n;
    char value[QS_FOUND_MAX_BYTES];
};

/* All or none. */
struct qs_port_survey {
    /* The first file behind `after` ("": of all) whose path matches the pattern; part by part, each bytewise.
     * False: there is none. */
    bool (*find)(void *ctx, const char *pattern, const char *after, struct qs_port_found *found);
    /* One more sensor, which read_sensor then knows by its name, and evidence where its flags say so; NULL:
     * those of before are gone. It lives for the call alone; there are at most QS_BIND_MAX. */
    void (*bind)(void *ctx, const struct qs_binding *binding);
    bool counters; /* it knows events, words and fractions of a binding */
};

#endif
