/* What the comparison document says of durations, as numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/job/metrics.h"

void qs_report_command(const struct qs_job_spec *spec, size_t arm, size_t point, struct qs_buf *out)
{
    struct qs_strings argv;
    qs_job_argv(spec, arm, point, &argv);
    for (size_t i = 0; i < argv.count; i++) {
        const char *word = argv.at[i];
        bool plain =
            *word &&
            strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-") ==
                strlen(word);
        if (i > 0)
            qs_buf_char(out, ' ');
        if (plain) {
            qs_buf_str(out, word);
            continue;
        }
        qs_buf_char(out, '\'');
        for (const char *c = word; *c; c++) {
            if (*c == '\'')
                qs_buf_str(out, "'\\''");
            else
                qs_buf_char(out, *c);
        }
        qs_buf_char(out, '\'');
    }
    qs_strings_done(&argv);
}

const char *qs_report_conditions(const struct qs_report_group *g, size_t arm)
{
    size_t set = qs_job_conditions_index(g->in->spec, g->point, arm);
    return set > 0 ? g->in->spec->conditions[set].name : NULL;
}

static struct qs_report_told tell_arm(const struct qs_report_group *g, size_t index)
{
    const struct qs_job_spec *spec = g->in->spec;
    const struct qs_metric_arm *times = &g->metrics[0].arms[index];
    struct qs_report_told told = {.label = spec->points[g->point].label,
                                  .device = g->device,
                                  .name = spec->arms[index].name,
                                  .build = spec->arms[index].build_label,
                                  .mean_ns = times->all.mean,
                                  .sd_ns = times->all.sd,
                                  .median_ns = times->median.median,
                                  .min_ns = times->all.min,
                                  .max_ns = times->all.max,
                                  .user_us = g->arms[index].user_us,
                                  .system_us = g->arms[index].system_us};
    QS_BUF(command);
    qs_report_command(spec, index, g->point, &command);
    told.command = qs_buf_take(&command);
    told.runs = qs_calloc(g->run_count, sizeof *told.runs);
    for (size_t r = 0; r < g->run_count; r++)
        if (g->runs[r].arm == index && g->block_used[g->runs[r].block])
            told.runs[told.run_count++] = g->runs[r].measured;
    return told;
}

void qs_report_tell(const struct qs_report_group *groups, size_t count, struct qs_report_tolds *ret)
{
    size_t arms = count > 0 ? groups[0].in->spec->arm_count : 0;
    ret->at = qs_calloc(count * arms, sizeof *ret->at);
    for (size_t i = 0; i < count; i++)
        for (size_t a = 0; a < arms; a++)
            ret->at[ret->count++] = tell_arm(&groups[i], a);
}

void qs_report_tolds_done(struct qs_report_tolds *told)
{
    for (size_t i = 0; i < told->count; i++) {
        free(told->at[i].command);
        free((void *)told->at[i].runs);
    }
    free(told->at);
    *told = (struct qs_report_tolds){0};
}
