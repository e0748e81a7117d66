/* libmicrohttpd on the loop: it works when its epoll descriptor is readable, when its timeout is due, and
 * after a suspended connection was resumed. */
#ifndef QS_API_SERVER_H
#define QS_API_SERVER_H

#include <microhttpd.h>

#include "api/api_impl.h"

/* Listens on api->listen, with a descriptor of its own for it. QS_E_RESOURCE. */
bool qs_server_start(struct qs_api *api, struct qs_err *err);
/* Cuts every connection. Requests with works under way stay until these call back. */
void qs_server_stop(struct qs_api *api);

/* What libmicrohttpd calls for every request, again and again until it is answered. cls is the API; *context
 * the request, made when its first line had come. */
enum MHD_Result qs_access(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                          const char *version, const char *data, size_t *data_bytes, void **context);

#endif
