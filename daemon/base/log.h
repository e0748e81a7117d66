/* Log lines for people and journald: `2026-01-31T12:00:00.123Z level module: key=value text`. Only main, farm
 * and api log; everything below returns errors. A warning ends in what happens next ("..., retrying"). */
#ifndef QS_BASE_LOG_H
#define QS_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum qs_log_level { QS_LOG_ERROR, QS_LOG_WARN, QS_LOG_INFO, QS_LOG_DEBUG };

struct qs_log;
struct qs_loop;

enum { QS_LOG_KEPT_BYTES = 256 * 1024 };      /* while nobody reads */
enum { QS_LOG_FILE_BYTES = 4 * 1024 * 1024 }; /* of a file that nobody rotates */

/* Writes to `out` (borrowed; NULL drops everything), and never waits for whoever reads it: up to
 * QS_LOG_KEPT_BYTES are kept until there is room, what comes on top is lost and counted by a line of its own.
 * Without a real loop what is kept goes with the next line. Time stamps come from the loop (virtual in
 * virtual time); a NULL loop leaves them out. Control characters in the text are escaped. */
struct qs_log *qs_log_new(FILE *out, enum qs_log_level at_most, struct qs_loop *loop);
/* Where the log is a file that nobody rotates: above so many bytes its older half goes. 0: no bound. */
void qs_log_bound(struct qs_log *log, int64_t most_bytes);
void qs_log_free(struct qs_log *log);
void qs_log(struct qs_log *log, enum qs_log_level level, const char *module, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
const char *qs_log_level_name(enum qs_log_level level);
bool qs_log_level_read(const char *name, enum qs_log_level *ret); /* false: none has this name */

#endif
