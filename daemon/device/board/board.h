/* A board: what of a device can be read and held, made of profiles (config/profile) and of a survey of its
 * files. Pure: nothing here speaks to a device. All paths are relative to the root of sysfs. */
#ifndef QS_DEVICE_BOARD_BOARD_H
#define QS_DEVICE_BOARD_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/profile/profiles.h"
#include "device/board/sensor.h"
#include "device/board/survey.h"

enum {
    QS_BOARD_DOMAINS_MAX = 256,
    QS_BOARD_STEPS_MAX = 256, /* frequencies of a domain */
    QS_BOARD_SENSORS_MAX = 256,
    QS_BOARD_SWITCHES_MAX = 1024,
    QS_BOARD_CPUS_MAX = 1024
};

struct qs_board_counts {
    size_t *at;
    size_t count;
};

/* Why a domain cannot be held at a frequency. */
enum qs_board_hold {
    QS_HOLD_OK,
    QS_HOLD_NO_FILE,   /* it has no files for its limits */
    QS_HOLD_DENIED,    /* the agent's user may not write them */
    QS_HOLD_AVOIDED,   /* a profile says never to */
    QS_HOLD_NO_NUMBERS /* what frequencies there are cannot be told */
};

struct qs_board_domain {
    char *name; /* "policy0", "gpufreq": unique */
    enum qs_domain_kind kind;
    char *cpus; /* "0-3", or NULL */
    /* Its operating points, ascending, and each as its files have it (a frequency in their unit, or a level);
     * `range`: there is no table, and all between the first and the last are points. */
    struct qs_board_counts steps_khz, steps_raw;
    bool range;
    enum qs_domain_unit unit; /* HZ, KHZ, MHZ; RAW: the numbers are no frequencies */
    enum qs_domain_limits limits;
    size_t hw_min_khz, hw_max_khz, min_khz, max_khz, current_khz; /* 0: not known */
    struct qs_strings governors;
    char *governor;                                      /* now, or NULL */
    char *governor_file;                                 /* NULL: there is none that may be written */
    char *min_file, *max_file, *set_file, *current_file; /* or NULL */
    char *residency_file, *transitions_file;             /* or NULL */
    size_t residency_ms;                                 /* one count of the first */
    char *hold_governor;                                 /* under which it is held; NULL: it keeps its own */
    enum qs_board_hold hold;
    char *why; /* why it cannot be held, and what to do; NULL: it can */
};

struct qs_board_switch {
    char *name, *path;
    enum qs_switch_kind kind;
    char *said;     /* when surveyed, or NULL */
    char *on, *off; /* or NULL: it takes numbers */
    int64_t lo, hi;
    bool persistent; /* over a reboot */
    bool writable;
};

struct qs_board_cluster { /* processors alike */
    char *name;           /* "little", "big", "prime"; "all" where there is one kind */
    char *cpus;           /* "0-3" */
    size_t capacity;      /* 1024 at most; 0: not known */
    size_t max_khz;       /* 0: not known */
};

struct qs_board {
    size_t version;             /* of its JSON */
    struct qs_strings profiles; /* that it was made by, the most special first */
    char *cpus, *online;        /* "0-7", or NULL: not known */
    struct {
        struct qs_board_cluster *at;
        size_t count;
    } clusters; /* ascending */
    struct {
        struct qs_board_domain *at;
        size_t count;
    } domains;
    struct {
        struct qs_board_sensor *at;
        size_t count;
    } sensors;
    struct {
        struct qs_board_switch *at;
        size_t count;
    } switches;
    struct qs_strings notes; /* for people: what was cut or left out */
};

/* The patterns that a survey has to ask for, sorted, none of which another one covers. */
void qs_board_survey_patterns(const struct qs_profiles *profiles, struct qs_strings *ret);
/* facts_json: an object of text, or one that has it as its member `device`; or NULL. Whatever the survey
 * holds, there is a board; what does not fit is a note. Owned by the caller. */
struct qs_board *qs_board_new(const struct qs_profiles *profiles, const struct qs_survey *survey,
                              const char *facts_json);
void qs_board_free(struct qs_board *board); /* NULL: nothing */
QS_RELEASE_AT(qs_board_free_at, struct qs_board, qs_board_free)
/* The profile of the device that says never to write this file; NULL: none does. Borrowed. */
const char *qs_board_avoids(const struct qs_board *board, const struct qs_profiles *profiles,
                            const char *path);
/* NULL: there is none of this name. */
const struct qs_board_domain *qs_board_domain(const struct qs_board *board, const char *name);
const struct qs_board_sensor *qs_board_sensor(const struct qs_board *board, const char *name);
/* Whether a name fits a pattern, in any case. */
bool qs_board_is_like(const char *pattern, const char *name);
const struct qs_board_cluster *qs_board_cluster(const struct qs_board *board, const char *name);

/* Are all processors of the list in the other one? Lists only: "0-3,6". */
bool qs_board_cpus_within(const char *cpus, const char *all);

/* What the device says of its commands at first: those that it has not (MISSING) are no sensors of it. */
void qs_board_take_command(struct qs_board *board, const char *name, enum qs_reading_status status,
                           int64_t value);
/* None of them can be asked. */
void qs_board_drop_commands(struct qs_board *board);

/* What a device was when it was looked at, of its facts (as above): another kernel or model, and it is to be
 * looked at as a new one. */
void qs_board_fingerprint(const char *facts_json, struct qs_buf *out);

/* One object, equal for equal boards. */
void qs_board_json(const struct qs_board *board, struct qs_buf *out);
/* The rows of schema/board.md. */
void qs_board_table(struct qs_buf *out);
/* Reads it again; QS_E_DATA, with what is wrong. NULL then. */
struct qs_board *qs_board_from_json(const char *json, struct qs_err *err);

#endif
