/* A job run: walks one job on one device, settle -> lock -> setup -> (run -> gate -> window ->
 * evidence -> judge)* -> cleanup -> restore, as a table of named states. It decides with schedule.h and the
 * job's stop rules at window ends; the session carries, the store remembers. */
#ifndef QS_DEVICE_JOB_RUN_H
#define QS_DEVICE_JOB_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/job/job.h"
#include "device/session/session.h"
#include "store/read/read.h"
#include "store/store.h"

struct qs_loop;
struct qs_farm_config;
struct qs_ambients;
struct qs_files;
struct qs_job_run;

struct qs_job_run_parts { /* borrowed; they outlive the job run */
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files
        *files; /* the job's own, and for artifacts of runs; NULL: there are none, nothing is kept */
    struct qs_session *session;
    const struct qs_job_spec *spec;
    struct qs_ambients *ambients;      /* NULL: nobody knows how warm it is around the devices */
    const struct qs_farm_config *farm; /* for the rules and metrics that the job names; NULL: it has none */
    int64_t job;
    uint64_t seed;
    const char *device;
    bool local, simulated;
    int64_t
        quiet_lead_ns; /* silence on the link before a window is decided: what its kind needs to prove it */
    const char *const *base_env; /* "K=V", NULL-terminated: below the job's own where it inherits */
    const struct qs_measured_runs
        *earlier; /* what an earlier life of the daemon stored of this job, or NULL */
};

enum qs_job_run_end { QS_END_DONE, QS_END_FAILED, QS_END_CANCELLED, QS_END_DEFER, QS_END_REQUEUE };

struct qs_job_run_result {
    enum qs_job_run_end end;
    struct qs_err err;   /* of QS_END_FAILED, DEFER, REQUEUE */
    const char *stopped; /* why it was enough: "interval", "blocks", "time" (static) */
};

struct qs_job_run_events {
    /* News for people and the record; run_uid may be NULL. Copied by who wants to keep it. */
    void (*on_event)(const char *kind, const char *body_json, const uint8_t *run_uid, void *user);
    /* A window is to open, or has closed. On this machine it opens only while nobody is being answered any
     * more who asked before; is_answering may be NULL. */
    void (*on_silence)(bool silent, void *user);
    bool (*is_answering)(void *user);
    /* What devices share, from before QUIET to the last iteration of the window, or (window false) while
     * something is fetched: false holds it back, *why says for whom, and it is asked again. Both may be
     * NULL. */
    bool (*take_token)(bool window, const char **why, void *user);
    void (*give_token)(void *user);
    /* Each change of state, for the log; the names are static. May be NULL. */
    void (*on_state)(const char *from, const char *input, const char *to, void *user);
    void (*on_end)(const struct qs_job_run_result *result,
                   void *user); /* once; the job run may be freed after it has returned */
    void *user;
};

struct qs_job_run *qs_job_run_new(const struct qs_job_run_parts *parts,
                                  const struct qs_job_run_events *events);
/* Safe at any time but inside its own callbacks; stored requests on their way end quietly. NULL is allowed.
 */
void qs_job_run_free(struct qs_job_run *job);
void qs_job_run_start(struct qs_job_run *job, const char *boot_uuid, const char *facts_json);
/* The current window ends as cancelled, clean-up runs, then on_end. */
void qs_job_run_cancel(struct qs_job_run *job, const char *why);
/* Lost for good: ends at once, without the device (the daemon stops, or nobody waits any more). */
void qs_job_run_abandon(struct qs_job_run *job);

/* The device came back, or is gone. */
void qs_job_run_on_ready(struct qs_job_run *job, const char *boot_uuid, const char *facts_json);
void qs_job_run_on_down(struct qs_job_run *job, const struct qs_err *why);

/* What the window or the action in hand waits for, valid until the loop's next turn: "thermal:cpu is 46.7 °C,
 * wanted at most 45.0 °C"; NULL: none waits. */
const char *qs_job_run_waits_for(const struct qs_job_run *job);
const char *qs_job_run_state_name(const struct qs_job_run *job);
void qs_job_run_dump(struct qs_buf *out); /* the table as the diagram of README.md */

#endif
