/* One device of the farm: its session, what is known of it, and the job run that uses it, if any. Tells
 * the job run when the device comes and goes; commits iterations that an agent kept over a lost link or a
 * dead daemon to the runs they belong to, and acknowledges them. */
#ifndef QS_DEVICE_DEVICE_H
#define QS_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "config/farm/farm.h"
#include "device/job/run.h"

struct qs_files;
struct qs_loop;
struct qs_store;
struct qs_device;

enum qs_device_state { QS_DEVICE_CONNECTING, QS_DEVICE_READY, QS_DEVICE_BUSY, QS_DEVICE_DOWN };

struct qs_device_events {
    void (*on_change)(struct qs_device *device, void *user); /* state changed */
    /* Something worth a line in the log. */
    void (*on_note)(struct qs_device *device, bool warning, const char *text, void *user);
    /* May it send now what its agent kept? Asked until true; then, and when the link is lost, transfer_over.
     * Both may be NULL. */
    bool (*may_transfer)(struct qs_device *device, void *user);
    void (*transfer_over)(struct qs_device *device, void *user);
    void *user;
};

struct qs_device_parts { /* borrowed; they outlive the device */
    struct qs_loop *loop;
    struct qs_store *store;
    struct qs_files *files; /* for documents that an agent kept; NULL: their values alone are kept */
    const struct qs_farm_device *config;
    const char *host_json; /* canonical fingerprint of this host, part of the environment */
    uint8_t farm_uid[16];
    int64_t heartbeat_ns;
};

struct qs_device *qs_device_new(const struct qs_device_parts *parts, const struct qs_device_events *events);
void qs_device_free(struct qs_device *d);
void qs_device_start(struct qs_device *d);
void qs_device_stop(struct qs_device *d);

enum qs_device_state qs_device_state(const struct qs_device *d);
const char *qs_device_state_name(enum qs_device_state state);
bool qs_device_is_simulated(const struct qs_device *d);
struct qs_session *qs_device_session(struct qs_device *d); /* borrowed, for the job run's parts */

/* Gives the device to a job run (borrowed) and starts it; NULL takes it back. */
void qs_device_assign(struct qs_device *d, struct qs_job_run *job);
/* A request that people make of a device while no job uses it: m is the structure of its type, whose id is
 * set here. done (once) has the answer, borrowed, or says why none came. False: done does not come;
 * QS_E_CONFLICT where the device, its hub or this machine is in use, else as qs_session_call. */
typedef void qs_device_reply_fn(const struct qs_err *err, const union qs_msg *reply, void *user);
bool qs_device_ask(struct qs_device *d, enum qs_msg_type type, union qs_msg *m, qs_device_reply_fn *done,
                   void *user, struct qs_err *err);

struct qs_device_info { /* for people; borrowed until the loop's next turn */
    const struct qs_farm_device *config;
    const char *state, *software, *boot;
    const char *facts_json, *why; /* or NULL */
    bool simulated;
    bool has_cache; /* it has told of it */
    struct qs_session_cache cache;
    int64_t rtt_ns; /* of the mapping of clocks */
};
struct qs_device_info qs_device_info(const struct qs_device *d);

#endif
