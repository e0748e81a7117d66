/* What a device's sensors say now, and said over its last minutes (`now` and `recent` of a device). */
#ifndef QS_CTL_LAYOUT_RECENT_H
#define QS_CTL_LAYOUT_RECENT_H

#include "ctl/layout/layout.h"

struct qs_recent {                /* borrows of the device */
    const json_t *now, *sensors;  /* lists, or NULL */
    int64_t oldest_ms, newest_ms; /* of all points of `recent`; oldest == newest: there is no span */
    int64_t newest_wall_ns;       /* 0: nothing was read */
};
void qs_recent_of(const json_t *device, struct qs_recent *ret);
/* By the device itself, just now; else by its last window. False: not known. */
bool qs_recent_now(const struct qs_recent *recent, const char *sensor, int64_t *ret_value);
bool qs_recent_last(const struct qs_recent *recent, const char *sensor, int64_t *ret_value);
/* Its readings over the span of all, from its lowest to its highest, in at most so many signs; a blank is
 * where nothing was read. */
void qs_recent_strip(const struct qs_layout *layout, const struct qs_recent *recent, const char *sensor,
                     size_t columns, struct qs_buf *out);
/* "last 12 min", or "12 min, to 3 h ago"; nothing where there is no span. */
void qs_recent_span(const struct qs_layout *layout, const struct qs_recent *recent, struct qs_buf *out);
/* Columns of a strip on this face. */
size_t qs_recent_columns(const struct qs_layout *layout);

#endif
