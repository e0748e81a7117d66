/* Profiles: what can be read and held on a kind of device, as data. A profile of a device stands before those
 * that it extends: what it says of a file, a sensor's type or a row's name goes before what they say. */
#ifndef QS_CONFIG_PROFILE_PROFILE_H
#define QS_CONFIG_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/document/doc.h"
#include "config/document/string_list.h"
#include "config/profile/words.h"

struct qs_profile_range { /* thousandths of a degree */
    bool given;
    int64_t lo_mc, hi_mc;
};

struct qs_profile_pair {
    char *key, *pattern;
};
struct qs_profile_pairs {
    struct qs_profile_pair *at;
    size_t count;
};
struct qs_profile_match { /* all of them hold */
    struct qs_profile_pairs facts, files;
};

struct qs_profile_domain {
    char *key; /* the row's name */
    enum qs_domain_kind kind;
    char *name;
    struct qs_strings each; /* folders */
    char *needs;            /* a file without which a folder is none of these; or NULL */
    char *governor, *governors, *min, *max, *set, *current, *hw_min, *hw_max, *cpus; /* in it; or NULL */
    char *residency, *transitions;
    struct qs_strings table; /* files with frequencies: the first that has some; "a + b": both */
    enum qs_domain_unit unit;
    enum qs_domain_limits limits;
    uint32_t reserved, residency_ms; /* the lowest so many are the driver's own; a count of residency */
    struct qs_strings pin, replaces;
};

struct qs_profile_sensor {
    char *key, *name;
    struct qs_strings each;
    char *type, *value;
    enum qs_reading_unit unit;
    enum qs_sensor_role role;
    struct qs_profile_range range;
    enum qs_watch watch;
    uint32_t mask;          /* 0, or the reading is these bits of a hexadecimal number */
    struct qs_strings bits; /* in words, the lowest first */
    struct qs_strings only; /* types that it is for; none: all */
    /* Of energy: where it begins at 0 again, the voltage of a charge, what says that it counts; or NULL. */
    char *wraps, *volts, *status;
    struct qs_strings valid; /* words of `status` */
    int64_t average_ns;      /* of a power: over which it is a mean; 0: not known */
};

struct qs_profile_command { /* a sensor that is a command on the device */
    char *key, *name;
    struct qs_strings command;
    char *section, *line, *before, *spoilt, *mend; /* all but `before` may be NULL */
    enum qs_reading_unit unit;
    enum qs_sensor_role role;
    enum qs_watch watch;
    uint32_t mask, up_to; /* up_to: with QS_WATCH_NONZERO, what still taints nothing */
    int64_t max_age_ns;
    char *asks; /* as BIND has it */
};

struct qs_profile_type { /* what is known of sensors by their type's text */
    struct qs_strings types;
    enum qs_reading_unit unit;
    enum qs_sensor_role role;
    struct qs_profile_range range;
    enum qs_watch watch;
    char *reject; /* or NULL: why it is no sensor of temperature */
};

struct qs_profile_switch {
    char *key, *name;
    enum qs_switch_kind kind;
    struct qs_strings each;
    char *file, *on, *off, *after, *assumed, *unset;
    uint32_t low, high;                                     /* of a valued one; both 0: it is on or off */
    struct qs_strings get, set, set_on, set_off, set_unset; /* of a command, see tool.h */
    bool persistent;
};

struct qs_profile {
    char *name, *extends, *about;
    char *file;                        /* of the farm's own folder; NULL: it is built in */
    char *present, *online, *capacity; /* of the processors */
    struct qs_strings avoid;
    struct qs_profile_match *match; /* any of them; none: it is for every device */
    struct qs_profile_domain *domains;
    struct qs_profile_sensor *sensors;
    struct qs_profile_type *types;
    struct qs_profile_command *commands;
    struct qs_profile_switch *switches;
    size_t match_count, domain_count, sensor_count, type_count, command_count, switch_count;
};

#endif
