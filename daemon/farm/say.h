/* What people say of a device: that no job is to begin on it (hold), what is to be known of it (note), and
 * tags, which job selectors read as label.KEY, before a label of the farm file. It outlives the daemon. */
#ifndef QS_FARM_SAY_H
#define QS_FARM_SAY_H

#include "farm/farm.h"
#include "store/word.h"

enum { QS_WORD_TEXT_MAX = 500, QS_WORD_KEY_MAX = 64, QS_WORD_TAGS_MAX = 32 };

/* `count` words (at least one) of one device, kind and person; at_wall_ns is set here. They stand when they
 * are on disk, with an event (device.hold, .release, .note, .tags); done comes after it. A job that is on the
 * device is not disturbed by a hold. false: done does not come; QS_E_NOT_FOUND (no such device), QS_E_USAGE
 * (a text, key or time that cannot be), QS_E_CONFLICT (what is taken back is not there), QS_E_LIMIT. */
bool qs_farm_say(struct qs_farm *farm, const struct qs_word *words, size_t count, qs_store_done_fn *done,
                 void *user, struct qs_err *err);
/* What stands of a device, in order of kind and key; NULL: nothing. Borrowed until the loop's next turn. */
const struct qs_word *qs_farm_words(const struct qs_farm *farm, const char *device, size_t *ret_count);
/* NULL: it is not held. Borrowed until the loop's next turn. */
const struct qs_word *qs_farm_hold(const struct qs_farm *farm, const char *device);
/* Takes what stands from the database; the farm's start does so, too. */
bool qs_farm_read_words(struct qs_farm *farm, struct qs_err *err);

#endif
