/* Two sides compared over jobs, builds and nights: matched series, a verdict for each metric on each device
 * and over devices, and everything else that differs. Pure. schema/sides.md describes the document. */
#ifndef QS_REPORT_SIDES_SIDES_H
#define QS_REPORT_SIDES_SIDES_H

#include "base/buf.h"
#include "config/farm/farm.h"
#include "config/job/job.h"
#include "report/sides/selector.h"
#include "report/job/report.h"
#include "report/views.h"
#include "stats/status.h"
#include "store/read/arms.h"

struct qs_sides_job { /* borrowed */
    int64_t id;
    const struct qs_job_spec *spec;
};

struct qs_tables;

struct qs_sides_input {      /* all borrowed; index 0 is the base, 1 the candidate */
    const char *selector[2]; /* as they were asked for */
    enum qs_pool pool[2];    /* what they allow to be one sample */
    const struct qs_arm_runs *runs[2];
    const struct qs_sides_job *jobs; /* of all runs, ascending */
    size_t job_count;
    const struct qs_report_input *job; /* of all runs, where they are of one job; else NULL */
    double margin_ratio; /* NaN: that of a point's benchmark, the least where the base's jobs have several */
    double alpha;        /* intervals hold with 1 - alpha; NaN: that of the base's jobs, the least again */
    struct qs_views views; /* what is left of the runs already: to be told, as is what they did */
    struct qs_views_tally tally[2];
    const char *allow; /* keys of differences that are allowed, separated by commas, `all` or "" */
    const struct qs_farm_variables *variables; /* the farm's lists, or NULL */
    unsigned opinions;                         /* a set as in report/job/opinion.h */
    uint64_t seed;                             /* of resampling */
    struct qs_progress progress;               /* hears of the whole document: "judge", "bootstrap" */
    struct qs_tables *tables;                  /* filled, and told in the document; NULL: nobody asks */
};

/* Appends the document. Where something that matters differs and was not allowed, it is refused: the document
 * lists what, and has no results. QS_ECANCELED: progress ended it, and nothing was appended; else QS_OK. */
enum qs_status qs_sides_compare(const struct qs_sides_input *in, struct qs_buf *out);

#endif
