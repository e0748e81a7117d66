/* The trees of tests/data/sysfs as surveys, the way an agent would bring them. */
#ifndef QS_TESTS_DEVICE_TREE_H
#define QS_TESTS_DEVICE_TREE_H

#include "config/profile/profiles.h"
#include "device/board/board.h"

/* What an agent of this user would tell of the files below /sys that fit the patterns: root writes what
 * anybody may write, another user what all others may. */
void tree_survey(const char *path, const struct qs_strings *patterns, bool root, struct qs_survey *ret);
/* The board of tests/data/sysfs/NAME.tree.tsv with the profiles that are built in. */
struct qs_board *tree_board(const char *folder, const char *name, bool root);
/* The same with these profiles. */
struct qs_board *tree_board_by(const struct qs_profiles *profiles, const char *folder, const char *name,
                               bool root);
/* The profiles that are built in, or only generic. */
void tree_profiles(struct qs_profiles *ret, bool all);

#endif
