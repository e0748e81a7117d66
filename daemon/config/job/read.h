/* Private to config: the values of a job file that a table row alone cannot read. Each reader fills what its
 * key's offset names; `key` tells which key it is (its words, its table). */
#ifndef QS_CONFIG_JOB_READ_H
#define QS_CONFIG_JOB_READ_H

#include "config/job/job.h"
#include "config/document/schema.h"

/* What is being built, with what only the checks need. */
struct qs_farm_hook;

struct qs_job_draft {
    struct qs_job_spec spec;
    struct qs_job_conditions own; /* conditions; moved into the spec by qs_job_sets_begin, with the sets */
    struct qs_job_conditions *sets;
    size_t set_count;
    struct qs_job_enough enough; /* plan.stop and plan.caps */
    double margin_ratio;         /* compare.margin */
    char *baseline;              /* compare.baseline, owned */
    unsigned fail_on;            /* compare.fail_on: 1 = regression */
};

const struct qs_table *qs_job_table(void);
const struct qs_table *qs_farm_table(void); /* farm/farm.c */
void qs_farm_hooks_done(struct qs_farm_hook *hooks, size_t count);
extern const struct qs_table qs_farm_rule_table, qs_farm_metric_table; /* farm/hooks.c */
/* keys_plan.c: parts of the job's table. */
extern const struct qs_table qs_job_compare_table, qs_job_devices_table, qs_job_plan_table,
    qs_job_condition_table, qs_job_condition_set_table;
extern const struct qs_table qs_job_trace_table;        /* keys_trace.c */
extern const struct qs_table qs_job_android_table;      /* keys_android.c */
extern const struct qs_word qs_launch_words[];          /* android.c: by enum qs_launch */
extern const struct qs_table qs_job_characterize_table; /* keys_characterize.c */
extern const struct qs_table qs_job_actions_table;      /* keys_actions.c */

/* read_command.c: struct qs_strings */
void qs_job_read_artifacts(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at);
void qs_job_read_argv(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at);
void qs_job_read_shell(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at);
void qs_job_read_hook(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at);
void qs_job_read_link(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at); /* of a farm */
void qs_job_read_env(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                     void *at);
/* struct qs_job_benchmark */
void qs_job_read_mode(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at);
void qs_job_read_exit(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at);
void qs_job_read_inputs(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at);
/* struct qs_job_arm */
void qs_job_read_files(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at);

/* read_plan.c: struct qs_job_draft, or struct qs_job_plan as said */
void qs_job_read_version(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                         void *at);
void qs_job_read_where(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at);
void qs_job_read_take(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at);
void qs_job_read_blocks(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at); /* plan */
void qs_job_read_looks(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at); /* plan */
void qs_job_read_evals(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at); /* uint32_t of a benchmark */
void qs_job_read_window(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at); /* plan: iterations */
/* read_stop.c: struct qs_job_enough */
void qs_job_read_stop(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at);
/* A rule that its caps never let hold. map: where both are written. */
void qs_job_check_stop(struct qs_schema_reader *r, const struct qs_node *map,
                       const struct qs_job_enough *enough);

/* read_controls.c: struct qs_job_controls */
typedef void qs_job_reader(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                           void *at);
qs_job_reader qs_job_read_cpus, qs_job_read_online, qs_job_read_frequency, qs_job_read_governor,
    qs_job_read_boost, qs_job_read_idle, qs_job_read_switches, qs_job_read_priority, qs_job_read_aslr;
extern const struct qs_table qs_job_app_table; /* struct qs_job_app; it and the last two: read_process.c */
void qs_job_app_done(struct qs_job_app *app);
void qs_job_app_copy(struct qs_job_app *to, const struct qs_job_app *from);
/* read_conditions.c, trip: read_process.c: struct qs_job_conditions */
qs_job_reader qs_job_read_gate, qs_job_read_bounds, qs_job_read_trip;
const struct qs_table *qs_job_gate_table(void); /* one expectation */
/* What the job's own conditions do not say. */
void qs_job_default_conditions(struct qs_job_spec *spec, const struct qs_node *written);

/* conditions.c: the sets of a job. `written`: the map of one in the document, or NULL. */
void qs_job_conditions_done(struct qs_job_conditions *set);
void qs_job_read_conditions_name(struct qs_schema_reader *r, const struct qs_key *key,
                                 const struct qs_node *node, void *at);
/* A copy without a name. */
void qs_job_conditions_copy(struct qs_job_conditions *to, const struct qs_job_conditions *from);
/* job.c */
void qs_job_arm_copy(struct qs_job_arm *to, const struct qs_job_arm *from);
void qs_job_arm_done(struct qs_job_arm *arm);
/* The spec owns them from now on, whatever is wrong with the rest. */
void qs_job_sets_begin(struct qs_job_draft *draft);
/* Who refers to which. */
void qs_job_sets_check(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_draft *draft);
/* Once all is right: fills in what they leave out. */
void qs_job_sets_fill(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_draft *draft);

/* check.c: what several keys must agree on */
void qs_job_check_benchmark(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check_arm(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check_plan(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check_characterize(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check_trace(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check(struct qs_schema_reader *r, const struct qs_node *node, void *target);

/* harness.c: keys that mode harness does not have, of a benchmark or an arm. */
void qs_job_check_harness(struct qs_schema_reader *r, const struct qs_node *map);
/* The other way round: of a benchmark in another mode. */
void qs_job_check_no_harness(struct qs_schema_reader *r, const struct qs_node *benchmark,
                             enum qs_job_mode mode);
/* stream.c: the key `output`, struct qs_job_benchmark; what goes with mode stream and what does not. */
void qs_job_read_output(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                        void *at);
void qs_job_output_json(struct qs_json *j);
void qs_job_check_stream(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_benchmark *b);
void qs_job_check_stream_job(struct qs_schema_reader *r, const struct qs_node *root,
                             const struct qs_job_spec *spec);
/* android.c: mode app; `_job`: its files, and the arms. Makes the benchmark's command. */
void qs_job_check_android(struct qs_schema_reader *r, const struct qs_node *node, struct qs_job_benchmark *b);
void qs_job_check_android_job(struct qs_schema_reader *r, const struct qs_node *root,
                              const struct qs_job_spec *spec);
/* order.c: splitmix64's finaliser, to key a stream of random numbers by several values. */
uint64_t qs_job_mix(uint64_t h, uint64_t v);

/* template.c: the next {name} at or after *at with *name (n bytes); what stands before it is [*at,
 * returned). NULL at the end. */
const char *qs_template_next(const char *at, const char **name, size_t *n);

#endif
