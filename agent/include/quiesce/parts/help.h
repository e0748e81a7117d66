/* By hand: options and --help. */
#ifndef QUIESCE_PARTS_HELP_H
#define QUIESCE_PARTS_HELP_H

#include "quiesce/parts/arguments.h"

QUIESCE_FN void quiesce_i_help_rows(const struct quiesce_param *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[QUIESCE_BENCH_NAME_BYTES + 8];
        snprintf(name, sizeof name, "--%s%s", list[i].name, list[i].kind == QUIESCE_FLAG ? "" : " X");
        printf("  %-18s %s%s%s%s\n", name, list[i].help, list[i].shown[0] ? " (" : "", list[i].shown,
               list[i].shown[0] ? ")" : "");
    }
}

QUIESCE_FN void quiesce_i_help(const struct quiesce *q)
{
    printf("%s: %s\n\nusage: %s [--NAME VALUE ...]\n\nbenchmarks:\n", q->program, q->title, q->program);
    for (uint32_t i = 0; i < q->benchmarks_count; i++) {
        printf("  %-18s %s\n", q->benchmarks[i].name, q->benchmarks[i].help);
    }
    printf("\noptions:\n");
    quiesce_i_help_rows(q->options, q->options_count);
    printf(q->params_count ? "\nparameters:\n" : "");
    quiesce_i_help_rows(q->params, q->params_count);
}

QUIESCE_FN void quiesce_i_alone_options(struct quiesce *q)
{
    struct quiesce_options *given = &q->given;
    given->iterations = 20;
    given->warmup = 1;
    given->max_time_s = 10;
    quiesce_i_option(q, "help", QUIESCE_FLAG, &given->help, "this text");
    quiesce_i_option(q, "list", QUIESCE_FLAG, &given->list, "names of the benchmarks, one a line");
    quiesce_i_option(q, "json", QUIESCE_FLAG, &given->json, "every iteration, as JSON");
    quiesce_i_option(q, "benchmark", QUIESCE_TEXT, &given->benchmark, "only this one");
    quiesce_i_option(q, "iterations", QUIESCE_INT, &given->iterations, "of a window, 1 to 4096 (20)");
    quiesce_i_option(q, "evals", QUIESCE_INT, &given->evals, "evaluations per iteration; 0 finds out (0)");
    quiesce_i_option(q, "warmup", QUIESCE_INT, &given->warmup, "iterations before it that do not count (1)");
    quiesce_i_option(q, "max-time", QUIESCE_DOUBLE, &given->max_time_s,
                     "seconds after which none starts (10)");
    quiesce_i_option(q, "seed", QUIESCE_INT, &given->seed, "of the benchmark's random numbers (0)");
    for (uint32_t i = 0; i < q->options_count; i++) {
        q->options[i].int_max = QUIESCE_BENCH_ITERATIONS_MAX;
    }
    q->options[4].int_min = 1;
    q->options[5].int_max = 1000000;
    q->options[8].int_max = INT64_MAX;
}

#endif
