/* A daemon of another version than this client: an embedded one lives on while it is used, also when the
 * programs are replaced. */
#ifndef QS_CTL_CLIENT_PEER_H
#define QS_CTL_CLIENT_PEER_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "ctl/client/http.h"

/* Pure: whether an error document says that the daemon does not know the address, method or query itself.
 * Only a client of another version asks for such; a thing that is not there is refused in other words. */
bool qs_peer_lacks(const json_t *error);

/* Pure: negative where a is the older of two versions "1.2.3", 0 where they are equal or cannot be compared.
 */
int qs_peer_order(const char *a, const char *b);

/* Asks the daemon for its version and process. *ret_err (QS_E_VERSION) says how it stands to this client,
 * advice how to end it. */
void qs_peer_explain(struct qs_http *http, struct qs_err *ret_err, struct qs_buf *advice);

#endif
