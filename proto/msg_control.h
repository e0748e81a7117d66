/* What is on a device, and what of it is changed for a while: files are found and read, some become sensors,
 * some are written and put back. Only where QS_FEATURE_CONTROL is agreed, and only between runs (TUNE between
 * windows, too, where QS_FEATURE_SENSE is). Paths are relative to the agent's root for them (/sys): 1 ..
 * QS_CONTROL_PATH_MAX_BYTES, no empty part, no "." or "..". Each list fits the shortest frame. */
#ifndef QS_PROTO_MSG_CONTROL_H
#define QS_PROTO_MSG_CONTROL_H

#include "proto/msg_result.h"
#include "proto/wire.h"

/* Which files fit this pattern, and what do they say? */
struct qs_msg_survey {
    uint32_t id;            /* chosen by the host, comes back; so in all of them */
    struct qs_text pattern; /* a path whose parts may have the wildcards of glob(7): * ? [...] */
    struct qs_text after; /* the last path of the answer before; "" at first. <= QS_CONTROL_PATH_MAX_BYTES */
};
bool qs_msg_encode_survey(struct qs_writer *w, const struct qs_msg_survey *m);
int qs_msg_decode_survey(const uint8_t *p, size_t n, struct qs_msg_survey *m);

enum qs_file_access { QS_FILE_READABLE = 1, QS_FILE_WRITABLE = 2, QS_FILE_ACCESS = 3 };
struct qs_found {
    struct qs_text path;
    uint8_t access;       /* enum qs_file_access, for the agent's user; other bits are refused */
    int32_t error;        /* of reading it (errno); 0: value is what it says */
    struct qs_text value; /* its first bytes, any, <= QS_FOUND_MAX_BYTES */
};
bool qs_list_found(struct qs_iter *it, struct qs_found *out);
bool qs_build_found(struct qs_build *b, const struct qs_found *v);

struct qs_msg_surveyed {
    uint32_t id;
    bool more;            /* there are files behind the last of these: ask again */
    struct qs_list files; /* of struct qs_found, <= QS_FOUND_MAX, by path, bytewise */
};
bool qs_msg_encode_surveyed(struct qs_writer *w, const struct qs_msg_surveyed *m);
int qs_msg_decode_surveyed(const uint8_t *p, size_t n, struct qs_msg_surveyed *m);

/* A sensor of the host's making: the file's first number * mul / div, unreadable outside lo .. hi. Where
 * QS_FEATURE_COUNTERS is agreed, with its fraction, and `path` is also "FILE\nWORD..." or "perf:EVENT". */
enum qs_bind_flag {
    QS_BIND_EVIDENCE = 1, /* also read around each window */
    QS_BIND_HELD = 2, /* a value outside of lo .. hi is one, and taints the window around which it is read */
    /* The rest where QS_FEATURE_SENSE is agreed. */
    QS_BIND_TABLE = 4,    /* lines of a key and, last, a count: the sum of those of other keys than lo .. hi,
                           * mul / div; not together with the two around it */
    QS_BIND_BITS = 8,     /* the number is hexadecimal: what it has of the bits of mul, / div */
    QS_BIND_STEADY = 16,  /* a change taints the window, unless the window has a bound of this name */
    QS_BIND_COMMAND = 32, /* where QS_FEATURE_SLOW is agreed: `path` is a command (bind_command.h), whose
                             number counts in thousandths unless it is of BITS; no TABLE */
    QS_BIND_FLAGS = 63
};
struct qs_binding {
    struct qs_text name; /* 1 .. QS_NAME_MAX_BYTES; goes before a sensor of the agent's own that has it too */
    struct qs_text path;
    int64_t mul, div; /* 1 .. QS_BIND_SCALE_MAX */
    int64_t lo, hi;   /* lo <= hi */
    uint8_t flags;
};
bool qs_list_binding(struct qs_iter *it, struct qs_binding *out);
bool qs_build_binding(struct qs_build *b, const struct qs_binding *v);

/* The sensors that hold from now to the session's end, instead of those of a BIND before. The answer, BOUND,
 * is a READINGS: their first values, in the order of BIND. */
struct qs_msg_bind {
    uint32_t id;
    struct qs_list sensors; /* of struct qs_binding, <= QS_BIND_MAX */
};
bool qs_msg_encode_bind(struct qs_writer *w, const struct qs_msg_bind *m);
int qs_msg_decode_bind(const uint8_t *p, size_t n, struct qs_msg_bind *m);

/* Files are written in this order. What stood there is kept on the device first, and put back by RESTORE, at
 * the session's end, or when the host has not been heard for lease_ms. */
enum qs_tune_flag {
    QS_TUNE_PERSISTENT = 1, /* a reboot does not undo it */
    QS_TUNE_BLIND = 2,      /* the file cannot be read back */
    QS_TUNE_TRANSIENT = 4,  /* it is not put back: it goes with another file (the frequency that governor
                               "userspace" has), and may say what cannot be written ("undefined") */
    /* Where QS_FEATURE_SWITCH is agreed. */
    QS_TUNE_COMMAND = 8, /* path is commands (agent/linux/tool.h): several lines, as no file's path has */
    QS_TUNE_FLAGS = 15
};
struct qs_tune {
    struct qs_text path;
    struct qs_text value; /* <= QS_TUNE_VALUE_MAX_BYTES */
    uint8_t flags;
};
bool qs_list_tune(struct qs_iter *it, struct qs_tune *out);
bool qs_build_tune(struct qs_build *b, const struct qs_tune *v);

struct qs_msg_tune {
    uint32_t id;
    uint32_t lease_ms;     /* QS_LEASE_MIN_MS .. QS_LEASE_MAX_MS */
    uint32_t settle_ms;    /* <= QS_SETTLE_MAX_MS: from the last write to reading back */
    struct qs_list writes; /* of struct qs_tune, 1 .. QS_TUNE_MAX */
};
bool qs_msg_encode_tune(struct qs_writer *w, const struct qs_msg_tune *m);
int qs_msg_decode_tune(const uint8_t *p, size_t n, struct qs_msg_tune *m);

/* What became of a write. Of TUNE from UNREADABLE on nothing was written. */
enum qs_tune_outcome {
    QS_TUNE_SET = 1,         /* it reads back as written: the same text, or the same number */
    QS_TUNE_SAME = 2,        /* it said so already */
    QS_TUNE_SLIPPED = 3,     /* it reads back as something else */
    QS_TUNE_REFUSED = 4,     /* writing it failed: error */
    QS_TUNE_TIMEOUT = 5,     /* the driver did not answer in time: nobody knows */
    QS_TUNE_UNREADABLE = 6,  /* what stood there cannot be read (error), so it could not be put back */
    QS_TUNE_MISSING = 7,     /* there is no such file */
    QS_TUNE_FORBIDDEN = 8,   /* it is outside of the root */
    QS_TUNE_UNJOURNALLED = 9 /* what stood there could not be kept on disk: error */
};

struct qs_tuned {
    enum qs_tune_outcome outcome;
    int32_t error;              /* errno, or 0 */
    struct qs_text before, now; /* <= QS_TUNE_SAID_MAX_BYTES, cut; "" where it was not read */
};
bool qs_list_tuned(struct qs_iter *it, struct qs_tuned *out);
bool qs_build_tuned(struct qs_build *b, const struct qs_tuned *v);

struct qs_msg_tuned {
    uint32_t id;
    struct qs_list writes; /* of struct qs_tuned, <= QS_TUNE_MAX, in the order of TUNE */
};
bool qs_msg_encode_tuned(struct qs_writer *w, const struct qs_msg_tuned *m);
int qs_msg_decode_tuned(const uint8_t *p, size_t n, struct qs_msg_tuned *m);

/* Everything is put back, the last change first. */
struct qs_msg_restore {
    uint32_t id;
};
bool qs_msg_encode_restore(struct qs_writer *w, const struct qs_msg_restore *m);
int qs_msg_decode_restore(const uint8_t *p, size_t n, struct qs_msg_restore *m);

/* One file: result.before is what had to be put back. SET or SAME: it stands there. */
struct qs_restored {
    struct qs_text path; /* a command only where QS_FEATURE_SWITCH is agreed */
    struct qs_tuned result;
};
bool qs_list_restored(struct qs_iter *it, struct qs_restored *out);
bool qs_build_restored(struct qs_build *b, const struct qs_restored *v);

struct qs_msg_restored {
    uint32_t id;
    bool more;            /* there are others: RESTORE again */
    struct qs_list files; /* of struct qs_restored, <= QS_TUNE_MAX */
};
bool qs_msg_encode_restored(struct qs_writer *w, const struct qs_msg_restored *m);
int qs_msg_decode_restored(const uint8_t *p, size_t n, struct qs_msg_restored *m);

#endif
