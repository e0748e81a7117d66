/* What is wished of a device's files: of the frequencies of one kind (`max | min | N% | FREQ | I/N | hold |
 * free`), and of all that a job's conditions can set. */
#ifndef QS_CONFIG_PROFILE_WISH_H
#define QS_CONFIG_PROFILE_WISH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/document/scalar.h"
#include "config/profile/profile.h"

enum qs_wish_how {
    QS_WISH_FREE,
    QS_WISH_MAX,
    QS_WISH_MIN,
    QS_WISH_SHARE,
    QS_WISH_FREQUENCY,
    QS_WISH_SUSTAINED, /* what the device kept up when it was characterized */
    QS_WISH_PLACE,     /* among places that lie evenly over the operating points, both ends included */
    QS_WISH_HOLD /* nothing is written: processors are kept busy until their clocks are at the highest */
};
enum { QS_WISH_PLACES_MAX = 32 };
struct qs_wish {
    enum qs_wish_how how;
    /* SHARE: parts per million of the most, 1 .. 1,000,000; FREQUENCY: kHz, 1 or more; PLACE: 1 .. of */
    int64_t value;
    int64_t of; /* PLACE: 2 .. QS_WISH_PLACES_MAX; else 0 */
};

bool qs_wish_read(const char *text, struct qs_wish *ret, struct qs_scalar_why *why);
/* As it is written. */
void qs_wish_print(const struct qs_wish *wish, struct qs_buf *out);

enum qs_switch_to { QS_SWITCH_LEFT, QS_SWITCH_ON, QS_SWITCH_OFF, QS_SWITCH_NUMBER };
struct qs_switch_wish {
    char *of; /* the name of a switch of the board, or a pattern of names */
    enum qs_switch_to to;
    int64_t number;
};
struct qs_wishes {                             /* zeroed: everything is left as it is */
    struct qs_wish frequency[QS_DOMAIN_KINDS]; /* by enum qs_domain_kind, as is: */
    char *governor[QS_DOMAIN_KINDS];           /* or NULL */
    char
        *online; /* processors that run, all others do not: "0-3,6", "all", or a cluster's name; NULL: left */
    enum qs_switch_to boost; /* but NUMBER */
    bool unthrottled;        /* switches of kind `realtime` are off, where they can be; not of a job's file */
    bool idle;               /* idle states deeper than this one are off */
    uint32_t idle_deepest;
    struct qs_switch_wish *switches;
    size_t switch_count;
    struct qs_wish *sweep; /* several frequencies of one kind, an arm each (config/job/sweep.h); or NULL */
    size_t sweep_count;
    enum qs_domain_kind sweep_of;
};

struct qs_json;
/* Members of an object, each only where it is wished, but for `frequency`: equal for equal wishes. */
void qs_wishes_put(struct qs_json *j, const struct qs_wishes *wishes);
bool qs_wishes_none(const struct qs_wishes *wishes);
/* Is anything written for them? */
bool qs_wishes_write(const struct qs_wishes *wishes);
/* Are processors kept busy for it (QS_WISH_HOLD)? */
bool qs_wishes_warm(const struct qs_wishes *wishes);
/* Is a frequency of this kind to be set? */
bool qs_wish_writes(const struct qs_wish *wish);
void qs_wishes_done(struct qs_wishes *wishes);

#endif
