/* Private to config: reading the actions of a job; of read_conditions.c and read_controls.c what they share.
 */
#ifndef QS_CONFIG_JOB_READ_ACTIONS_H
#define QS_CONFIG_JOB_READ_ACTIONS_H

#include "config/job/actions.h"
#include "config/job/read.h"

struct qs_sensor_kind;

/* keys_actions.c: the keys of a step. */
const struct qs_table *qs_job_step_table(enum qs_action_kind kind);

/* read_actions.c: struct qs_actions; `stage` reads all of one, and holds its limits. */
qs_job_reader qs_job_read_stage, qs_job_read_steps;
/* struct qs_action */
void qs_job_check_cool_down(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check_warm_up(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check_if(struct qs_schema_reader *r, const struct qs_node *node, void *target);
void qs_job_check_branches(struct qs_schema_reader *r, const struct qs_node *node, void *target);
/* Parameters that every benchmark and arm has, and what cannot be done in which mode. */
void qs_job_check_actions(struct qs_schema_reader *r, const struct qs_node *root);

/* read_conditions.c */
/* The sensor of a map, which has read its name already, and one of `below`, `above` (which include their
 * bound) and `band`. what: who has them, for messages. NULL with a problem where there is no such sensor. */
const struct qs_sensor_kind *qs_job_read_when(struct qs_schema_reader *r, const struct qs_node *map,
                                              const char *what, struct qs_job_expectation *e);
qs_job_reader qs_job_read_later; /* needs the sensor's unit: a check reads it, by the one above */
/* read_controls.c: char *, as that of `online` */
qs_job_reader qs_job_read_busy_cpus;

#endif
