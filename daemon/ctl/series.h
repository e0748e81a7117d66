/* Series of the store by what a person calls them. */
#ifndef QS_CTL_SERIES_H
#define QS_CTL_SERIES_H

#include "ctl/client/api.h"

/* The list of the series that a word (NULL: all) and the options --device, --arm, --metric and those in
 * `query`
 * ("&since=5", or "") name: by its id where the word looks like one and is one, else by a part of its name.
 * Where something was named and nothing has it: NULL, *ret_code is that of what is not found, and which name
 * it is and what is near was said. Owned. */
json_t *qs_series_find(struct qs_ctl *ctl, struct qs_http *http, const char *word, const char *query,
                       int *ret_code);

#endif
