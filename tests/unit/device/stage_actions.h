/* An agent on the stage that reads sensors on request and keeps processors busy: struct stage has one where
 * the test gives it. */
#ifndef QS_TEST_DEVICE_STAGE_ACTIONS_H
#define QS_TEST_DEVICE_STAGE_ACTIONS_H

#include "proto/msg.h"
#include "stage.h"
#include "stage_control.h"

/* A command that is called `long` takes ten minutes, unless it is ended before; one called `bad` fails. */
struct stage_acting {
    /* What the test says. */
    bool reads_nothing, loads_nothing, not_amid; /* the agent is older */
    /* What `thermal:cpu-thermal` says, n looks after the first; or NULL: 42 degrees. */
    int64_t (*says)(struct stage *s, unsigned n, enum qs_reading_status *status);
    enum qs_load_outcome no_load; /* what LOAD comes to; 0: as it should */
    bool load_stays;              /* it does not end */
    bool prepared, look_fails;    /* before_job was done in an earlier session, by the store; or that fails */
    /* What happened. */
    int64_t ended_ns;  /* when the job did */
    struct qs_buf log; /* a line each: "read", "load CPUS MS", "unload", "hook ARGV ", "tune", "restore",
                          "run_begin", "open", "run_end"; no two reads in a row */
    unsigned reads, loads;
    bool loaded; /* now */
    bool is_bad; /* the last command */
};

/* A whole scene: a device with files, sensors and processors, and a job on it. */
struct scene {
    struct stage s;
    struct stage_control c;
    struct stage_acting a;
};
#define SCENE_JOB                                                                                            \
    "quiesce: 1\n"                                                                                           \
    "benchmarks: [{name: work, argv: [work], params: {n: [7]}}]\n"                                           \
    "arms: {a: {argv: [a]}}\n"                                                                               \
    "plan: {seed: 1, blocks: 1, until: {interval: 0}, warmup: {iterations: 1}, window: {iterations: 2}}\n"
#define SCENE_FILE "devices/system/cpu/cpufreq/policy0/scaling_max_freq"

void scene_begin(struct scene *t, const char *job);
void scene_end(struct scene *t); /* no processor is kept busy any more */
void scene_goes_well(struct scene *t);
void scene_fails(struct scene *t, const char *text); /* with this in the reason */
/* What the sensor says: always 60 degrees; nothing, because there is none. */
int64_t scene_stays(struct stage *s, unsigned n, enum qs_reading_status *status);
int64_t scene_is_missing(struct stage *s, unsigned n, enum qs_reading_status *status);

#endif
