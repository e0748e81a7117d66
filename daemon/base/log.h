/* Log lines for people and journald: `2026-01-31T12:00:00.123Z level module: key=value text`. Only main, farm
 * and api log; everything below returns errors. A warning ends in what happens next ("..., retrying"). */
#ifndef QS_BASE_LOG_H
#define QS_BASE_LOG_H

#include <stdio.h>

enum qs_log_level { QS_LOG_ERROR, QS_LOG_WARN, QS_LOG_INFO, QS_LOG_DEBUG };

struct qs_log;
struct qs_loop;

/* Writes to `out` (borrowed; NULL drops everything). Time stamps come from the loop (virtual in virtual
 * time); a NULL loop leaves them out. Control characters in the text are escaped. */
struct qs_log *qs_log_new(FILE *out, enum qs_log_level at_most, struct qs_loop *loop);
void qs_log_free(struct qs_log *log);
void qs_log(struct qs_log *log, enum qs_log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
const char *qs_log_level_name(enum qs_log_level level);

#endif
