/* Bytes to and from one device's agent. One file per kind (exec, unix, tcp, sim), one ops table; it knows
 * nothing of messages. A link is opened, goes up, carries bytes, goes down, and may be opened again: when to
 * try again is the session's decision. */
#ifndef QS_LINK_LINK_H
#define QS_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/farm/farm.h"

struct qs_loop;
struct qs_link;
struct qs_link_discovery;

enum {
    QS_LINK_QUEUE_BYTES = 1024 * 1024, /* unsent bytes a link keeps before send fails */
    QS_LINK_KEY_MIN_BYTES = 32,
    QS_LINK_KEY_MAX_BYTES = 4096,
};

/* Callbacks run on the loop, never from inside a call on the link. None comes after qs_link_close. Inside one
 * the link may be closed, opened again or freed. */
struct qs_link_events {
    void (*on_up)(void *user);
    void (*on_bytes)(const uint8_t *bytes, size_t n, void *user); /* n >= 1; borrowed for the call */
    /* Once per open: lost, refused, or the command ended (its stderr's last line is in the text). */
    void (*on_down)(const struct qs_err *why, void *user);
    void *user;
};

/* Since the last open. The segment counters of TCP are the kernel's (RFC 4898 tcpEStatsPerfSegsIn/Out and
 * DataSegsIn/Out): segments_x counts every segment, data_segments_x those that carried a byte. Of USB they
 * count the transfers that were completed; nothing acknowledges one, and nobody is between us and the device.
 */
struct qs_link_counters {
    uint64_t bytes_in, bytes_out; /* read from and written to our socket, as the session has them, before
                                     encryption; what still waits in our queue is not */
    bool has_segments, are_transfers;
    uint64_t segments_in, segments_out;
    uint64_t data_segments_in, data_segments_out;
};

/* News of a kind that finds its devices by itself. A device is borrowed until the end of the discovery; where
 * it comes back it is the same one. */
struct qs_link_finds {
    void (*on_found)(const struct qs_farm_device *device, void *user);
    void (*on_lost)(const struct qs_farm_device *device, void *user);
    void *user;
    const char *agents; /* borrowed until the end: the folder of agents for its devices */
};

struct qs_link_traits {     /* what a kind says of itself, whatever the device */
    bool simulated;         /* in memory only: what it reports is a model's word */
    bool through_shell;     /* what comes first may be a login's banner or what a profile prints */
    int64_t silent_lead_ns; /* silence before a window is decided that it needs to prove one; >= 0 */
    int64_t opening_ns;     /* how long it may take to go up; 0: as long as a session's other steps */
    /* Looks for devices until discover_end; NULL: all of its devices are declared. */
    struct qs_link_discovery *(*discover)(struct qs_loop *loop, const struct qs_link_finds *finds);
    void (*discover_end)(struct qs_link_discovery *discovery);
    /* Before that: it looks no more, and done(user) comes once, here or later, when no thread does for it.
     * NULL: none ever does. */
    void (*discover_rest)(struct qs_link_discovery *discovery, void (*done)(void *user), void *user);
};

const struct qs_link_traits *qs_link_traits(enum qs_link_kind kind); /* never NULL */

/* Whether a link of the device's kind can be as its keys say (a qs_farm_address_fn): QS_E_CONFIG with what
 * can be written there. */
bool qs_link_check_address(const struct qs_farm_device *device, const char **ret_key, struct qs_err *err);

/* Copies what it needs of the device. The simulated link needs a virtual or real loop; the others a real one
 * (opening fails in virtual time). */
struct qs_link *qs_link_new(struct qs_loop *loop, const struct qs_farm_device *device,
                            const struct qs_link_events *events);
void qs_link_free(struct qs_link *link); /* closes first; NULL is allowed */

/* Closed or down -> opening; on_up or on_down follows. False where it is known at once that it cannot work:
 * no callback follows then. QS_E_CONFLICT while it is open. */
bool qs_link_open(struct qs_link *link, struct qs_err *err);
/* Unsent bytes are dropped; an exec command gets end-of-file and SIGTERM. */
void qs_link_close(struct qs_link *link);
/* All n bytes are taken (in order, sent as the peer takes them) or none: QS_E_LINK where the link is not up,
 * QS_E_AGENT where the queue would exceed QS_LINK_QUEUE_BYTES. */
bool qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void qs_link_counters(const struct qs_link *link, struct qs_link_counters *ret);

/* The key for mutual authentication (a Unix socket with a key_file, adb), or NULL and 0: nothing to prove on
 * this link. Read from key_file at open, all of its bytes as they are; the file must be ours, closed to group
 * and others (0600), and hold QS_LINK_KEY_MIN_BYTES to QS_LINK_KEY_MAX_BYTES. Borrowed until the next open or
 * free. */
const uint8_t *qs_link_key(const struct qs_link *link, size_t *ret_bytes);
/* The device exists in memory only; what it reports is a model's word. */
bool qs_link_is_simulated(const struct qs_link *link);

#endif
