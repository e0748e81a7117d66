/* Jobs of every kind with all that an answer can show of one, the same each time. */
#ifndef QS_TEST_API_WORLD_H
#define QS_TEST_API_WORLD_H

#include "fixture.h"

#define SHA_OF_HELLO "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define SHA_OF_ARM   "abababababababababababababababababababababababababababababababab"

/* Of arm `base` of benchmark `blur` on device `bench`. */
#define HISTORY_OF_BASE "/api/v1/history/09c2715c62eb58c71eec715414c853fbf3ecd002a9532c49cb4fbb159fa25350"

/* 1: three arms at two points on two devices, ended; 2: does it again; 3: waits; 4: failed, of a version that
 * nobody reads any more; 5: cancelled before it ran; 6: runs. Wall times are small numbers of ns. */
void world_make(struct fixture *f);

#endif
