/* What of a device was found, changed and put back. Texts as in rows.h: requests copy them. */
#ifndef QS_STORE_CONTROL_H
#define QS_STORE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

struct qs_board_row {
    const char *device;
    const char *fingerprint; /* of what it was found: the system and the model */
    const char *json;        /* as device/board writes it */
    int64_t probed_wall_ns;
};
/* The latest of one device and fingerprint replaces the one before. QS_E_NOT_FOUND: no such device. */
void qs_store_board(struct qs_store *store, const struct qs_board_row *board, qs_store_done_fn *done,
                    void *user);

struct qs_control_row {
    bool restore;        /* it was put back; else it was set */
    const char *path;    /* below the root of sysfs */
    const char *wanted;  /* what was written; of one that was put back what stood there first */
    const char *before;  /* what the file said; NULL: it was not read, as with the next one */
    const char *after;   /* what it says now */
    const char *outcome; /* qs_tune_outcome_name */
    int32_t error;       /* errno, or 0 */
    int64_t at_wall_ns;
};
struct qs_control_rows {
    const uint8_t *session_uid; /* 16 bytes */
    const uint8_t *run_uid;     /* 16 bytes, or NULL: of no single run */
    const struct qs_control_row *rows;
    size_t count;
};
/* They go behind those that the session has: sent again they are there twice. QS_E_NOT_FOUND: no such session
 * or run. */
void qs_store_control(struct qs_store *store, const struct qs_control_rows *rows, qs_store_done_fn *done,
                      void *user);

/* What follows: inside a qs_store_read function. */

struct qs_board_info {
    char *fingerprint, *json; /* owned; NULL: none is stored */
    int64_t probed_wall_ns;
};
/* The last one that was found of the device. */
bool qs_read_board(struct qs_store_reader *r, const char *device, struct qs_board_info *ret,
                   struct qs_err *err);
void qs_board_info_free(struct qs_board_info *board);

struct qs_control_info {
    struct qs_control_row row; /* its texts are borrowed for the call */
    uint32_t seq;              /* in the session, from 0 */
    bool of_run;
    uint8_t run_uid[16];
};
typedef void qs_control_fn(const struct qs_control_info *control, void *user);
/* Of a session, in order. */
bool qs_read_control(struct qs_store_reader *r, const uint8_t session_uid[16], qs_control_fn *fn, void *user,
                     struct qs_err *err);

struct qs_control_session {
    uint8_t uid[16];
    int64_t job, started_wall_ns, ended_wall_ns; /* 0: it has not ended */
};
/* The device's last session that changed something, or tried to; *ret_found false: none did. */
bool qs_read_control_session(struct qs_store_reader *r, const char *device, struct qs_control_session *ret,
                             bool *ret_found, struct qs_err *err);

#endif
