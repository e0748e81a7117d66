/* Jobs with their arms, builds and points; devices, boots, clocks, files, events. */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "store/write/write.h"

/* The same label with the same content is the same build; a label never has two contents. */
static bool intern_build(struct qs_db *db, const struct qs_arm_row *arm, int64_t *ret_id, struct qs_err *err)
{
    uint8_t content[32], stored[32];
    if (arm->build_content && !qs_unhex(arm->build_content, content, sizeof content))
        return qs_fail(err, QS_E_CONFLICT, "build \"%s\": the content is not 64 hex digits",
                       arm->build_label);
    struct qs_stmt s;
    if (!qs_stmt_begin(db, &s, "SELECT id, content FROM build WHERE label = ?", err))
        return false;
    qs_stmt_text(&s, arm->build_label);
    bool found = false, ok = qs_stmt_step(&s, &found, err), equal = false;
    if (found) {
        *ret_id = qs_stmt_get_int(&s);
        bool has = qs_stmt_get_blob(&s, stored, sizeof stored);
        equal = arm->build_content ? has && memcmp(stored, content, sizeof content) == 0 : !has;
    }
    qs_stmt_end(&s);
    if (!ok)
        return false;
    if (found)
        return equal ||
               qs_fail(err, QS_E_CONFLICT, "build \"%s\" was stored with another content: use another label",
                       arm->build_label);
    if (!qs_stmt_begin(db, &s, "INSERT INTO build(label, content) VALUES(?, ?)", err))
        return false;
    qs_stmt_text(&s, arm->build_label);
    qs_stmt_blob(&s, arm->build_content ? content : NULL, sizeof content);
    ok = qs_stmt_run(&s, err);
    *ret_id = sqlite3_last_insert_rowid(db->sqlite);
    return ok;
}

static bool insert_arm(struct qs_db *db, int64_t job, size_t idx, const struct qs_arm_row *arm,
                       struct qs_err *err)
{
    int64_t build = 0;
    if (arm->build_label && !intern_build(db, arm, &build, err))
        return false;
    struct qs_stmt s;
    if (!qs_stmt_begin(
            db, &s, "INSERT INTO arm(job_id, idx, name, build_id, argv, conditions) VALUES(?, ?, ?, ?, ?, ?)",
            err))
        return false;
    qs_stmt_int(&s, job);
    qs_stmt_int(&s, (int64_t)idx);
    qs_stmt_text(&s, arm->name);
    if (arm->build_label)
        qs_stmt_int(&s, build);
    else
        qs_stmt_null(&s);
    qs_stmt_text(&s, arm->argv_json);
    qs_stmt_text(&s, arm->conditions_json);
    return qs_stmt_run(&s, err);
}

static bool intern_benchmark(struct qs_db *db, const char *name, int64_t *ret_id, struct qs_err *err)
{
    struct qs_stmt s;
    bool found = false;
    if (!qs_stmt_begin(db, &s, "INSERT INTO benchmark(name) VALUES(?) ON CONFLICT DO NOTHING", err))
        return false;
    qs_stmt_text(&s, name);
    if (!qs_stmt_run(&s, err) || !qs_stmt_begin(db, &s, "SELECT id FROM benchmark WHERE name = ?", err))
        return false;
    qs_stmt_text(&s, name);
    return qs_stmt_one(&s, ret_id, &found, err);
}

static bool intern_point(struct qs_db *db, const struct qs_point_row *point, int64_t *ret_id,
                         struct qs_err *err)
{
    static const char insert[] =
        "INSERT INTO point(benchmark_id, params, conditions) VALUES(?, ?, ?) ON CONFLICT DO NOTHING";
    static const char find[] =
        "SELECT id FROM point WHERE benchmark_id = ? AND params = ? AND conditions = ?";
    int64_t benchmark = 0;
    if (!intern_benchmark(db, point->benchmark, &benchmark, err))
        return false;
    const char *const texts[] = {insert, find};
    bool found = true, ok = true;
    for (size_t i = 0; ok && i < 2; i++) {
        struct qs_stmt s;
        ok = qs_stmt_begin(db, &s, texts[i], err);
        if (!ok)
            break;
        qs_stmt_int(&s, benchmark);
        qs_stmt_text(&s, point->params_json);
        qs_stmt_text(&s, point->conditions_json);
        ok = qs_stmt_one(&s, ret_id, &found, err);
    }
    return ok;
}

static bool insert_point(struct qs_db *db, int64_t job, size_t idx, const struct qs_point_row *point,
                         struct qs_err *err)
{
    int64_t id = 0;
    struct qs_stmt s;
    if (!intern_point(db, point, &id, err) ||
        !qs_stmt_begin(db, &s, "INSERT INTO job_point(job_id, idx, point_id, label) VALUES(?, ?, ?, ?)", err))
        return false;
    qs_stmt_int(&s, job);
    qs_stmt_int(&s, (int64_t)idx);
    qs_stmt_int(&s, id);
    qs_stmt_text(&s, point->label);
    return qs_stmt_run(&s, err);
}

/* *ret_id 0: this idem key is new. */
static bool find_idem(struct qs_db *db, const struct qs_job_row *job, int64_t *ret_id, struct qs_err *err)
{
    struct qs_stmt s;
    *ret_id = 0;
    if (!job->idem)
        return true;
    if (!qs_stmt_begin(db, &s, "SELECT id, spec = ?2 FROM job WHERE idem = ?1", err))
        return false;
    qs_stmt_text(&s, job->idem);
    qs_stmt_text(&s, job->spec_json);
    bool found = false, ok = qs_stmt_step(&s, &found, err), same = true;
    if (found) {
        *ret_id = qs_stmt_get_int(&s);
        same = qs_stmt_get_int(&s) != 0;
    }
    qs_stmt_end(&s);
    if (!ok)
        return false;
    return same ||
           qs_fail(err, QS_E_CONFLICT,
                   "job %" PRId64 " was submitted with this idempotency key and another content", *ret_id);
}

bool qs_apply_job(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_job_row *job = row;
    struct qs_stmt s;
    if (!find_idem(db, job, ret_id, err))
        return false;
    if (*ret_id != 0)
        return true;
    if (!qs_stmt_begin(db, &s,
                       "INSERT INTO job(idem, owner, name, spec, seed, state, submitted_wall_ns)"
                       " VALUES(?, ?, ?, ?, ?, 'queued', ?)",
                       err))
        return false;
    qs_stmt_text(&s, job->idem);
    qs_stmt_text(&s, job->owner);
    qs_stmt_text(&s, job->name);
    qs_stmt_text(&s, job->spec_json);
    qs_stmt_int(&s, (int64_t)job->seed);
    qs_stmt_int(&s, job->submitted_wall_ns);
    bool ok = qs_stmt_run(&s, err);
    *ret_id = sqlite3_last_insert_rowid(db->sqlite);
    for (size_t i = 0; ok && i < job->arm_count; i++)
        ok = insert_arm(db, *ret_id, i, &job->arms[i], err);
    for (size_t i = 0; ok && i < job->point_count; i++)
        ok = insert_point(db, *ret_id, i, &job->points[i], err);
    return ok;
}

/* A job that ended stays as it ended. */
bool qs_apply_job_state(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_job_state_row *r = row;
    struct qs_stmt s;
    (void)ret_id;
    if (!qs_stmt_begin(db, &s,
                       "UPDATE job SET state = ?2, reason = ?3,"
                       " started_wall_ns = coalesce(started_wall_ns, iif(?2 = 'running', ?4, NULL)),"
                       " ended_wall_ns = coalesce(ended_wall_ns, iif(?2 IN ('queued', 'running'), NULL, ?4))"
                       " WHERE id = ?1 AND (state IN ('queued', 'running') OR state = ?2)",
                       err))
        return false;
    qs_stmt_int(&s, r->job);
    qs_stmt_text(&s, qs_job_state_name(r->state));
    qs_stmt_text(&s, r->reason);
    qs_stmt_int(&s, r->at_ns);
    if (!qs_stmt_run(&s, err))
        return false;
    if (sqlite3_changes(db->sqlite) == 1)
        return true;
    int64_t id = 0;
    bool found = false;
    if (!qs_stmt_begin(db, &s, "SELECT id FROM job WHERE id = ?", err))
        return false;
    qs_stmt_int(&s, r->job);
    if (!qs_stmt_one(&s, &id, &found, err))
        return false;
    return found ? qs_fail(err, QS_E_CONFLICT, "job %" PRId64 " has already ended, it cannot become %s",
                           r->job, qs_job_state_name(r->state))
                 : qs_fail(err, QS_E_NOT_FOUND, "no job %" PRId64 " is stored", r->job);
}

bool qs_apply_device(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_device_row *r = row;
    struct qs_stmt s;
    (void)ret_id;
    if (!qs_stmt_begin(
            db, &s,
            "INSERT INTO device(name, serial, port_path, profile, simulated) VALUES(?, ?, ?, ?, ?)"
            " ON CONFLICT(name) DO UPDATE SET serial = excluded.serial, port_path = excluded.port_path,"
            " profile = excluded.profile, simulated = excluded.simulated",
            err))
        return false;
    qs_stmt_text(&s, r->name);
    qs_stmt_text(&s, r->serial);
    qs_stmt_text(&s, r->port_path);
    qs_stmt_text(&s, r->profile);
    qs_stmt_int(&s, r->simulated);
    return qs_stmt_run(&s, err);
}

bool qs_apply_boot(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_boot_row *r = row;
    struct qs_stmt s;
    int64_t device = 0, fingerprint = 0;
    (void)ret_id;
    if (!qs_find_device(db, r->device, &device, err) ||
        !qs_intern_env(db, r->fingerprint_json, &fingerprint, err) ||
        !qs_stmt_begin(
            db, &s,
            "INSERT INTO boot(device_id, boot_uuid, fingerprint_id, clock, seen_wall_ns) VALUES(?, ?, ?, ?, "
            "?)"
            " ON CONFLICT(device_id, boot_uuid) DO UPDATE SET fingerprint_id = excluded.fingerprint_id,"
            " clock = excluded.clock",
            err))
        return false;
    qs_stmt_int(&s, device);
    qs_stmt_text(&s, r->boot_uuid);
    qs_stmt_int(&s, fingerprint);
    qs_stmt_text(&s, r->clock);
    qs_stmt_int(&s, r->seen_wall_ns);
    return qs_stmt_run(&s, err);
}

bool qs_apply_clock_pair(struct qs_db *db, const void *row, int64_t *ret_id, struct qs_err *err)
{
    const struct qs_clock_row *r = row;
    struct qs_stmt s;
    int64_t boot = 0;
    (void)ret_id;
    if (!qs_find_boot(db, r->device, r->boot_uuid, &boot, err) ||
        !qs_stmt_begin(
            db, &s,
            "INSERT INTO clock_pair(boot_id, host_ns, device_ns, rtt_ns, wall_ns) VALUES(?, ?, ?, ?, ?)"
            " ON CONFLICT DO NOTHING",
            err))
        return false;
    qs_stmt_int(&s, boot);
    qs_stmt_int(&s, r->host_ns);
    qs_stmt_int(&s, r->device_ns);
    qs_stmt_int(&s, r->rtt_ns);
    qs_stmt_int(&s, r->wall_ns);
    return qs_stmt_run(&s, err);
}
