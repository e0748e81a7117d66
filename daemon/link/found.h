/* The devices that a kind of link has found by itself: told as they come and go, the same ones when they come
 * back. */
#ifndef QS_LINK_FOUND_H
#define QS_LINK_FOUND_H

#include "link/link.h"

enum { QS_LINK_FOUND_MAX = 1000 };

struct qs_link_found {
    struct qs_farm_device device; /* its texts are owned */
    bool here, seen;              /* now; in the list that is being read */
};

struct qs_link_founds {
    enum qs_link_kind kind;
    struct qs_link_finds finds;
    struct qs_link_found **at; /* owned: until the end */
    size_t count;
};

enum { QS_LINK_SIGHT_LABELS = 4 };

struct qs_link_sight {                           /* one device of a list; its texts are borrowed */
    const char *serial, *place;                  /* "" where it has none; a place is on the bus, "1-4.2" */
    const char *labels[QS_LINK_SIGHT_LABELS][2]; /* keys and values; a value of "" says nothing */
};

/* All that are there now. A serial that several of them have, or that is none, says nothing: each is told by
 * its place then ("usb:1-4.2"). That is its address, and its name, where the signs allow it. */
void qs_link_founds_take(struct qs_link_founds *founds, const struct qs_link_sight *sights, size_t count);
void qs_link_founds_done(struct qs_link_founds *founds); /* what it owns */

#endif
