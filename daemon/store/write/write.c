#include "store/write/write.h"

#include <inttypes.h>
#include <string.h>

#include "base/loop.h"
#include "base/text.h"
#include "proto/auth.h"

bool qs_stmt_one(struct qs_stmt *s, int64_t *ret, bool *ret_found, struct qs_err *err)
{
    bool ok = qs_stmt_step(s, ret_found, err);
    if (*ret_found)
        *ret = qs_stmt_get_int(s);
    qs_stmt_end(s);
    return ok;
}

bool qs_find_device(struct qs_db *db, const char *name, int64_t *ret_id, struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    if (!qs_stmt_begin(db, &s, "SELECT id FROM device WHERE name = ?", err))
        return false;
    qs_stmt_text(&s, name);
    if (!qs_stmt_one(&s, ret_id, &found, err))
        return false;
    return found || qs_fail(err, QS_E_NOT_FOUND, "no device \"%s\" is stored", name);
}

bool qs_find_boot(struct qs_db *db, const char *device, const char *boot_uuid, int64_t *ret_id,
                  struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    if (!qs_stmt_begin(db, &s,
                       "SELECT b.id FROM boot b JOIN device d ON d.id = b.device_id"
                       " WHERE d.name = ? AND b.boot_uuid = ?",
                       err))
        return false;
    qs_stmt_text(&s, device);
    qs_stmt_text(&s, boot_uuid);
    if (!qs_stmt_one(&s, ret_id, &found, err))
        return false;
    return found || qs_fail(err, QS_E_NOT_FOUND, "no boot %s of device \"%s\" is stored", boot_uuid, device);
}

static bool find_uid(struct qs_stmt *s, const char *what, const uint8_t uid[16], int64_t *ret_id,
                     struct qs_err *err)
{
    bool found = false;
    qs_stmt_blob(s, uid, 16);
    if (!qs_stmt_one(s, ret_id, &found, err))
        return false;
    char hex[33];
    qs_hex(uid, 16, hex);
    return found || qs_fail(err, QS_E_NOT_FOUND, "no %s %s is stored", what, hex);
}

bool qs_find_session(struct qs_db *db, const uint8_t uid[16], int64_t *ret_id, struct qs_err *err)
{
    struct qs_stmt s;
    return qs_stmt_begin(db, &s, "SELECT id FROM session WHERE uid = ?", err) &&
           find_uid(&s, "session", uid, ret_id, err);
}

bool qs_find_run(struct qs_db *db, const uint8_t uid[16], int64_t *ret_id, struct qs_err *err)
{
    struct qs_stmt s;
    return qs_stmt_begin(db, &s, "SELECT id FROM run WHERE uid = ?", err) &&
           find_uid(&s, "run", uid, ret_id, err);
}

/* The number of a name; sql selects it by the name alone. */
static bool find_name(struct qs_db *db, const char *sql, const char *name, int64_t *ret_id, bool *ret_found,
                      struct qs_err *err)
{
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s, sql, err))
        return false;
    qs_stmt_text(&s, name);
    return qs_stmt_one(&s, ret_id, ret_found, err);
}

static bool run_insert(struct qs_db *db, struct qs_stmt *s, int64_t *ret_id, struct qs_err *err)
{
    bool ok = qs_stmt_run(s, err);
    *ret_id = sqlite3_last_insert_rowid(db->sqlite);
    return ok;
}

bool qs_intern_sensor(struct qs_db *db, const char *name, int64_t *ret_id, struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    if (!find_name(db, "SELECT id FROM sensor WHERE name = ?", name, ret_id, &found, err))
        return false;
    if (found)
        return true;
    if (!qs_stmt_begin(db, &s, "INSERT INTO sensor(name) VALUES(?)", err))
        return false;
    qs_stmt_text(&s, name);
    return run_insert(db, &s, ret_id, err);
}

/* Units end names: what follows the last underscore, where it is one of ours. */
static const char *unit_of(const char *name)
{
    static const char *const units[] = {"ns", "us", "ms", "bytes", "khz", "mc", "ratio", "ppm", "uj", "uw"};
    const char *tail = strrchr(name, '_');
    for (size_t i = 0; tail && i < sizeof units / sizeof units[0]; i++)
        if (strcmp(tail + 1, units[i]) == 0)
            return units[i];
    return "count";
}

bool qs_intern_metric(struct qs_db *db, const char *name, const struct qs_metric_kind *kind, int64_t *ret_id,
                      struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    if (!find_name(db, "SELECT id FROM metric WHERE name = ?", name, ret_id, &found, err))
        return false;
    if (found)
        return true;
    if (!qs_stmt_begin(
            db, &s, "INSERT INTO metric(name, unit, lower_is_better, deterministic) VALUES(?, ?, ?, ?)", err))
        return false;
    qs_stmt_text(&s, name);
    qs_stmt_text(&s, kind ? kind->unit : unit_of(name));
    qs_stmt_int(&s, kind && kind->higher_is_better ? 0 : 1);
    qs_stmt_int(&s, kind && kind->deterministic ? 1 : 0);
    return run_insert(db, &s, ret_id, err);
}

bool qs_intern_env(struct qs_db *db, const char *body, int64_t *ret_id, struct qs_err *err)
{
    uint8_t sum[QS_SHA256_BYTES];
    qs_sha256(body, strlen(body), sum);
    struct qs_stmt s;
    bool found = false;
    if (!qs_stmt_begin(db, &s, "SELECT id FROM env WHERE sha256 = ?", err))
        return false;
    qs_stmt_blob(&s, sum, sizeof sum);
    if (!qs_stmt_one(&s, ret_id, &found, err))
        return false;
    if (found)
        return true;
    if (!qs_stmt_begin(db, &s, "INSERT INTO env(sha256, body) VALUES(?, ?)", err))
        return false;
    qs_stmt_blob(&s, sum, sizeof sum);
    qs_stmt_text(&s, body);
    bool ok = qs_stmt_run(&s, err);
    *ret_id = sqlite3_last_insert_rowid(db->sqlite);
    return ok;
}

bool qs_intern_farm(struct qs_db *db, struct qs_loop *loop, uint8_t ret_uid[16], struct qs_err *err)
{
    enum { BYTES = 16 };
    struct qs_stmt s;
    bool found = false;
    if (!qs_stmt_begin(db, &s, "SELECT uid FROM farm", err))
        return false;
    bool ok = qs_stmt_step(&s, &found, err);
    if (ok && found)
        qs_stmt_get_blob(&s, ret_uid, BYTES);
    qs_stmt_end(&s);
    if (!ok || found)
        return ok;
    qs_loop_random(loop, ret_uid, BYTES);
    if (!qs_stmt_begin(db, &s, "INSERT INTO farm(uid, created_wall_ns) VALUES(?, ?)", err))
        return false;
    qs_stmt_blob(&s, ret_uid, BYTES);
    qs_stmt_int(&s, qs_loop_wall_ns(loop));
    return qs_stmt_run(&s, err);
}
