/* What the files of the farm share. Private to farm. */
#ifndef QS_FARM_FARM_IMPL_H
#define QS_FARM_FARM_IMPL_H

#include "base/json.h"
#include "device/device.h"
#include "farm/farm.h"
#include "farm/hub.h"
#include "farm/inventory.h"
#include "farm/queue.h"
#include "farm/words.h"

struct qs_farm_end { /* how a job ends, decided and on its way to disk */
    enum qs_job_state state;
    char *reason, *verdict_json, *result_json; /* owned; result_json: body of job.result; or NULL */
    int64_t wall_ns;
    uint32_t runs_per_block;
    unsigned failures;      /* commits that failed */
    char *waits;            /* owned: what for, once one has failed; NULL: it does not */
    struct qs_timer *again; /* owned: the next try */
};

struct qs_prepared {
    struct qs_job_spec *spec;    /* owned */
    struct qs_problems problems; /* found so far */
    struct qs_doc *doc;          /* owned: where they are */
    struct qs_request *rows;     /* owned: what will be stored; NULL where there are problems */
    bool has_seed;               /* else one is drawn */
    uint64_t seed;
};

struct qs_farm_job {      /* a live job: queued or running */
    struct qs_farm *farm; /* borrowed */
    int64_t id;
    uint64_t seed;
    struct qs_job_spec *spec; /* owned */
    char *name;               /* owned */
    int64_t submitted_wall_ns;
    bool running, resumed, cancelled, ending;
    struct qs_queue_job queue; /* its place, and the devices that it has chosen and not begun on */
    size_t on_devices;         /* that have it now */
    struct qs_measured_runs earlier;
    bool has_earlier;
    char *progress;        /* owned: the last job.progress, or NULL */
    char *cancel_why;      /* owned */
    struct qs_err failure; /* of the first device that failed */
    const char *stopped;   /* static: why it was enough, of the last device */
    size_t devices_done;
    struct qs_timer *retry; /* owned */
    struct qs_farm_end end; /* of one that is ending */
};

struct qs_farm {
    struct qs_farm_parts p;
    struct qs_farm_events events;
    struct qs_ambients *ambients;                              /* owned */
    struct qs_inventory *inventory;                            /* owned, with what is in its items */
    struct qs_queue *queue;                                    /* owned: of the jobs that are not ending */
    struct qs_hub *hub;                                        /* owned */
    struct qs_link_discovery *discoveries[QS_LINK_KIND_COUNT]; /* owned; of most kinds NULL */
    struct qs_farm_declared *declared;                         /* owned, as many as: */
    size_t declared_count;
    struct qs_words words;     /* owned: of people */
    struct qs_timer *hold_end; /* owned: of the hold that ends first */
    struct qs_farm_job **jobs; /* owned, in order of the queue */
    size_t job_count;
    size_t on_devices; /* devices that have a job */
    bool leaves;       /* a device is to go */
    char *host_json;   /* owned */
    bool started, yields, stopping, stop_told, dispatch_posted, dispatch_held;
    unsigned silences;   /* of windows on this machine, and of those that wait for the host */
    size_t outstanding;  /* events and ends on their way to disk */
    size_t submitting;   /* jobs on their way to disk */
    size_t ends_asked;   /* ends on their way to disk */
    size_t ends_waiting; /* jobs whose end the disk does not take */
    int64_t newest_job;  /* the highest number ever given out: a submission above it is new */
    void (*on_stopped)(void *user);
    void *stopped_user;
};

/* jobs.c */
struct qs_farm_job *qs_farm_job_new(struct qs_farm *farm, int64_t id, uint64_t seed,
                                    struct qs_job_spec *spec);
void qs_farm_job_free(struct qs_farm_job *job);
struct qs_farm_job *qs_farm_find(const struct qs_farm *farm, int64_t id);
void qs_farm_add(struct qs_farm *farm, struct qs_farm_job *job);
/* Takes the job out of the queue and frees it; looks for idleness. */
void qs_farm_remove(struct qs_farm *farm, struct qs_farm_job *job);
void qs_farm_start_on(struct qs_farm_job *job, struct qs_inventory_item *item);
void qs_farm_end_job(struct qs_farm_job *job);

/* say.c: holds end by themselves from now on. */
void qs_farm_watch_holds(struct qs_farm *farm);

/* declare.c: after the devices. */
void qs_farm_declared_done(struct qs_farm *farm);
/* devices.c: a device of this configuration, not started. NULL: there is one of its name. */
struct qs_inventory_item *qs_farm_add_device(struct qs_farm *farm, const struct qs_farm_device *config,
                                             struct qs_err *err);
/* Its state, or who is on it, is another one: the queue is told. */
void qs_farm_device_changed(struct qs_inventory_item *item);
/* Those that fit, in order; the array is the caller's. */
struct qs_inventory_item **qs_farm_match(const struct qs_farm *farm, const struct qs_job_spec *spec,
                                         size_t *ret_count);
qs_selector_fact_fn qs_farm_device_fact; /* of an item */
/* News of a kind of link that finds its devices by itself (link/link.h); user: the farm. What is lost stays
 * while a job has chosen it. */
void qs_farm_found(const struct qs_farm_device *device, void *user);
void qs_farm_lost(const struct qs_farm_device *device, void *user);
void qs_farm_let_go(struct qs_farm *farm);        /* of those that no job wants any more */
void qs_farm_discover(struct qs_farm *farm);      /* those that the configuration says */
void qs_farm_discover_rest(struct qs_farm *farm); /* of a farm that stops, which waits for it */
void qs_farm_discover_end(struct qs_farm *farm);  /* after the devices */

/* ends.c: commits the end, then takes the job out of the queue; tried again until the disk takes it. */
void qs_farm_finish(struct qs_farm_job *job, enum qs_job_state state, const char *reason,
                    const char *verdict_json, const char *result_json);
/* An end that waits for the disk becomes a cancellation; false where none waits. */
bool qs_farm_cancel_end(struct qs_farm_job *job, const char *why);
/* Something was committed: the ends that wait are tried now. */
void qs_farm_disk_is_back(struct qs_farm *farm);
void qs_farm_end_stop(struct qs_farm_job *job); /* no more tries */
void qs_farm_end_done(struct qs_farm_end *end);

/* dispatch.c: looks at the queue after the current callback. */
void qs_farm_dispatch_soon(struct qs_farm *farm);

/* farm.c: an event or an end came back from the disk: was it the last one of a farm that stops, or does the
 * queue wait for it? */
void qs_farm_answered(struct qs_farm *farm);

/* events.c */
void qs_farm_emit(struct qs_farm *farm, const char *kind, int64_t job, const char *device,
                  const uint8_t *run_uid, const char *body_json);
/* The word that this job is to end, for people and for a later life; done comes after its commit. */
void qs_farm_emit_cancel(struct qs_farm *farm, int64_t job, const char *why, qs_store_done_fn *done,
                         void *user);
/* What people have said of a device, with the event of it. */
void qs_farm_emit_words(struct qs_farm *farm, const struct qs_word *words, size_t count, const char *kind,
                        const char *body_json, qs_store_done_fn *done, void *user);
void qs_farm_emit_state(struct qs_farm *farm, int64_t job, enum qs_job_state state, const char *reason);

/* files.c: hex sha256 over the sorted (path, mode, sha256) of a build: what its label stands for. */
void qs_farm_build_content(const struct qs_job_arm *arm, struct qs_buf *out);

/* host.c: canonical fingerprint of this host. Owned by the caller. */
char *qs_farm_host_json(void);

#endif
