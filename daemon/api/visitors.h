/* Connections: whose they are, how many each user has, and how long they take to ask. A connection on which
 * no request is worked on has a deadline for what it is saying, so that who says a byte a minute keeps no
 * place; in a silence no time passes for it. */
#ifndef QS_API_VISITORS_H
#define QS_API_VISITORS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct MHD_Connection;
struct qs_api;
struct qs_exchange;

struct qs_visitor {
    struct qs_visitor *next, *prev;
    struct qs_exchange *ex; /* borrowed: what it asks, or NULL */
    int fd;                 /* borrowed */
    bool known, over;       /* the kernel says whose it is; its user has too many */
    uid_t uid;
    unsigned ticks; /* since it is said to; see QS_API_TICKS */
};

/* A connection has come. Owned by the API until it leaves. */
struct qs_visitor *qs_visitor_come(struct qs_api *api, struct MHD_Connection *connection);
void qs_visitor_leave(struct qs_api *api, struct qs_visitor *visitor);
/* Its next request begins; it has been answered (NULL). */
void qs_visitor_asks(struct qs_visitor *visitor, struct qs_exchange *ex);
/* Time passes, or (a silence, the end) does not. */
void qs_visitors_watch(struct qs_api *api, bool on);

#endif
