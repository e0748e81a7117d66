/* A device by USB: an agent behind a vendor's interface with two bulk endpoints (quiesce-agent --usb). */
#include <stdlib.h>

#include "base/mem.h"
#include "link/link_impl.h"
#include "link/usb/board.h"
#include "link/usb/discover.h"
#include "link/usb/wire.h"

enum { RESET_EVERY = 8 }; /* of what does not answer: the second attempt resets the port, then each eighth */

struct usb_own {
    char *address;             /* owned */
    struct qs_usb_wire *wire;  /* owned; NULL: closed */
    struct qs_usb_wire *ended; /* owned by itself: the one before hangs up */
    unsigned failures;         /* in a row */
};

static void *usb_new_own(const struct qs_farm_device *device)
{
    struct usb_own *own = qs_calloc(1, sizeof *own);
    own->address = qs_strdup(device->address ? device->address : "");
    return own;
}

static void usb_free_own(void *user)
{
    struct usb_own *own = user;
    if (own->ended)
        (void)qs_usb_wire_finish(own->ended, true);
    free(own->address);
    free(own);
}

static void on_up(void *user)
{
    struct qs_link *link = user;
    struct usb_own *own = link->own;
    own->failures = 0;
    qs_link_up(link);
}

static void on_bytes(const uint8_t *bytes, size_t n, void *user)
{
    qs_link_bytes(user, bytes, n);
}

static void on_down(const struct qs_err *why, void *user)
{
    struct qs_link *link = user;
    struct usb_own *own = link->own;
    own->failures += link->state == QS_LINK_IS_OPENING ? 1 : 0;
    qs_link_down(link, why);
}

static bool usb_open(struct qs_link *link, struct qs_err *err)
{
    struct usb_own *own = link->own;
    const struct qs_usb_wire_parts parts = {.loop = link->loop,
                                            .address = own->address,
                                            .name = link->name,
                                            .may_reset = own->failures % RESET_EVERY == 1,
                                            .counters = &link->counters,
                                            .on_up = on_up,
                                            .on_bytes = on_bytes,
                                            .on_down = on_down,
                                            .user = link};
    if (qs_loop_is_virtual(link->loop))
        return qs_fail(err, QS_E_INTERNAL, "a USB device has no place in virtual time");
    if (!qs_usb_check_address(own->address, err))
        return false;
    if (own->ended && !qs_usb_wire_finish(own->ended, false))
        return qs_fail(err, QS_E_LINK, "the last attempt to reach %s is not over yet", link->name);
    link->counters.has_segments = link->counters.are_transfers = true;
    own->wire = qs_usb_wire_open(&parts);
    return true;
}

static void usb_close(struct qs_link *link)
{
    struct usb_own *own = link->own;
    struct qs_usb_wire *wire = own->wire;
    own->wire = NULL;
    own->ended = wire;
    qs_usb_wire_close(wire, &own->ended);
}

static bool usb_send(struct qs_link *link, const uint8_t *bytes, size_t n, struct qs_err *err)
{
    struct usb_own *own = link->own;
    return qs_usb_wire_send(own->wire, bytes, n, err);
}

const struct qs_link_ops qs_link_usb_ops = {
    .traits = {.silent_lead_ns =
                   INT64_C(20000000), /* the transfer that carries QUIET is over in its first half */
               .discover = qs_usb_discover,
               .discover_end = qs_usb_discover_end,
               .discover_rest = qs_usb_discover_rest},
    .check_address = qs_usb_check_address,
    .new_own = usb_new_own,
    .free_own = usb_free_own,
    .open = usb_open,
    .close = usb_close,
    .send = usb_send,
};
