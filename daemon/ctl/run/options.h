/* The options of `quiesce run`. */
#ifndef QS_CTL_RUN_OPTIONS_H
#define QS_CTL_RUN_OPTIONS_H

#include "ctl/options/opt.h"

extern const struct qs_opt qs_run_options[];

#endif
