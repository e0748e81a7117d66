/* The parameters of a point or an arm. */
#ifndef QS_CONFIG_JOB_PARAMS_H
#define QS_CONFIG_JOB_PARAMS_H

#include <stddef.h>

struct qs_param { /* one value of one parameter; both are owned by the job's spec */
    char *name;
    char *value; /* text, put in place of {name} */
};

struct qs_params {
    struct qs_param *at;
    size_t count;
};

#endif
