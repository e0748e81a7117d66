/* Bytes to and from one device's agent. One file per kind (exec, unix, tcp, sim), one ops table; it knows nothing of messages. A link is opened,
 * goes up, carries bytes, goes down, and may be opened again: when to try again is the session's decision. */
#ifndef QS_LINK_LINK_H
#define QS_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "config/farm.h"

struct qs_loop;
struct qs_link;

enum { QS_LINK_QUEUE_BYTES = 1024 * 1024 }; /* unsent bytes a link keeps before send fails */

/* Callbacks run on the loop, never from inside a call on the link. None comes after qs_link_close. */
struct qs_link_events {
    void (*on_up)(void *user);
    void (*on_bytes)(const uint8_t *bytes, size_t n, void *user); /* borrowed for the call */
    void (*on_down)(const struct qs_err *why, void *user);        /* lost, refused, or the command ended (its stderr's last line is in the text) */
    void *user;
};

struct qs_link_counters {
    uint64_t bytes_in, bytes_out; /* at our socket */
    bool has_segments;            /* TCP: the kernel's segment counters */
    uint64_t segments_in, segments_out;
};

/* Copies what it needs of the device. The simulated link needs a virtual or real loop; the others a real one. */
struct qs_link *qs_link_new(struct qs_loop *loop, const struct qs_farm_device *device, const struct qs_link_events *events);
void qs_link_free(struct qs_link *link); /* closes first; NULL is allowed */
bool qs_link_open(struct qs_link *link, struct qs_err *err);
void qs_link_close(struct qs_link *link);
bool qs_link_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err);
void qs_link_counters(const struct qs_link *link, struct qs_link_counters *ret);
/* The key for mutual authentication (TCP), or NULL and 0: nothing to prove on this link. Read from key_file at open; the file must be 0600, ours, >= 32 bytes. */
const uint8_t *qs_link_key(const struct qs_link *link, size_t *ret_bytes);
/* Silence that this kind of link can claim for a window: QS_SILENCE_* of store/rows.h are told by the session from the counters. */
bool qs_link_is_simulated(const struct qs_link *link);

#endif
