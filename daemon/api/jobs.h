/* Jobs: the list, one of them, its end. And what is known of the daemon and its devices. */
#ifndef QS_API_JOBS_H
#define QS_API_JOBS_H

#include "api/exchange.h"

qs_exchange_fn qs_handle_jobs, qs_handle_job, qs_handle_cancel;
qs_exchange_fn qs_handle_health, qs_handle_version, qs_handle_devices, qs_handle_device_ask;
/* Of a daemon that reads: where the one that owns the database listens; owned by the caller, NULL where there
 * is none, or this one owns it. */
char *qs_about_owner(const struct qs_exchange *ex);

#endif
