/* What Android says of an app (`dumpsys package NAME`): whether it may be debugged, and how it was compiled.
 * Pure. */
#ifndef QS_DEVICE_BOARD_PACKAGE_H
#define QS_DEVICE_BOARD_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/job/conditions.h"

enum { QS_PACKAGE_WORD_BYTES = 64 };

struct qs_package {
    bool installed;
    bool has_flags, debuggable;
    char version[QS_PACKAGE_WORD_BYTES];  /* "1.4.2 (142)"; "": not said */
    char compiled[QS_PACKAGE_WORD_BYTES]; /* its own code, for the processors that it runs on: "speed"; "":
                                             not said */
};

/* text: the n bytes that it wrote, whatever they are. */
void qs_package_read(const char *text, size_t n, const char *name, struct qs_package *ret);
/* "1.4.2 (142), release build, compiled: speed", for people. */
void qs_package_put(const struct qs_package *is, struct qs_buf *out);
/* Is it as the job wants it? False: QS_E_PRECONDITION, with what to do. */
bool qs_package_holds(const struct qs_package *is, const struct qs_job_app *wanted, const char *device,
                      struct qs_err *err);

#endif
