/* Private to config/profile, and to the test that compares them with config/README.md: the keys of a profile.
 */
#ifndef QS_CONFIG_PROFILE_KEYS_H
#define QS_CONFIG_PROFILE_KEYS_H

#include "config/document/schema.h"

extern const struct qs_table qs_profile_domain_table, qs_profile_sensor_table, qs_profile_type_table,
    qs_profile_switch_table, qs_profile_command_table;
const struct qs_table *qs_profile_table(void);

/* Readers of what several of them have: a path below sysfs (char *), which may have wildcards where min is 1;
 * a list of such; a list of two temperatures; a text with {placeholders} from `form`. */
void qs_profile_read_path(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          void *at);
void qs_profile_read_paths(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at);
void qs_profile_read_range(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at);
void qs_profile_read_name(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                          void *at);
void qs_profile_read_pairs(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at);

/* A row's key whose value is a path; whether wildcards may be in it. */
#define QS_PROFILE_PATH(its_name, its_offset, wild, needed, says)                                            \
    {                                                                                                        \
        .name = its_name, .type = QS_KEY_CUSTOM, .offset = its_offset, .min = wild, .required = needed,      \
        .read = qs_profile_read_path, .form = "a path", .help = says                                         \
    }
#define QS_PROFILE_EACH(its_offset)                                                                          \
    {                                                                                                        \
        .name = "each", .type = QS_KEY_CUSTOM, .offset = its_offset, .min = 1, .required = true,             \
        .read = qs_profile_read_paths, .form = "a path, or a list of them",                                  \
        .help = "The folders that are looked for, relative to the root of sysfs, with `*`, `?` and `[...]` " \
                "within a part of the path."                                                                 \
    }

#endif
