/* The daemon's command line as a checked structure: one table makes the parser and the help. */
#ifndef QS_CONFIG_OPTIONS_H
#define QS_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"

struct qs_options { /* texts are borrowed from argv; NULL = not given */
    bool help, version, embedded, reading, dump_states, json;
    const char *check_config; /* the file to check */
    const char *config, *db, *socket, *agent;
    enum qs_log_level log_level; /* default info */
    const char *simulate, *job, *event_log;
    uint64_t seed; /* of a simulation; default 1 */
};

/* QS_E_USAGE names the word and suggests the nearest option. */
bool qs_options_parse(int argc, char **argv, struct qs_options *ret, struct qs_err *err);
void qs_options_help(struct qs_buf *out);

/* Where the socket is without any configuration: in XDG_RUNTIME_DIR, else in /tmp/quiesce-UID. Owned by the
 * caller. env: getenv, or a test's. */
typedef char *qs_getenv_fn(const char *name);
char *qs_path_socket(qs_getenv_fn *env, unsigned uid);

#endif
