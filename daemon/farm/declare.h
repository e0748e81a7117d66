/* Devices that are declared while the daemon runs. */
#ifndef QS_FARM_DECLARE_H
#define QS_FARM_DECLARE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct qs_farm;

/* From now on the farm has the device that is reached at this host over this kind of link, named after the
 * host (appended to ret_name); the same again is no mistake. QS_E_USAGE, QS_E_CONFLICT (another one has the
 * name), QS_E_LIMIT. */
bool qs_farm_declare(struct qs_farm *farm, const char *link, const char *host, struct qs_buf *ret_name,
                     struct qs_err *err);

#endif
