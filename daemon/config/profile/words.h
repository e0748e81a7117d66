/* The words that a profile has for what a thing is, and how its file is read. */
#ifndef QS_CONFIG_PROFILE_WORDS_H
#define QS_CONFIG_PROFILE_WORDS_H

enum qs_domain_kind { QS_DOMAIN_CPU, QS_DOMAIN_GPU, QS_DOMAIN_MEMORY, QS_DOMAIN_OTHER, QS_DOMAIN_KINDS };
enum qs_domain_unit {
    QS_DOMAIN_AUTO, /* by the largest value */
    QS_DOMAIN_HZ,
    QS_DOMAIN_KHZ,
    QS_DOMAIN_MHZ,
    QS_DOMAIN_RAW /* no frequency, such as MB/s: numbers stay as they are */
};
enum qs_domain_limits { QS_LIMITS_FREQUENCY, QS_LIMITS_LEVEL };
enum qs_sensor_role {
    QS_ROLE_UNSET,
    QS_ROLE_CPU,
    QS_ROLE_GPU,
    QS_ROLE_SKIN,
    QS_ROLE_BATTERY,
    QS_ROLE_AMBIENT,
    QS_ROLE_ENERGY, /* what all of the device takes: a part of `energy: auto` */
    QS_ROLE_OTHER
};
enum qs_reading_unit {
    QS_READS_UNSET,
    QS_READS_AUTO,  /* degrees by what is plausible */
    QS_READS_MC,    /* thousandths of a degree */
    QS_READS_DC,    /* tenths */
    QS_READS_C,     /* whole degrees */
    QS_READS_COUNT, /* no temperature: a number, such as the state of a cooling device */
    QS_READS_UJ,    /* energy from here on: a count of it that rises */
    QS_READS_UWH,   /* what is left of it, which falls */
    QS_READS_UAH,   /* so, of a charge, with a voltage beside it */
    QS_READS_UW,    /* a power */
    QS_READS_MW,
    QS_READS_W,
    QS_READS_UNITS
};
enum qs_switch_kind {
    QS_SWITCH_IDLE,
    QS_SWITCH_ONLINE,
    QS_SWITCH_BOOST,
    QS_SWITCH_CHARGING,
    QS_SWITCH_FAN,
    QS_SWITCH_THERMAL,
    QS_SWITCH_REALTIME, /* what takes the processor away from SCHED_FIFO */
    QS_SWITCH_KERNEL,   /* an option of the kernel */
    QS_SWITCH_FREEZE,   /* of processes in the background: on: they stand still */
    QS_SWITCH_OTHER
};
enum qs_watch { QS_WATCH_UNSET, QS_WATCH_NEVER, QS_WATCH_CHANGES, QS_WATCH_NONZERO };
/* Words by value; NULL ends each. */
extern const char *const qs_domain_kinds[], *const qs_domain_units[], *const qs_sensor_roles[];
extern const char *const qs_reading_units[], *const qs_switch_kinds[], *const qs_watches[];

#endif
