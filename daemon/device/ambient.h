/* How warm it is around the devices: the last reading of each ambient sensor of the farm, and new ones. In
 * virtual time there are none. */
#ifndef QS_DEVICE_AMBIENT_H
#define QS_DEVICE_AMBIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/farm/farm.h"

struct qs_loop;
struct qs_ambients;
struct qs_ambient_ask;

struct qs_ambient_reading {
    bool known;
    int64_t mc;
    int64_t at_ns; /* of the loop; 0: nobody has asked yet */
    char why[200]; /* the last attempt has failed; "": it has not */
};

struct qs_ambients *qs_ambients_new(struct qs_loop *loop, const struct qs_farm_config *farm);
void qs_ambients_free(struct qs_ambients *a); /* NULL: nothing. Whoever still waits is not told any more */

/* Borrowed. The next three take a sensor of the farm. */
const struct qs_ambient_reading *qs_ambients_last(const struct qs_ambients *a,
                                                  const struct qs_farm_ambient *of);
/* Whether the last one is good for now. */
bool qs_ambients_is_good(const struct qs_ambients *a, const struct qs_farm_ambient *of);
/* Whether it is time for another one. */
bool qs_ambients_is_due(const struct qs_ambients *a, const struct qs_farm_ambient *of);

/* Asks it. fn(user) follows once, when the last reading is the answer; NULL: it cannot be asked, and the last
 * reading says why. The pointer is dead once fn is called. */
typedef void qs_ambient_fn(void *user);
struct qs_ambient_ask *qs_ambients_ask(struct qs_ambients *a, const struct qs_farm_ambient *of,
                                       qs_ambient_fn *fn, void *user);
void qs_ambients_drop(struct qs_ambient_ask *ask); /* fn is not called; NULL: nothing */

#endif
