/* Options of the command line as the query of a request. */
#ifndef QS_CTL_QUERY_H
#define QS_CTL_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "ctl/options/opt.h"

/* Appends "?name=value", "&name=value" where the path has a query already; escaped. Nothing where value is
 * NULL. */
void qs_query_add(struct qs_buf *path, const char *name, const char *value);
/* All values of an option that may be given again, with commas between; nothing where it was not given. */
void qs_query_list(struct qs_buf *path, const struct qs_args *args, const char *option, const char *name);
/* Appends "&since=WALL_NS" and "&until=WALL_NS" where --since and --until were given. QS_E_USAGE. */
bool qs_query_times(const struct qs_args *args, struct qs_buf *query, struct qs_err *err);
/* Appends "discard-first:10,fenced" as the options of QS_VIEW_OPTIONS say; false: there are none. */
bool qs_query_view_list(struct qs_buf *out, const struct qs_args *args);
/* "view=discard-first:10,fenced" as the options of QS_VIEW_OPTIONS say; false: there are none. path NULL:
 * asks alone. */
bool qs_query_views(struct qs_buf *path, const struct qs_args *args);

/* A moment as people write it: "2026-11-01", "2026-11-01T05:30" (UTC, seconds may follow), or a time ago:
 * "90min", "12h", "30d", "2w". end_of_day: a date alone means its last second. QS_E_USAGE. */
bool qs_when_parse(const char *text, int64_t now_wall_ns, bool end_of_day, int64_t *ret_wall_ns,
                   struct qs_err *err);

#endif
