/* Private to config: the meters of a job file (keys_meters.c). */
#ifndef QS_CONFIG_JOB_READ_METERS_H
#define QS_CONFIG_JOB_READ_METERS_H

#include "config/document/schema.h"

struct qs_job_spec;

extern const struct qs_table qs_job_meter_table;
/* Against the metrics of the farm that the job names. root: the job's map. */
void qs_job_check_meters(struct qs_schema_reader *r, const struct qs_node *root,
                         const struct qs_job_spec *spec);

#endif
