/* Every statistic of series that were measured elsewhere, as one JSON document (schema/analysis.schema.json):
 * of one sample, of two, and of a history. Pure: the imported values go in, the document comes out. Numbers
 * that are not defined are null, and each statistic says why (`status`). */
#ifndef QS_REPORT_ANALYSIS_ANALYSIS_H
#define QS_REPORT_ANALYSIS_ANALYSIS_H

#include <stdint.h>

#include "base/buf.h"
#include "formats/import.h"
#include "report/views.h"
#include "stats/status.h"

struct qs_work;
struct qs_tables;

enum qs_unit_of_work { /* what counts as one independent observation of a verdict */
                       QS_PER_RUN,
                       QS_PER_ITERATION /* each value as if it were a run of its own */
};

struct qs_analysis_opts {
    double level;        /* of intervals, in (0,1) */
    double margin_ratio; /* the smallest change that matters */
    double resolution;   /* of the clock, in the unit of the values; 0: not known */
    uint64_t seed;       /* of everything random */
    size_t resamples;    /* 100 .. 100000 */
    enum qs_unit_of_work per;
    bool brief;                  /* without what resamples iterations */
    bool page;                   /* only the statistics that a page for people shows */
    bool line;                   /* only those of a table's line: set where a page compares many series */
    size_t change_window;        /* of Hunter, 2 .. 10000 points; 50 as a rule */
    double change_p_max;         /* and its level, in (0,1); 0.001 as a rule */
    enum qs_direction direction; /* for metrics whose unit says nothing, UNKNOWN: lower is better */
    struct qs_views views;       /* what is left of the files already: to be told */
    unsigned opinions;           /* second opinions of a comparison: a set as in report/job/opinion.h */
    struct qs_progress progress; /* hears of the whole document: stages are names of statistics */
    struct qs_tables *tables;    /* of a comparison: filled, and told in the document; NULL: nobody asks */
    struct qs_file_tables *rows; /* what they are made of, while it is computed: NULL */
    struct qs_work *work;        /* NULL: what is computed is no part of a plan */
};
/* 95 %, 2 %, unknown resolution, seed 1, 10,000 resamples, per run, Hunter as it is by default. */
struct qs_analysis_opts qs_analysis_opts_default(void);

struct qs_analysis_file { /* all borrowed */
    const char *name;
    size_t bytes;
    const struct qs_import *import;
    struct qs_views_tally tally; /* what the options' views did in it */
};

/* Appends the document. QS_ECANCELED: progress ended it, and what was appended is no document; else QS_OK. */
enum qs_status qs_analysis_describe(const struct qs_analysis_file *files, size_t count,
                                    const struct qs_analysis_opts *opts, struct qs_buf *out);
/* Two files, the baseline first: series of both that share benchmark, metric and unit are compared, the
 * others are listed. */
enum qs_status qs_analysis_compare(const struct qs_analysis_file *files, size_t count,
                                   const struct qs_analysis_opts *opts, struct qs_buf *out);
/* Points of a series in the order of the file: the values, or the medians of the runs where there are
 * several. */
enum qs_status qs_analysis_history(const struct qs_analysis_file *files, size_t count,
                                   const struct qs_analysis_opts *opts, struct qs_buf *out);

/* schema/analysis.schema.json: what these documents are; schema/statistics.schema.json: what their statistics
 * are. */
void qs_analysis_schema(struct qs_buf *out);
void qs_statistics_schema(struct qs_buf *out);

#endif
