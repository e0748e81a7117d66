/* Files of results: read here, analysed by the daemon, shown here. */
#ifndef QS_CTL_OFFLINE_H
#define QS_CTL_OFFLINE_H

#include "ctl/commands/command.h"

/* Options that analyze, history and compare share, as rows of a table. */
#define QS_OFFLINE_OPTIONS                                                                                   \
    {.name = "format",                                                                                       \
     .values = "FORMAT",                                                                                     \
     .kind = QS_OPT_WORD,                                                                                    \
     .words = qs_format_words,                                                                               \
     .help = "Of the files: auto, numbers, csv, google-benchmark, androidx, pyperf, go or hyperfine.",       \
     .heading = "Files"},                                                                                    \
        {.name = "better",                                                                                   \
         .values = "WHICH",                                                                                  \
         .kind = QS_OPT_WORD,                                                                                \
         .words = qs_better_words,                                                                           \
         .help = "lower or higher, where the unit does not say it."},                                        \
        {.name = "level",                                                                                    \
         .values = "P",                                                                                      \
         .kind = QS_OPT_RATIO,                                                                               \
         .min = 500000,                                                                                      \
         .max = 999900,                                                                                      \
         .help = "The confidence of intervals (95%)."},                                                      \
        {.name = "resolution",                                                                               \
         .values = "STEP",                                                                                   \
         .kind = QS_OPT_NUMBER,                                                                              \
         .help = "The step of the clock or counter, in the unit of the values."},                            \
        {.name = "seed",                                                                                     \
         .values = "N",                                                                                      \
         .kind = QS_OPT_WHOLE,                                                                               \
         .max = INT64_MAX,                                                                                   \
         .help = "The seed of everything random; equal seeds give equal results (1)."},                      \
    {                                                                                                        \
        .name = "resamples", .values = "N", .kind = QS_OPT_WHOLE, .min = 100, .max = 100000,                 \
        .help = "Resamples of each bootstrap (10000)."                                                       \
    }

extern const char *const qs_format_words[], *const qs_better_words[], *const qs_per_words[];

/* Whether an argument names a file of results rather than a job: it exists, or ends like one. */
bool qs_offline_is_file(const char *word);
/* Sends the files that the words of the command line name to a route, and shows the document. The exit code;
 * QS_EXIT_REGRESSION where a comparison found one. */
int qs_offline_run(struct qs_ctl *ctl, const char *route);

#endif
