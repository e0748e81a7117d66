/* A request's body as JSON. */
#ifndef QS_API_BODY_H
#define QS_API_BODY_H

#include <jansson.h>

#include "api/exchange.h"

/* The document, the caller's; its size and depth are bounded (the body's limit; jansson's 2048), duplicates
 * are refused. NULL: QS_E_USAGE with the place. On any thread. */
json_t *qs_body_json(const struct qs_exchange *ex, struct qs_err *err);

/* Whether the object has no other keys than these, and is one, or NULL; else QS_E_USAGE says which key
 * `where`
 * ("the request", "options") has, and which may be meant. */
bool qs_body_keys(const json_t *object, const char *where, const char *const *known, size_t count,
                  struct qs_err *err);

#endif
