/* Brings the agent to a device of adb's server: looks what is there, pushes the agent for its ABI where it is
 * another one, starts it where it does not run, and fetches the key that the device has made for it. What it
 * needs lies in /data/local/tmp, where adb's shell may execute. */
#ifndef QS_LINK_ADB_DEPLOY_H
#define QS_LINK_ADB_DEPLOY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct qs_loop;
struct qs_adb_deploy;

#define QS_ADB_AGENT_SERVICE "localabstract:quiesce-agent" /* where the agent listens then */
enum { QS_ADB_KEY_BYTES = 32 };

struct qs_adb_deploy_parts {
    struct qs_loop *loop;
    const char *serial; /* borrowed, as are the agents: the folder where they lie (link/agents.h) */
    const char *agents;
    bool restart; /* it runs and cannot be reached: it is started again */
};

/* Once, from the loop; err NULL: the agent listens, and this is its key. The deployment is over, and freed,
 * before the call. */
typedef void qs_adb_deployed_fn(const struct qs_err *err, const uint8_t key[QS_ADB_KEY_BYTES], void *user);

/* False: it cannot begin; no call follows. */
struct qs_adb_deploy *qs_adb_deploy_start(const struct qs_adb_deploy_parts *parts, qs_adb_deployed_fn *done,
                                          void *user, struct qs_err *err);
void qs_adb_deploy_stop(struct qs_adb_deploy *deploy); /* NULL is allowed; no call follows */

#endif
