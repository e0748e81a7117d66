/* What libmicrohttpd calls for every request, again and again until it is answered. */
#ifndef QS_API_ACCESS_H
#define QS_API_ACCESS_H

#include <microhttpd.h>

/* cls is the API; *context the request, made when its first line had come. */
enum MHD_Result qs_access(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                          const char *version, const char *data, size_t *data_bytes, void **context);

#endif
