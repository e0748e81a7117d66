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

struct qs_link_sight {        /* one device of a list */
    const char *address;      /* what its link opens; also its name, where the signs allow it */
    const char *place;        /* on the bus: "1-4.2"; "" where it has none */
    const char *(*labels)[2]; /* keys and values; a value of "" says nothing */
    size_t label_count;
};

/* A list begins; each device in it is seen; who was not seen when it ends is lost. */
void qs_link_founds_begin(struct qs_link_founds *founds);
void qs_link_founds_see(struct qs_link_founds *founds, const struct qs_link_sight *sight);
void qs_link_founds_end(struct qs_link_founds *founds);
void qs_link_founds_done(struct qs_link_founds *founds); /* what it owns */

#endif
