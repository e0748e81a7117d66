/* How a sensor that is a command is written in BIND (QS_BIND_COMMAND), in the place of a file's path: lines,
 * of which the first five may not be left out, then one for each argument of the command. */
#ifndef QS_PROTO_BIND_COMMAND_H
#define QS_PROTO_BIND_COMMAND_H

#include "proto/wire.h"

enum { QS_BIND_AGE_MIN_MS = 1000, QS_BIND_AGE_MAX_MS = 86400000 };

/* All of them are parts of the text; patterns are those of fnmatch(3), in upper or lower case. */
struct qs_bind_command {
    uint32_t max_age_ms;    /* QS_BIND_AGE_MIN_MS .. QS_BIND_AGE_MAX_MS: a reading is good for so long */
    struct qs_text section; /* pattern of the line below which, indented deeper, the value is; "": anywhere */
    struct qs_text line;    /* pattern of the value's line; "": any. Of several the highest counts */
    struct qs_text key;     /* what stands before the number in it, not empty */
    struct qs_text spoilt;  /* pattern of a line that says that the values are not real; "": there is none */
    struct qs_text argv;    /* the command and its arguments, a line each; the first is not empty */
};
/* False: it is no such text. Lines end in '\n', the last one in the text's end; no byte is 0. */
bool qs_bind_command_of(struct qs_text text, struct qs_bind_command *ret);

#endif
