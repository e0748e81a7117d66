/* The farm: the devices one daemon owns, the queue of jobs, and who measures when. The face of everything
 * below for the API; main builds it. Machines that measure on this host exclude each other; jobs start in
 * order of submission. */
#ifndef QS_FARM_FARM_H
#define QS_FARM_FARM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/document/doc.h"
#include "config/farm/farm.h"
#include "config/job/job.h"
#include "proto/msg.h"
#include "store/store.h"

struct qs_loop;
struct qs_log;
struct qs_files;
struct qs_farm;
struct qs_device_info;

/* One event, after its commit; borrowed for the callback. id 0: of now, not stored, for whoever listens.
 * body_json NULL: this event and others of its job, up to this number, are to be read from the store. */
struct qs_farm_event {
    int64_t id, wall_ns, job;
    const char *kind, *device, *body_json; /* device may be NULL */
};

struct qs_farm_events {
    /* News for streams, in order of id. While the farm is silent (a window is open on this machine) none
     * comes. */
    void (*on_event)(const struct qs_farm_event *event, void *user);
    /* No job is queued or running any more, or none runs in a farm that yields. */
    void (*on_idle)(void *user);
    /* A window on this machine is to open (true) or has closed (false): who serves people begins nothing that
     * can wait. It opens once what was begun before has been answered; is_answering may be NULL: it has. */
    void (*on_silence)(bool silent, void *user);
    bool (*is_answering)(void *user);
    void *user;
};

struct qs_farm_parts { /* borrowed; they outlive the farm */
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files;
    struct qs_log *log;
    const struct qs_farm_config *config;
    const char *const *base_env; /* "K=V", NULL-terminated: what processes inherit on this machine */
};

struct qs_farm *qs_farm_new(const struct qs_farm_parts *parts, const struct qs_farm_events *events);
/* Reads what a former life left (open runs become interrupted, live jobs go on), opens the links. */
bool qs_farm_start(struct qs_farm *farm, struct qs_err *err);
/* Ends windows as cancelled, leaves jobs where they are for the next start, closes links; then on_stopped
 * (once, from the loop). */
void qs_farm_stop(struct qs_farm *farm, void (*on_stopped)(void *user), void *user);
void qs_farm_free(struct qs_farm *farm);

struct qs_submission {
    const char *text; /* the job file as the person wrote it, YAML or JSON */
    size_t text_bytes;
    const char *name;                /* of the file, for messages */
    const struct qs_job_file *files; /* (path, sha256) bindings */
    size_t file_count;
    bool only_looked_at; /* it will not be submitted: no files are asked for */
    int64_t reproduces;  /* the job that is done again, or 0; the next two are for one that does */
    uint64_t seed;       /* in place of the document's */
    const char *where;   /* device selector in place of the document's, or NULL */
};

/* A submission that was read. */
struct qs_prepared;

/* On any thread, for it takes as long as the document is large: reads it, checks it with what the farm never
 * changes (its configuration; the files that are here), and writes out what will be stored. Owned by the
 * caller; never NULL: its problems say what is wrong. */
struct qs_prepared *qs_farm_prepare(const struct qs_farm *farm, const struct qs_submission *sub);
void qs_prepared_free(struct qs_prepared *p);
/* Both borrowed. The spec is NULL where it could not be read, and once it was submitted. */
const struct qs_job_spec *qs_prepared_spec(const struct qs_prepared *p);
const struct qs_problems *qs_prepared_problems(const struct qs_prepared *p);
/* The rest of the check, with the devices that the farm has now: false where there are problems, a selector
 * that none of them fits included. Once for each submission; qs_farm_submit does it, too. */
bool qs_farm_check(const struct qs_farm *farm, struct qs_prepared *p);
/* More jobs than this neither wait nor run: a submission is refused (QS_E_LIMIT). */
enum { QS_FARM_JOBS_MAX = 10000 };
/* Checks, then stores. idem may be NULL. done comes after the commit. false: nothing was stored, and the
 * problems (QS_E_JOB) or *err say why. */
bool qs_farm_submit(struct qs_farm *farm, struct qs_prepared *p, const char *owner, const char *idem,
                    qs_store_done_fn *done, void *user, struct qs_err *err);
/* Queued: cancelled at once. Running: its window ends as cancelled, its clean-up runs. done (id: 0) comes
 * when that is on disk: from then on no later life of the daemon takes the job up again. Where the disk does
 * not take it the job is cancelled all the same, and waits with that end; done comes without an error. false:
 * done does not come; QS_E_NOT_FOUND, QS_E_CONFLICT (ended already). */
bool qs_farm_cancel(struct qs_farm *farm, int64_t job, const char *why, qs_store_done_fn *done, void *user,
                    struct qs_err *err);

/* From now on the farm takes in what is found of this kind of link. QS_E_USAGE: none can be. */
bool qs_farm_look_for(struct qs_farm *farm, enum qs_link_kind kind, struct qs_err *err);
/* A request that people make of a device which no job uses (device/device.h). false: done does not come;
 * QS_E_NOT_FOUND, QS_E_CONFLICT (in use), QS_E_AGENT (its agent lacks what that needs). */
bool qs_farm_ask(struct qs_farm *farm, const char *device, enum qs_msg_type type, union qs_msg *m,
                 void (*done)(const struct qs_err *err, const union qs_msg *reply, void *user), void *user,
                 struct qs_err *err);

/* Reads the device's ambient sensor where that is due: done(user) follows once. False: there is nothing to
 * wait for. */
bool qs_farm_refresh_ambient(struct qs_farm *farm, const char *device, void (*done)(void *user), void *user);
/* The last reading; NULL: the device has no such sensor. Borrowed until the loop's next turn. */
struct qs_ambient_reading;
const struct qs_ambient_reading *qs_farm_ambient_last(const struct qs_farm *farm, const char *device,
                                                      const char **ret_name, int64_t *ret_age_ns);

/* Each device, in order. */
void qs_farm_devices(const struct qs_farm *farm, void (*fn)(const struct qs_device_info *device, void *user),
                     void *user);
/* What its devices are looked at by. */
const struct qs_profiles *qs_farm_profiles(const struct qs_farm *farm);
/* Why a live job does not go on: "an earlier job has the device (job 6, nightly)", "board: thermal:cpu
 * is 46.7 °C, wanted at most 45.0 °C". */
struct qs_farm_why {
    const char *code; /* queue (other jobs, or no device is ready), gate, disk, daemon (another one takes
                         over); NULL: nothing holds it */
    int64_t position; /* in the queue, from 0; -1: it does not wait there */
};
/* The reason is appended to text. */
struct qs_farm_why qs_farm_why(const struct qs_farm *farm, int64_t job, struct qs_buf *text);
/* The body of the last job.progress event, or NULL. Borrowed until the loop's next turn. */
const char *qs_farm_progress(const struct qs_farm *farm, int64_t job);
/* Names of the devices that a spec would run on now: the array is the caller's (free()), the names are not.
 */
const char **qs_farm_fitting(const struct qs_farm *farm, const struct qs_job_spec *spec, size_t *ret_count);
/* "waiting for the disk: ...": why the end of this job (0: of any) is not on disk, and what to do; NULL: it
 * does not wait. Borrowed until the loop's next turn. */
const char *qs_farm_waits_for_disk(const struct qs_farm *farm, int64_t job);
/* Appends the body of the event job.waiting; false: the end of this job does not wait for the disk. */
bool qs_farm_waiting_event(const struct qs_farm *farm, int64_t job, struct qs_buf *body);
size_t qs_farm_live_jobs(const struct qs_farm *farm);
/* For another daemon that waits to take over: no job begins any more, not on a further device either; jobs
 * that are on one end there. on_idle comes when none is left; the others wait for that daemon. */
void qs_farm_yield(struct qs_farm *farm);
/* A job is on a device, or its end is not on disk yet. */
bool qs_farm_is_working(const struct qs_farm *farm);

#endif
