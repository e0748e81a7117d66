/* The profiles that there are: those that are built in, and a farm's own. */
#ifndef QS_CONFIG_PROFILE_PROFILES_H
#define QS_CONFIG_PROFILE_PROFILES_H

#include "config/profile/profile.h"

struct qs_profiles {
    struct qs_profile **at; /* owned, by name */
    size_t count;
};
enum { QS_PROFILES_MAX = 256 };

struct qs_profile_text { /* embedded at build time from config/profiles */
    const char *name, *text;
};
extern const struct qs_profile_text qs_profile_texts[];
extern const size_t qs_profile_text_count;

/* The document as one profile, which goes in the place of a built-in one of its name; else located problems,
 * and nothing is changed. */
bool qs_profiles_add(struct qs_profiles *profiles, const struct qs_doc *doc, bool own,
                     struct qs_problems *problems);
/* Those that are built in. */
bool qs_profiles_init(struct qs_profiles *profiles, struct qs_err *err);
/* Adds each *.yaml of a farm's own folder, in an order in which each finds what it extends; what is wrong is
 * appended to `problems`, for people, and err counts it. */
bool qs_profiles_add_folder(struct qs_profiles *profiles, const char *folder, struct qs_buf *problems,
                            struct qs_err *err);
void qs_profiles_done(struct qs_profiles *profiles);
const struct qs_profile *qs_profiles_find(const struct qs_profiles *profiles, const char *name); /* or NULL */

#endif
