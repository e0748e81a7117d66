/* What people have said of a device, as members of its object. */
#ifndef QS_API_SAY_H
#define QS_API_SAY_H

#include "base/json.h"

struct qs_farm;

/* held (text, by, since_wall_ns, until_wall_ns), note (text, by, at_wall_ns), each or null; tags, an object.
 */
void qs_put_words(const struct qs_farm *farm, const char *device, struct qs_json *j);

#endif
