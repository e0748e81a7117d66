/* Look-ups and rows shared by the apply functions. Internal to store. */
#ifndef QS_STORE_WRITE_WRITE_H
#define QS_STORE_WRITE_WRITE_H

#include "store/write/request.h"

/* The number of a named thing; QS_E_NOT_FOUND names what is missing. */
bool qs_find_device(struct qs_db *db, const char *name, int64_t *ret_id, struct qs_err *err);
bool qs_find_boot(struct qs_db *db, const char *device, const char *boot_uuid, int64_t *ret_id,
                  struct qs_err *err);
bool qs_find_session(struct qs_db *db, const uint8_t uid[16], int64_t *ret_id, struct qs_err *err);
bool qs_find_run(struct qs_db *db, const uint8_t uid[16], int64_t *ret_id, struct qs_err *err);
/* The farm's identity, made of the loop's randomness where the database has none. */
bool qs_intern_farm(struct qs_db *db, struct qs_loop *loop, uint8_t ret_uid[16], struct qs_err *err);
/* Finds it by name, or makes it. */
bool qs_intern_sensor(struct qs_db *db, const char *name, int64_t *ret_id, struct qs_err *err);
/* kind NULL: told from the name. Of a name that is known the first kind stands. */
bool qs_intern_metric(struct qs_db *db, const char *name, const struct qs_metric_kind *kind, int64_t *ret_id,
                      struct qs_err *err);
/* A canonical JSON text, kept once by its SHA-256. */
bool qs_intern_env(struct qs_db *db, const char *body, int64_t *ret_id, struct qs_err *err);
/* The one number that a statement gives, ended; *ret_found false where there is no row. */
bool qs_stmt_one(struct qs_stmt *s, int64_t *ret, bool *ret_found, struct qs_err *err);
/* The document of a window goes behind the artifacts that its run has. */
bool qs_apply_document(struct qs_db *db, const struct qs_window_row *w, struct qs_err *err);

#endif
