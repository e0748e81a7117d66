/* What the core asks of a port for files of the device that are changed for a while. Included by port.h,
 * whose rules hold. Whoever does it outlives the agent: he keeps on disk what stood there, and puts it back
 * when the agent ends, or when the lease does. */
#ifndef QS_AGENT_CORE_PORT_CONTROL_H
#define QS_AGENT_CORE_PORT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum { QS_PORT_SAID_BYTES = 64, QS_PORT_KNOB_BYTES = 256 };

/* What became of one file. */
struct qs_port_controlled {
    bool end;        /* of putting back: there is none any more, and nothing else of this counts */
    uint8_t outcome; /* enum qs_tune_outcome of the wire */
    int32_t error;
    char path[QS_PORT_KNOB_BYTES];
    char before[QS_PORT_SAID_BYTES], after[QS_PORT_SAID_BYTES]; /* as the wire has them; cut */
};

/* All mandatory; ctx is the port's. The first three are answered by one qs_agent_on_control() each, later;
 * one of them at a time. An answer that was not waited for any more is not told. */
struct qs_port_control {
    bool tools; /* a path may be a command, see linux/tool.h */
    /* Keeps what stands in the file, then writes it. flags: enum qs_tune_flag of the wire. */
    void (*tune)(void *ctx, const char *path, const char *value, uint8_t flags);
    /* Reads it back: SET where it says `value`, else SLIPPED; only `after` is filled in. */
    void (*look)(void *ctx, const char *path, const char *value);
    /* Puts the next one back: with `first` the newest change, then the others. `before` is what it should
     * say.
     */
    void (*restore)(void *ctx, bool first);
    /* Everything is put back when nothing else is said for so long; 0: there is no lease. id: which one it
     * is, for qs_agent_on_lease_end(). */
    void (*lease)(void *ctx, uint32_t id, int64_t ns);
};

#endif
