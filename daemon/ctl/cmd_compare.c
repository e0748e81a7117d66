#include <inttypes.h>

#include "ctl/offline.h"
#include "ctl/result.h"

static const char *const rules[] = {"judge",      "android", "kalibera2005", "futhark", "rancid",
                                    "perfherder", "skia",    "all",          NULL};

static const struct qs_opt options[] = {
    {.name = "markdown", .help = "Print a Markdown table.", .heading = "Form"},
    {.name = "csv", .help = "Print every iteration as CSV."},
    {.name = "time-unit",
     .letter = 'u',
     .values = "UNIT",
     .kind = QS_OPT_WORD,
     .words = qs_unit_words,
     .help = "Show times in ns, us, ms or s."},
    {.name = "sort",
     .values = "HOW",
     .kind = QS_OPT_WORD,
     .words = qs_sort_words,
     .help = "The order of arms in the table: command (as given) or median."},
    {.name = "show-output", .help = "Show the output that was captured."},
    {.name = "rule",
     .values = "NAME",
     .kind = QS_OPT_WORD,
     .words = rules,
     .many = true,
     .help = "Show what this rule says, beside the verdict: judge (BenchmarkTools), android (the article on "
             "macrobenchmarks), kalibera2005, futhark, rancid, perfherder, skia, or all."},
    QS_VIEW_OPTIONS,
    QS_OFFLINE_OPTIONS,
    {.name = "margin",
     .values = "P",
     .kind = QS_OPT_RATIO,
     .max = 10000000,
     .help = "The smallest change that matters; 2% unless told otherwise."},
    {.name = "per",
     .values = "WHAT",
     .kind = QS_OPT_WORD,
     .words = qs_per_words,
     .help = "What a verdict counts: run, or iteration, which takes each value as a run of its own."},
    {0}};

/* Whatever the form, the exit code is the verdict's. */
static int print_export(struct qs_ctl *ctl, struct qs_http *http, int64_t job, const char *format)
{
    int code = QS_EXIT_OK;
    char path[96];
    struct qs_buf text;
    qs_buf_init(&text);
    snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/export?format=%s", job, format);
    if (qs_api_text(ctl, http, path, &text, &code)) {
        qs_ctl_print(ctl->out, &text);
        snprintf(path, sizeof(path), "/api/v1/jobs/%" PRId64 "/compare", job);
        json_t *doc = qs_api_get(ctl, http, path, &code);
        if (doc != NULL && qs_layout_has_regression(doc))
            code = QS_EXIT_REGRESSION;
        json_decref(doc);
    }
    qs_buf_done(&text);
    return code;
}

static int fail_words(struct qs_ctl *ctl, size_t word, const char *what, const char *advice)
{
    struct qs_buf problem;
    qs_buf_init(&problem);
    qs_args_fail(ctl->args, &problem, ctl->args->word[word], 0, advice, "%s", what);
    qs_ctl_print(ctl->err, &problem);
    qs_buf_done(&problem);
    return QS_EXIT_USAGE;
}

static int run_files(struct qs_ctl *ctl)
{
    static const char *const of_jobs[] = {"markdown",      "csv",  "show-output", "rule",
                                          "discard-first", "last", "fenced"};
    for (size_t i = 0; i < sizeof(of_jobs) / sizeof(of_jobs[0]); i++)
        if (qs_args_has(ctl->args, of_jobs[i]))
            return fail_words(
                ctl, 0, "--markdown, --csv, --show-output, --rule and views are for jobs, these are files",
                "--json has everything");
    if (ctl->args->word_count != 2)
        return fail_words(ctl, 0, "a comparison of files needs two",
                          "the baseline first: quiesce compare old.json new.json");
    return qs_offline_run(ctl, "/api/v1/analyze:compare");
}

static int run(struct qs_ctl *ctl)
{
    int code = QS_EXIT_OK;
    int64_t job = 0;
    json_t *doc = NULL;
    if (ctl->args->word_count == 2 || qs_offline_is_file(ctl->args->argv[ctl->args->word[0]]))
        return run_files(ctl);
    if (!qs_api_job_id(ctl, 0, &job))
        return QS_EXIT_USAGE;
    struct qs_buf views;
    qs_buf_init(&views);
    bool page_only = qs_args_has(ctl->args, "rule") || qs_result_views(ctl->args, '?', &views);
    qs_buf_done(&views);
    if (page_only && (qs_args_has(ctl->args, "markdown") || qs_args_has(ctl->args, "csv")))
        return fail_words(ctl, 0, "--rule and views go with the page and with --json",
                          "leave --markdown or --csv out");
    struct qs_http *http = qs_api_reach_own(ctl, &code);
    if (http == NULL)
        return code;
    if (qs_args_has(ctl->args, "markdown"))
        code = print_export(ctl, http, job, "markdown");
    else if (qs_args_has(ctl->args, "csv"))
        code = print_export(ctl, http, job, "csv");
    else if (qs_result_print(ctl, http, job, &doc, &code) && qs_layout_has_regression(doc))
        code = QS_EXIT_REGRESSION;
    json_decref(doc);
    qs_http_free(http);
    return code;
}

const struct qs_command qs_command_compare = {
    .name = "compare",
    .summary = "Compare the arms of a job, or two files; exit code 5 for a regression",
    .usage = "[OPTIONS] JOB\n[OPTIONS] FILE_A FILE_B",
    .about = "Of files, the first is the baseline; the formats are those of `quiesce analyze`. The verdict "
             "rests on "
             "runs: the medians of processes that were started anew. Where a file has one run only, it is "
             "inconclusive, and --per iteration says how it would look if every value were a run.",
    .options = options,
    .examples = "quiesce compare 7\nquiesce compare 7 --markdown >> NOTES.md\nquiesce compare 7 --json\n"
                "quiesce compare 7 --rule judge --rule skia\n"
                "quiesce compare before.json after.json\n"
                "quiesce compare --per iteration --margin 5% old.txt new.txt",
    .least_words = 1,
    .most_words = 2,
    .run = run};
