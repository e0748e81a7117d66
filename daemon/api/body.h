/* A request's body as JSON. */
#ifndef QS_API_BODY_H
#define QS_API_BODY_H

#include <jansson.h>

#include "api/exchange.h"

/* The document, the caller's; its size and depth are bounded (the body's limit; jansson's 2048), duplicates
 * are refused. NULL: QS_E_USAGE with the place. On any thread. */
json_t *qs_body_json(const struct qs_exchange *ex, struct qs_err *err);

#endif
