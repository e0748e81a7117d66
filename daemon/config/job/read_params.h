/* Private to config: reading the parameters of a job (params.c). */
#ifndef QS_CONFIG_JOB_READ_PARAMS_H
#define QS_CONFIG_JOB_READ_PARAMS_H

#include "config/job/read.h"

/* Fixed parameters of an arm (struct qs_params); axes of a benchmark are checked here and multiplied out
 * later. */
void qs_job_read_fixed(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                       void *at);
void qs_job_read_axes(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                      void *at);
void qs_job_read_exclude(struct qs_schema_reader *r, const struct qs_key *key, const struct qs_node *node,
                         void *at);
/* Against the axes of the same benchmark (its map). */
void qs_job_check_exclude(struct qs_schema_reader *r, const struct qs_node *benchmark);
/* The points of the whole job, once everything else is right; false with a problem where none is left. */
bool qs_job_multiply(struct qs_schema_reader *r, const struct qs_node *root, struct qs_job_spec *spec);
bool qs_job_is_param_name(const char *name, size_t n);
/* Appends what to do about {name}, which no parameter is called: those of a benchmark (its axes) and an arm
 * (its fixed ones), maps or NULL, are suggested. */
void qs_job_suggest_param(struct qs_buf *out, const char *name, const struct qs_node *axes,
                          const struct qs_node *fixed);

#endif
