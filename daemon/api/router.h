/* Which handler answers which method and path: a table, and how a request is matched with it. */
#ifndef QS_API_ROUTER_H
#define QS_API_ROUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/uri.h"

struct qs_exchange;

enum qs_route_flags {
    QS_ROUTE_URGENT = 1,  /* answered while a window is open, too: costs nothing, or must be heard */
    QS_ROUTE_UPLOAD = 2,  /* the body goes into a file as it comes, not into memory */
    QS_ROUTE_LONG = 8,    /* its works and reads may take minutes: a few run at once, the others wait */
    QS_ROUTE_NO_HEAD = 4, /* GET without HEAD: what has no end has no head worth asking for */
    QS_ROUTE_READS = 16   /* a POST that changes nothing */
};

struct qs_route {
    const char *method,
        *pattern; /* {id}: a number; {uid}: 32 hex digits; {sha256}: 64 hex digits; {device}: a name */
    void (*handle)(struct qs_exchange *ex);
    int64_t body_max_bytes; /* 0: no body */
    const char *query;      /* names it understands, between spaces; "" = none */
    unsigned flags;
};

extern const struct qs_route qs_routes[];
extern const size_t qs_route_count;

struct qs_match {
    const struct qs_route *route;
    int64_t id;
    uint8_t uid[16];
    char sha256[65];
    char device[65];
    bool head; /* HEAD of a GET route */
};

/* QS_E_NOT_FOUND: no such path; QS_E_USAGE: there is one, but not with this method (ret_allow then holds the
 * methods it has, "GET, HEAD"), or a {parameter} or the query has no meaning (ret_allow stays ""). */
bool qs_route_find(const char *method, const struct qs_uri *uri, struct qs_match *ret, char ret_allow[64],
                   struct qs_err *err);

#endif
